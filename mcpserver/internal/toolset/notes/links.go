package notes

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const (
	orphans   = "orphans"
	backlinks = "backlinks"
	mentions  = "unlinked_mentions"
)

const defaultLinks = 100

type findLinksArgs struct {
	Kind  string `arg:"kind" need:"true" enum:"orphans|backlinks|unlinked_mentions" doc:"orphans: notes that no other note links to; backlinks: lines that link to a note; unlinked_mentions: lines that name it, or one of its aliases, without a link"`
	Path  string `arg:"path" is:"path" doc:"The note; for orphans a folder, all if left out"`
	Limit int    `arg:"limit" is:"bound" min:"1" def:"100" doc:"Maximum number of results per answer"`
	result.Listing
}

type findLinksResult struct {
	Kind  string      `json:"kind"`
	Found []foundLink `json:"found"`
	Count int         `json:"count" doc:"Number of results, including those in other answers"`
	result.Page
}

type foundLink struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty" doc:"The line, or the part around the link of a long line"`
}

// linkLine is a line with a link. Its passage has a Version if text is the whole line.
type linkLine struct {
	session.Passage
	line int
	text string
}

type linkKey struct {
	Path model.Path `json:"p"`
	Line int        `json:"l"`
}

func findLinks(ctx context.Context, c *tool.Client, a findLinksArgs) (findLinksResult, error) {
	var found []linkLine
	var err error
	if a.Kind == orphans {
		found, err = orphansBelow(ctx, c, a.Path)
	} else {
		found, err = linesAbout(ctx, c, a)
	}
	if err != nil {
		return findLinksResult{}, err
	}
	key := func(l linkLine) linkKey { return linkKey{l.Path, l.line} }
	compare := func(a, b linkKey) int { return cmp.Or(cmp.Compare(a.Path, b.Path), a.Line-b.Line) }
	show := func(l linkLine) foundLink { return foundLink{string(l.Path), l.line, l.text} }
	res, listed, err := result.List(a.Listing, found, key, compare, cmp.Or(a.Limit, defaultLinks), show, func(links []foundLink, page result.Page) findLinksResult {
		return findLinksResult{Kind: a.Kind, Found: links, Count: len(found), Page: page}
	})
	session.RecordFound(c.Session, listed)
	return res, err
}

func orphansBelow(ctx context.Context, c *tool.Client, folder string) ([]linkLine, error) {
	under, err := c.Resolver.Folder(ctx, "path", folder, " Leave it out for all notes.")
	if err != nil {
		return nil, err
	}
	notes, err := c.Workspace.Notes(ctx, under)
	if err != nil {
		return nil, err
	}
	if _, err := c.Workspace.LinkIndex(ctx); err != nil {
		return nil, err
	}
	var found []linkLine
	for _, n := range notes {
		if len(c.Changes.Linking(ctx, n.Path)) == 0 {
			found = append(found, linkLine{Passage: session.Passage{Path: n.Path}})
		}
	}
	return found, nil
}

func linesAbout(ctx context.Context, c *tool.Client, a findLinksArgs) ([]linkLine, error) {
	if a.Path == "" {
		return nil, result.InvalidArgument("The argument \"path\" is missing: %s need a note.", a.Kind)
	}
	p, v, err := c.Resolver.Note(ctx, a.Path)
	if err != nil {
		return nil, err
	}
	linkIndex, err := c.Workspace.LinkIndex(ctx)
	if err != nil {
		return nil, err
	}
	if a.Kind == mentions {
		return mentionsOf(ctx, c, p, index.NewNoteInfo(p, v))
	}
	var found []linkLine
	for _, from := range c.Changes.Linking(ctx, p) {
		v, err := c.Workspace.Open(ctx, from)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil { // one unreadable note does not hide the others
			continue
		}
		var places []int
		for _, l := range links.Extract(document.OfNote(from, v).Text) {
			if to, ok := linkIndex.Resolve(string(from), l); ok && to == string(p) {
				places = append(places, l.Off)
			}
		}
		found = append(found, linesAt(document.OfNote(from, v), places)...)
	}
	return found, nil
}

func linesAt(d document.Document, offsets []int) (found []linkLine) {
	bom := len(d.Text) - len(strings.TrimPrefix(d.Text, textrange.BOM))
	text := d.Text[bom:]
	places := textrange.Lines(text)
	line := 0 // number of the current line, from 1
	for _, off := range offsets {
		off -= bom
		if line > 0 && off < places[line-1].End {
			continue
		}
		for line++; places[line-1].End <= off; line++ {
		}
		at := places[line-1]
		whole := strings.TrimRight(text[at.Start:at.End], "\r\n")
		f := linkLine{session.Passage{Path: d.Path, Version: d.Version, Range: at}, line, search.Around(whole, off-at.Start)}
		if f.text != whole {
			f.Version = nil
		}
		found = append(found, f)
	}
	return found
}

// mentionsOf returns the lines of other notes that contain the name or an alias of the note at p, outside links and
// front matter.
func mentionsOf(ctx context.Context, c *tool.Client, p model.Path, n *index.NoteInfo) ([]linkLine, error) {
	pattern, err := grep.Compile(`\b(?:`+strings.Join(namesOf(p, n), "|")+`)\b`, grep.Options{IgnoreCase: true})
	if err != nil {
		return nil, search.NamedPattern("path", search.ByLine, err)
	}
	var found []linkLine
	_, err = search.Scan(ctx, c.Index, pattern, "", model.Path.IsNote, func(pattern *grep.Pattern, d document.Document) []linkLine {
		if d.Path == p {
			return nil
		}
		return linesAt(d, unlinked(d.Text, pattern))
	}, func(more []linkLine) bool {
		found = append(found, more...)
		return true
	})
	return found, err
}

const maxNames = 50

func namesOf(p model.Path, n *index.NoteInfo) []string {
	names := []string{regexp.QuoteMeta(strings.TrimSuffix(p.Base(), model.NoteExt))}
	for _, e := range n.Properties {
		if !strings.EqualFold(e.Key, "aliases") && !strings.EqualFold(e.Key, "alias") {
			continue
		}
		list, ok := e.Value.([]any)
		if !ok {
			list = []any{e.Value}
		}
		for _, alias := range list {
			if s := strings.TrimSpace(frontmatter.Text(alias)); s != "" && len(s) <= 200 && len(names) < maxNames {
				names = append(names, regexp.QuoteMeta(s))
			}
		}
	}
	return names
}

func unlinked(text string, pattern *grep.Pattern) (offsets []int) {
	_, body, _ := frontmatter.Split(text)
	all := links.Extract(text)
	bom := len(text) - len(strings.TrimPrefix(text, textrange.BOM))
	for _, m := range pattern.Entries("", text, grep.Format{OnlyMatching: true}, -1) {
		start, end := m.Start+bom, m.End+bom
		in := slices.ContainsFunc(all, func(l links.Link) bool { return l.Off < end && start < l.Off+l.Len })
		if start >= body && !in {
			offsets = append(offsets, start)
		}
	}
	return offsets
}
