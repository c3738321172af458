package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const defaultEntries = 250

const (
	modeContent = "content"
	modeFiles   = "files_with_matches"
	modeCount   = "count"
)

type grepArgs struct {
	Pattern    string `arg:"pattern" need:"true" max:"10000" doc:"Regular expression, RE2 syntax"`
	Path       string `arg:"path" is:"path" doc:"Folder or document; everywhere if left out"`
	Glob       string `arg:"glob" doc:"Globs of documents, separated by commas, for example !Archive/**"`
	Type       string `arg:"type" doc:"File type, for example md"`
	OutputMode string `arg:"output_mode" enum:"content|files_with_matches|count" def:"\"files_with_matches\"" doc:"content: path:line:text; files_with_matches: paths; count: matching lines of each document"`
	IgnoreCase bool   `arg:"-i" doc:"Ignore case"`
	Numbers    *bool  `arg:"-n" def:"true" doc:"Line numbers. -n, -o, -A, -B, -C and context apply only to output_mode content"`
	Only       bool   `arg:"-o" doc:"Only the matching parts"`
	After      *int   `arg:"-A" min:"0" doc:"Lines after each match"`
	Before     *int   `arg:"-B" min:"0" doc:"Lines before each match"`
	Around     *int   `arg:"-C" min:"0" doc:"Lines on both sides"`
	Context    *int   `arg:"context" min:"0" doc:"As -C"`
	Multiline  bool   `arg:"multiline" def:"false" doc:"Let matches cross lines"`
	HeadLimit  *int   `arg:"head_limit" is:"bound" min:"0" def:"250" doc:"Maximum number of lines, paths or counts; 0 for all"`
	Offset     int    `arg:"offset" is:"bound" min:"0" def:"0" doc:"Number of entries to skip"`
	result.Listing
}

func grepNotes(ctx context.Context, c *tool.Client, a grepArgs) (result.Result, error) {
	job, err := newSearch(ctx, c, a)
	if err != nil {
		return result.Result{}, err
	}
	entries, err := job.run(ctx)
	if err != nil {
		return result.Result{}, err
	}
	res := job.page(entries)
	if len(entries) == 0 && job.after == nil && job.under == "" && !job.globs.All() {
		res.Text = append(res.Text, belowARoot(ctx, c, job.globs)...)
	}
	return res, nil
}

// entry is one line of output. Its passage has a Version if the entry is a whole line of a note.
type entry struct {
	session.Passage
	text string
	doc  string // text of the note without a byte order mark
}

type grepJob struct {
	client  *tool.Client
	pattern *grep.Pattern
	under   model.Path
	one     bool // whether under is a single document
	globs   grep.Globs
	types   grep.Globs
	mode    string
	format  grep.Format
	listing result.Listing
	after   *result.SearchPos // cursor of the search; nil at the beginning
	offset  int               // number of entries to skip
	limit   int               // number of entries to return; 0 means all
	enough  int               // number of entries after which the search may stop
	skipped []model.Path      // files that could not be searched
}

func newSearch(ctx context.Context, c *tool.Client, a grepArgs) (*grepJob, error) {
	job := &grepJob{client: c, mode: cmp.Or(a.OutputMode, modeFiles), offset: a.Offset, limit: defaultEntries}
	var err error
	if job.pattern, err = grep.Compile(a.Pattern, grep.Options{IgnoreCase: a.IgnoreCase, Multiline: a.Multiline}); err != nil {
		return nil, search.NamedPattern("pattern", "Set multiline to true to match over several lines.", err)
	}
	if job.under, err = c.Resolver.Place(ctx, a.Path); err != nil {
		return nil, err
	}
	if info, err := c.Workspace.Stat(ctx, job.under); err == nil && job.under != "" && info.Kind != model.KindDir {
		if job.one = true; !job.under.IsNote() {
			if _, err := c.Resolver.Document(ctx, job.under); errors.Is(err, model.ErrInvalidUTF8) {
				return nil, notText(job.under)
			} else if err != nil {
				return nil, err
			}
		}
	}
	if err = job.choose(ctx, a); err != nil {
		return nil, err
	}
	if a.HeadLimit != nil {
		job.limit = *a.HeadLimit
	}
	job.listing = a.Listing
	if job.after, err = job.listing.SearchPos(); err != nil {
		return nil, err
	}
	if job.after != nil {
		job.offset = 0
	}
	// More entries than this do not fit into a result. The separator and one more entry show that there are more.
	job.enough = job.offset + result.Max/2
	if job.limit > 0 {
		job.enough = min(job.enough, job.offset+job.limit+2)
	}
	around := cmp.Or(a.Around, a.Context)
	job.format = grep.Format{
		Before: *cmp.Or(a.Before, around, new(int)), After: *cmp.Or(a.After, around, new(int)),
		LineNumbers: a.Numbers == nil || *a.Numbers, OnlyMatching: a.Only, MaxLine: 4 * result.MaxLine,
	}
	return job, nil
}

func (job *grepJob) choose(ctx context.Context, a grepArgs) (err error) {
	patterns := grep.SplitGlobs(a.Glob)
	whole := strings.TrimPrefix(withoutRoot(job.client, a.Glob, job.under), "!")
	if len(patterns) > 1 && !strings.ContainsAny(whole, "*?") && exists(ctx, job.client, whole, job.under, strings.Contains(whole, "/")) {
		patterns = []string{a.Glob} // the comma is part of a name
	}
	for i, p := range patterns {
		patterns[i] = literalGlob(ctx, job.client, p, job.under)
	}
	if job.globs, err = grep.ParseGlobs(patterns...); err != nil {
		return result.InvalidArgument("The argument \"glob\" is not valid: %v.", err)
	}
	if a.Type == "" {
		return nil
	}
	names, ok := grep.TypeGlobs(a.Type)
	if !ok {
		return result.InvalidArgument("The argument \"type\" is not a known file type: %q. Use glob instead, for example %q, or one of %s.", a.Type, "*."+a.Type, strings.Join(grep.Types(), ", "))
	}
	job.types, err = grep.ParseGlobs(names...)
	return err
}

// run returns entries in the order of paths. It may stop after the entries that fit into a result or that the call
// requests.
func (job *grepJob) run(ctx context.Context) (entries []entry, err error) {
	size, skip := 0, job.offset // total cost of the entries after the offset
	job.skipped, err = search.Scan(ctx, job.client.Index, job.pattern, job.under, job.wants, job.searchNote, func(found []entry) bool {
		grouped := job.mode == modeContent && job.format.Before+job.format.After > 0
		if len(found) > 0 && grouped && (len(entries) > 0 || job.after != nil && string(found[0].Path) != job.after.Path) {
			entries = append(entries, entry{text: grep.Separator, Passage: session.Passage{Path: found[0].Path}, doc: found[0].doc})
		}
		entries = append(entries, found...)
		for ; skip < len(entries); skip++ {
			size += result.TextCost(entries[skip].text) + 2
		}
		return size <= result.Max && len(entries) < job.enough
	})
	return entries, err
}

// wants applies the arguments glob, type and cursor. As in ripgrep, glob and type do not exclude a file that the argument
// path names.
func (job *grepJob) wants(p model.Path) bool {
	if job.after != nil && (string(p) < job.after.Path || job.mode != modeContent && string(p) == job.after.Path) {
		return false
	}
	rel := relative(p, job.under)
	return job.one || job.globs.Has(rel) && job.types.Has(rel)
}

// notSearched returns a sentence with the skipped files: all of them, or only the notes.
func (job *grepJob) notSearched(all bool) string {
	files := job.skipped
	if !all {
		files = slices.DeleteFunc(slices.Clone(files), func(p model.Path) bool { return !p.IsNote() })
	}
	if s := search.Skipped(files); s != "" {
		return "[" + s + "]"
	}
	return ""
}

func (job *grepJob) searchNote(pattern *grep.Pattern, d document.Document) []entry {
	p, text := d.Path, strings.TrimPrefix(d.Text, textrange.BOM)
	of := session.Passage{Path: p}
	switch job.mode {
	case modeFiles:
		if pattern.Matches(text) {
			return []entry{{of, result.Escape(p), ""}}
		}
	case modeCount:
		if n := pattern.Count(text, job.format.OnlyMatching); n > 0 {
			return []entry{{of, result.Escape(p) + ":" + strconv.Itoa(n), ""}}
		}
	default:
		f := job.format
		if job.after != nil && string(p) == job.after.Path {
			f.From = job.after.Pos.In(text)
		}
		var found []entry
		for _, e := range pattern.Entries(result.Escape(p), text, f, job.enough) {
			of.Version, of.Range = d.Version, textrange.Range{Start: e.Start, End: e.End}
			if e.Cut {
				of.Version = nil
			}
			found = append(found, entry{of, e.Text, text})
		}
		return found
	}
	return nil
}

func (job *grepJob) page(entries []entry) result.Result {
	total := len(entries)
	switch {
	case total == 0 && job.after != nil:
		return result.Text("No more matches")
	case total == 0:
		return result.Text("No matches found", job.notSearched(true))
	case job.offset >= total:
		return result.Text(fmt.Sprintf("No entries at offset %d: there are %d.", job.offset, total))
	}
	rest := entries[job.offset:]
	if job.limit > 0 {
		limit := job.limit
		if rest[0].text == grep.Separator {
			limit++ // the separator is counted together with the next entry
		}
		rest = rest[:min(limit, len(rest))]
	}
	lines := make([]string, len(rest))
	for i, e := range rest {
		var cut bool
		if lines[i], cut = result.Truncate(e.text, result.MaxMatch); cut {
			rest[i].Version = nil
			lines[i] += fmt.Sprintf("... [line cut, %d bytes]", len(e.text))
		}
	}
	_, n := result.JoinBounded(lines, result.Max-result.ProtocolOverhead-6000)
	more := job.offset+n < total
	for more && n > 1 && lines[n-1] == grep.Separator {
		n--
	}
	session.RecordFound(job.client.Session, rest[:n])
	out := strings.Join(lines[:n], "\n")
	res := result.Text(out)
	res.OneBlock = true
	if strings.Contains(out, "... [line cut, ") {
		res.Text = append(res.Text, "[Lines that are cut can be read in parts: read with offset and column.]")
	}
	if skipped := job.notSearched(!job.globs.All() || !job.types.All()); skipped != "" { // images are no news
		res.Text = append(res.Text, skipped)
	}
	if !more {
		return res
	}
	last := rest[n-1]
	what := fmt.Sprintf("Showing entries %d-%d; there are more.", job.offset+1, job.offset+n)
	if job.after != nil {
		what = fmt.Sprintf("Showing %d more entries; there are still more.", n)
	}
	job.listing.Continue(&res, result.SearchPosAt(last.Path, last.doc, last.Range.End), what)
	return res
}
