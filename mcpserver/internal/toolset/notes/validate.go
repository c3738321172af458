package notes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/filetype"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const (
	brokenLink        = "link"
	brokenAnchor      = "anchor"
	brokenFrontMatter = "frontmatter"
	brokenFile        = "file"
	sameID            = "block_id"
	sameName          = "name"
)

type validateArgs struct {
	Path    string `arg:"path" is:"path" doc:"Note, canvas, base or folder; everything if left out"`
	Session string `arg:"session" max:"200" doc:"Only documents in which this session has pending suggestions; \"own\" is this session"`
	Kind    string `arg:"kind" enum:"link|anchor|frontmatter|file|block_id|name" doc:"Only problems of this kind: links that lead nowhere, links to a missing heading or block, front matter, canvases and bases that are not valid, duplicate block ids in a note, names that differ only in case"`
	result.Listing
}

type validateResult struct {
	Problems []problem `json:"problems"`
	Count    int       `json:"count" doc:"Number of findings, including those in other answers"`
	New      int       `json:"new" doc:"Number of findings that come from a pending suggestion in their document"`
	Checked  int       `json:"checked" doc:"Number of checked documents"`
	result.Page
}

type problem struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
	Kind string `json:"kind" doc:"link, anchor, frontmatter, file, block_id or name"`
	Text string `json:"text" doc:"Description of the problem"`
	New  bool   `json:"new,omitempty" doc:"A pending suggestion in the document causes it"`
}

// comparePosition orders problems by path, line, kind and text. The whole problem is the key of the cursor.
func comparePosition(a, b problem) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), a.Line-b.Line, cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
}

// validate checks documents with all pending changes accepted, as tools show them.
func validate(ctx context.Context, c *tool.Client, a validateArgs) (validateResult, error) {
	under, err := c.Resolver.Place(ctx, a.Path)
	if err != nil {
		return validateResult{}, err
	}
	index, err := c.Workspace.LinkIndex(ctx)
	if err != nil {
		return validateResult{}, err
	}
	v := &validator{ctx: ctx, client: c, index: index, former: c.Workspace.FormerNames(), targets: make(map[string]*anchors), names: make(map[string][]model.Path)}
	var docs []model.Path
	err = c.Workspace.Walk(ctx, "", func(e bridge.Info) error {
		key := strings.ToLower(norm.NFC.String(string(e.Path)))
		v.names[key] = append(v.names[key], e.Path)
		if under.Contains(e.Path) && (e.Kind == model.KindNote || e.Kind == model.KindFile) {
			docs = append(docs, e.Path)
		}
		return nil
	})
	if err == nil && a.Session != "" {
		docs, err = ofSession(ctx, c, under, a.Session, docs)
	}
	var all []problem
	for _, p := range docs {
		if err != nil {
			break
		}
		var found []problem
		found, err = v.document(p)
		all = append(all, found...)
	}
	if err != nil {
		return validateResult{}, err
	}
	all = slices.DeleteFunc(all, func(p problem) bool { return a.Kind != "" && p.Kind != a.Kind })
	slices.SortFunc(all, comparePosition)
	all = slices.Compact(all)
	fresh := 0
	for _, p := range all {
		if p.New {
			fresh++
		}
	}
	same := func(p problem) problem { return p }
	res, _, err := result.List(a.Listing, all, same, comparePosition, len(all), same, func(shown []problem, page result.Page) validateResult {
		return validateResult{Problems: shown, Count: len(all), New: fresh, Checked: len(docs), Page: page}
	})
	return res, err
}

func ofSession(ctx context.Context, c *tool.Client, under model.Path, session string, docs []model.Path) ([]model.Path, error) {
	if session == "own" {
		session = c.Session.ID()
	}
	list, err := c.Workspace.Suggestions(ctx, under)
	if err != nil {
		return nil, err
	}
	ofOthers := make(map[model.Path]bool)
	for _, s := range list {
		ofOthers[s.Path] = ofOthers[s.Path] || s.Session == session
	}
	return slices.DeleteFunc(docs, func(p model.Path) bool { return !ofOthers[p] }), nil
}

type validator struct {
	ctx     context.Context
	client  *tool.Client
	index   *links.Index
	former  *links.Index // index of the names that pending renames change
	targets map[string]*anchors
	names   map[string][]model.Path // paths by folded path
}

// document returns the problems of a document. It skips the content of documents that are missing, offline, too large
// or must not be read.
func (v *validator) document(p model.Path) (list []problem, err error) {
	if err := v.ctx.Err(); err != nil {
		return nil, err
	}
	for _, other := range v.names[strings.ToLower(norm.NFC.String(string(p)))] {
		if other != p {
			list = append(list, problem{Path: string(p), Kind: sameName, Text: fmt.Sprintf("differs from %s only in case or in how its characters are encoded", other)})
		}
	}
	kind := filetype.TypeOf(string(p))
	if kind == "" {
		return list, nil
	}
	d, err := v.client.Resolver.Document(v.ctx, p)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, model.ErrOffline), errors.Is(err, fs.ErrPermission), errors.Is(err, model.ErrTooLarge):
		return list, nil
	case errors.Is(err, model.ErrInvalidUTF8):
		return append(list, problem{Path: string(p), Kind: brokenFile, Text: "is not stored as UTF-8"}), nil
	case err != nil:
		return nil, err
	case d.Notice() != "":
		return append(list, problem{Path: string(p), Kind: brokenFile, Text: "is not stored as UTF-8"}), nil
	case d.Version == nil:
		return append(list, v.file(p, kind, d.Text)...), nil
	}
	found := v.note(p, d.Text)
	if raw := d.Version.Raw(); len(found) > 0 && raw != d.Text {
		before := make(map[[2]string]int)
		for _, b := range v.note(p, diffwrap.Original(raw)) {
			before[[2]string{b.Kind, b.Text}]++
		}
		for i := range found {
			key := [2]string{found[i].Kind, found[i].Text}
			before[key]--
			found[i].New = before[key] < 0
		}
	}
	return append(list, found...), nil
}

func (v *validator) note(p model.Path, text string) (list []problem) {
	add := func(line int, kind, format string, args ...any) {
		list = append(list, problem{Path: string(p), Line: line, Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	if _, err := frontmatter.Parse(text); err != nil {
		line := 1
		if syntax, ok := errors.AsType[*frontmatter.SyntaxError](err); ok {
			line = syntax.Line
		}
		add(line, brokenFrontMatter, "%v", err)
	}
	seen := make(map[string]int)
	for _, id := range outline.BlockIDs(text) {
		if first := seen[id.ID]; first > 0 {
			add(id.Line, sameID, "^%s occurs twice, first on line %d; links lead to the first", id.ID, first)
			continue
		}
		seen[id.ID] = id.Line
	}
	for _, l := range links.Extract(text) {
		written := text[l.Off : l.Off+l.Len]
		to, ok := v.index.Resolve(string(p), l)
		_, follows := v.former.Resolve(string(p), l)
		switch {
		case !ok && follows:
		case !ok, !v.client.Workspace.Contains(model.Path(to)):
			add(textrange.LineOf(text, l.Off), brokenLink, "%s leads nowhere", result.OneLine(written))
		case l.Subpath != "" && model.Path(to).IsNote() && !v.anchors(p, text, to).has(l.Subpath):
			add(textrange.LineOf(text, l.Off), brokenAnchor, "%s: %s has no %s", result.OneLine(written), to, result.OneLine(l.Subpath))
		}
	}
	return list
}

func (v *validator) file(p model.Path, kind filetype.Type, text string) (list []problem) {
	add := func(kind, format string, args ...any) {
		list = append(list, problem{Path: string(p), Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	if err := kind.Check(text); err != nil {
		add(brokenFile, "%v", err)
	}
	var canvas struct {
		Nodes []struct{ ID, File string }
	}
	if kind != filetype.Canvas || json.Unmarshal([]byte(text), &canvas) != nil {
		return list
	}
	folder, _ := p.Split()
	for _, n := range canvas.Nodes {
		if n.File == "" {
			continue
		}
		to, err := model.CleanPath(folder + "/" + n.File)
		if err == nil {
			_, err = v.client.Workspace.Stat(v.ctx, to)
		}
		if err != nil {
			add(brokenLink, "the node %q names the file %q, which does not exist", n.ID, n.File)
		}
	}
	return list
}

type anchors struct {
	headings map[string]bool
	blocks   map[string]bool
}

func (v *validator) anchors(p model.Path, text, to string) *anchors {
	own := to == string(p)
	if known := v.targets[to]; known != nil && !own {
		return known
	}
	if !own {
		target, err := v.client.Workspace.Open(v.ctx, model.Path(to))
		if err != nil {
			v.targets[to] = &anchors{}
			return v.targets[to]
		}
		text, _ = target.Decoded()
	}
	a := &anchors{headings: make(map[string]bool), blocks: make(map[string]bool)}
	for _, h := range outline.Of(text).Headings {
		a.headings[headingKey(h.Text)] = true
	}
	for _, id := range outline.BlockIDs(text) {
		a.blocks[strings.ToLower(id.ID)] = true
	}
	if !own {
		v.targets[to] = a
	}
	return a
}

// has reports whether all parts of a subpath exist. It returns true if the note cannot be read.
func (a *anchors) has(subpath string) bool {
	if a.headings == nil {
		return true
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(subpath, "#"), "#") {
		if id, ok := strings.CutPrefix(strings.TrimSpace(part), "^"); ok && !a.blocks[strings.ToLower(id)] || !ok && !a.headings[headingKey(part)] {
			return false
		}
	}
	return true
}

// headingKey returns a heading without the differences in punctuation, case and blanks that links ignore.
func headingKey(s string) string {
	words := strings.FieldsFunc(strings.ToLower(norm.NFC.String(s)), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)
	})
	return strings.Join(words, " ")
}
