package placement

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
)

// lines says where a mark makes something else of a line that stays: at its start, or at its end; and whether a line in a mark
// begins or ends a block only without a mark at that end.
var lines = []struct {
	name               string
	is                 func(s string) bool // s is a line without its indentation and the marks of quotes
	start, end, inside bool
}{
	{"heading", isHeading, true, true, false},
	{"fence", func(s string) bool { return markdown.FenceLength(s) > 0 }, true, true, true},
	{"rule, underline or delimiter row", isRule, true, true, false},
	{"formula", func(s string) bool { return strings.HasPrefix(s, "$$") || strings.HasSuffix(s, "$$") }, true, true, true},
	{"comment", func(s string) bool { return strings.HasPrefix(s, "%%") || strings.HasSuffix(s, "%%") }, true, true, true},
	{"HTML", func(s string) bool { return strings.HasPrefix(s, "<") }, true, true, true},
	{"callout", func(s string) bool { return strings.HasPrefix(s, "[!") }, true, true, false},
	{"definition", isDefinition, true, true, true},
	{"footnote", func(s string) bool { return strings.HasPrefix(s, "[^") && strings.Contains(s, "]:") }, true, false, false},
	{"block id", func(s string) bool { return blockID(s) > 0 }, false, true, false},
	{"row", func(s string) bool { return strings.HasPrefix(s, "|") }, true, false, false},
	{"item", func(s string) bool { return markdown.Marker(s) > 0 }, true, false, false},
}

func isHeading(s string) bool {
	n := markdown.Skip(s, 0, "#")
	return n > 0 && n <= 6 && strings.HasPrefix(s[n:], " ")
}

func isRule(s string) bool { return len(s) > 1 && strings.Trim(s, "-=*_|: ") == "" }

func isDefinition(s string) bool {
	return strings.HasPrefix(s, "[") && !strings.HasPrefix(s, "[^") && strings.Contains(s, "]:")
}

// blockID returns the length of the block id at the end of a line, 0 for none.
func blockID(s string) int {
	at := strings.LastIndexByte(s, '^')
	if at < 0 || at+1 == len(s) || at > 0 && s[at-1] != ' ' && s[at-1] != '\t' || strings.ContainsAny(s[at:], " \t\n|]") {
		return 0
	}
	return len(s) - at
}

// edge is an end of a line that a mark touches.
type edge int

const (
	start edge = iota
	end
	inside // of the mark
)

// spoils reports whether a mark at an edge of a line makes something else of it.
func spoils(s string, at edge) bool {
	if at == start && strings.HasPrefix(s, ">") {
		return true
	}
	s = strings.TrimRight(strings.TrimLeft(s, " \t>"), " \t\r")
	if s == "" {
		return false
	}
	for _, l := range lines {
		if [...]bool{start: l.start, end: l.end, inside: l.inside}[at] && l.is(s) {
			return true
		}
	}
	return false
}

// glued counts the lines that the marks of a hunk spoil.
func (p *page) glued(h align.Hunk) (n int) {
	count := func(s string, at edge) {
		if spoils(s, at) {
			n++
		}
	}
	old := p.old.Text
	oldRun, newRun := h.Old.Of(old), h.New.Of(p.new.Text)
	from := linebreak.LineStart(old, h.Old.Start)
	if linebreak.Leads(oldRun) && linebreak.Leads(newRun) {
		count(old[from:h.Old.Start], end)
	}
	last := newRun
	if last == "" {
		last = oldRun
	}
	if strings.HasSuffix(last, "\n") {
		count(firstLine(old[h.Old.End:]), start)
	}
	for _, run := range []string{oldRun, newRun} {
		if strings.IndexByte(run, '\n') < 0 {
			continue
		}
		if from == h.Old.Start {
			count(firstLine(run), inside)
		}
		if !strings.HasSuffix(run, "\n") {
			count(run[linebreak.LineStart(run, len(run)):], inside)
		}
	}
	return n
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
