package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/glob"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

// defaultEntries is how many lines, paths or counts grep returns.
const defaultEntries = 250

// Output modes of grep.
const (
	modeContent = "content"
	modeFiles   = "files_with_matches"
	modeCount   = "count"
)

type grepArgs struct {
	Pattern    string `arg:"pattern" need:"true" doc:"Regular expression to search for, in RE2 syntax"`
	Path       string `arg:"path" is:"path" doc:"Folder or document to search in. Leave it out to search everywhere"`
	Glob       string `arg:"glob" doc:"Glob patterns of the documents to search, separated by commas, for example *.md or !Archive/**"`
	Type       string `arg:"type" doc:"File type to search, for example md"`
	OutputMode string `arg:"output_mode" enum:"content|files_with_matches|count" def:"\"files_with_matches\"" doc:"content shows matching lines, files_with_matches the paths of documents, count the number of matches in each"`
	IgnoreCase bool   `arg:"-i" doc:"Ignore case"`
	Numbers    *bool  `arg:"-n" def:"true" doc:"Show line numbers. Needs output_mode content"`
	Only       bool   `arg:"-o" doc:"Show only the matching parts of lines, each on a line of its own. Needs output_mode content"`
	After      *int   `arg:"-A" min:"0" doc:"Lines to show after each match. Needs output_mode content"`
	Before     *int   `arg:"-B" min:"0" doc:"Lines to show before each match. Needs output_mode content"`
	Around     *int   `arg:"-C" min:"0" doc:"Lines to show before and after each match. Needs output_mode content"`
	Context    *int   `arg:"context" min:"0" doc:"The same as -C"`
	Multiline  bool   `arg:"multiline" def:"false" doc:"Let matches cross lines: . matches line breaks too"`
	HeadLimit  *int   `arg:"head_limit" min:"0" def:"250" doc:"Return at most so many lines, paths or counts; 0 for all"`
	Offset     int    `arg:"offset" min:"0" def:"0" doc:"Skip so many lines, paths or counts first"`
}

func grepNotes(ctx context.Context, s *Session, a grepArgs) Result {
	job, err := s.newSearch(ctx, a)
	if err != nil {
		return failure(err)
	}
	entries, err := job.run(ctx)
	if err != nil {
		return failure(err)
	}
	return pageOf(entries, a.Offset, job.limit)
}

// search is one call of grep.
type search struct {
	s       *Session
	pattern *grep.Pattern
	under   bridge.Path
	globs   glob.Set
	types   glob.Set
	mode    string
	format  grep.Format
	offset  int // entries to skip
	limit   int // entries to return; 0 for all
	enough  int // entries after which the search may end; -1 for never
}

func (s *Session) newSearch(ctx context.Context, a grepArgs) (*search, error) {
	job := &search{s: s, mode: orDefault(a.OutputMode, modeFiles), offset: a.Offset, limit: defaultEntries, enough: -1}
	var err error
	if job.pattern, err = grep.Compile(a.Pattern, grep.Options{IgnoreCase: a.IgnoreCase, Multiline: a.Multiline}); err != nil {
		return nil, err
	}
	if job.under, err = s.folder(ctx, a.Path, true); err != nil {
		return nil, err
	}
	if err = job.choose(a); err != nil {
		return nil, err
	}
	if a.HeadLimit != nil {
		job.limit = *a.HeadLimit
	}
	if job.limit > 0 {
		job.enough = a.Offset + job.limit + 1 // one more, to know that there is more
	}
	around := first(a.Around, a.Context)
	job.format = grep.Format{
		Before: *first(a.Before, around, new(int)), After: *first(a.After, around, new(int)),
		LineNumbers: a.Numbers == nil || *a.Numbers, OnlyMatching: a.Only, MaxLine: 4 * maxLine,
	}
	return job, nil
}

// choose sets which notes are to be searched, by glob and type.
func (job *search) choose(a grepArgs) (err error) {
	patterns := glob.List(a.Glob)
	for i, p := range patterns {
		patterns[i] = job.s.withoutRoot(p, job.under)
	}
	if job.globs, err = glob.Parse(patterns...); err != nil {
		return wrongArgument("The argument \"glob\" is not valid: %v.", err)
	}
	if a.Type == "" {
		return nil
	}
	names, ok := glob.Type(a.Type)
	if !ok {
		return wrongArgument("The argument \"type\" is not a file type that is known here: %q. Use md, or leave it out.", a.Type)
	}
	job.types, err = glob.Parse(names...)
	return err
}

// first is the first of list that is not nil.
func first[T any](list ...*T) *T {
	for _, v := range list {
		if v != nil {
			return v
		}
	}
	return nil
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// run searches the notes in the order of their paths and returns the entries
// found: at least so many that the result is full, if there are so many.
func (job *search) run(ctx context.Context) ([]string, error) {
	x := job.s.server.index
	notes, err := x.below(ctx, job.under)
	if err != nil {
		return nil, err
	}
	var entries []string
	size, skip := 0, job.offset // bytes of the entries from the offset on
	query := trigram.NewQuery(job.pattern.Clauses())
	err = scan(ctx, x, job.chosen(notes), query, job.searchNote, func(lines []string) bool {
		if len(entries) > 0 && len(lines) > 0 && job.mode == modeContent && job.format.Before+job.format.After > 0 {
			entries = append(entries, grep.Separator)
		}
		entries = append(entries, lines...)
		for ; skip < len(entries); skip++ {
			size += len(entries[skip]) + 1
		}
		return size <= maxOutput && (job.enough < 0 || len(entries) < job.enough)
	})
	return entries, err
}

// chosen are those of notes that the globs and the type choose. A note that is
// named itself is searched whatever they say, as ripgrep does.
func (job *search) chosen(notes []*indexed) []*indexed {
	if job.under.IsNote() || job.globs.All() && job.types.All() {
		return notes
	}
	var chosen []*indexed
	for _, n := range notes {
		if rel := relative(n.path, job.under); job.globs.Has(rel) && job.types.Has(rel) {
			chosen = append(chosen, n)
		}
	}
	return chosen
}

// searchNote returns the entries for one note.
func (job *search) searchNote(p bridge.Path, v *bridge.Version) []string {
	text := v.Text()
	switch job.mode {
	case modeFiles:
		if job.pattern.Matches(text) {
			return []string{shown(p)}
		}
	case modeCount:
		if n := job.pattern.Count(text, job.format.OnlyMatching); n > 0 {
			return []string{shown(p) + ":" + strconv.Itoa(n)}
		}
	default:
		return job.pattern.PrintMax(shown(p), text, job.format, job.enough, nil)
	}
	return nil
}

// pageOf shows the entries from offset on, at most limit if that is not 0.
func pageOf(entries []string, offset, limit int) Result {
	total := len(entries)
	if total == 0 {
		return text("No matches found")
	}
	if offset >= total {
		return text(fmt.Sprintf("No entries at offset %d: there are %d.", offset, total))
	}
	rest := entries[offset:]
	if limit > 0 {
		rest = rest[:min(limit, len(rest))]
	}
	out, n := joinBounded(slices.Clip(rest), maxOutput)
	if offset+n < total {
		out += fmt.Sprintf("\n\n[Showing entries %d-%d; there are more. Call grep with offset: %d to see them, or narrow the search.]",
			offset+1, offset+n, offset+n)
	}
	return text(out)
}
