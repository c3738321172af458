package critic

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// endMatter is Roughdraft's block of IDs at the end of a file: a line ---, then a YAML mapping with the keys comments
// and suggestions, each a mapping from ID to by, at and more. It belongs to the marks and is hidden with them.
type endMatter struct {
	start   int // offset of the line ---; the text's length without a block
	entries map[string]metadata
	used    bool // a mark refers to an entry
}

func (p *parser) lookUp(id string) (metadata, bool) {
	if p.endMatter == nil {
		p.endMatter = readEndMatter(p.Raw)
	}
	m, ok := p.endMatter.entries[id]
	p.endMatter.used = p.endMatter.used || ok
	return m, ok
}

// endMatterEntry is Roughdraft's data of one ID. There may be other keys.
type endMatterEntry struct {
	By     string `yaml:"by"`
	At     string `yaml:"at"`
	Status string `yaml:"status"`
}

func readEndMatter(raw string) *endMatter {
	m := &endMatter{start: len(raw)}
	start := endMatterStart(raw)
	if start < 0 {
		return m
	}
	var sections map[string]map[string]endMatterEntry
	if err := yaml.Unmarshal([]byte(raw[start+len("---"):]), &sections); err != nil {
		return m
	}
	entries := make(map[string]metadata)
	for name, section := range sections {
		if name != "comments" && name != "suggestions" {
			return m
		}
		for id, e := range section {
			t, _ := time.Parse(time.RFC3339, e.At)
			entries[id] = metadata{Attribution: Attribution{Author: e.By, Time: t, ID: id}, resolved: e.Status == "resolved"}
		}
	}
	m.start, m.entries = start, entries
	return m
}

// endMatterStart returns the offset of the last line --- before one of the end matter's keys, or -1.
func endMatterStart(raw string) int {
	start := -1
	for _, key := range []string{"comments:", "suggestions:"} {
		for _, eol := range []string{"\n", "\r\n"} {
			if at := strings.LastIndex(raw, "\n---"+eol+key); at >= 0 {
				start = max(start, at+1)
			}
		}
	}
	return start
}

// hideEndMatter turns the end matter into a hidden cell, if a mark uses it and no mark extends into it.
func (p *parser) hideEndMatter() {
	if p.endMatter == nil || !p.endMatter.used {
		return
	}
	start := p.endMatter.start
	n := len(p.Cells)
	for n > 0 && p.Cells[n-1].Start >= start {
		n--
	}
	if n == 0 {
		return
	}
	if last := &p.Cells[n-1]; last.End > start {
		if last.Kind != Text || last.Highlight >= 0 {
			return
		}
		cut := span.New(last.Start, start)
		last.Span, last.Body, last.Added, last.Deleted = cut, cut, cut, cut
	}
	p.Cells = append(p.Cells[:n], Cell{Kind: Hidden, Highlight: -1, Span: span.New(start, len(p.Raw))})
}

// Forget returns the edits that remove entries from the end matter: those of the given IDs and the replies to them.
// It also removes sections without entries and, after the last section, the block and the blank line before it.
func (d *Document) Forget(ids map[string]bool) []span.Edit {
	if d.endMatter == nil || !d.endMatter.used || len(ids) == 0 {
		return nil
	}
	var edits []span.Edit
	rest := 0
	for _, section := range splitEndMatter(d.Raw, d.endMatter.start) {
		kept := 0
		var drop []span.Edit
		for _, e := range section.entries {
			if ids[e.id] || ids[e.re] {
				drop = append(drop, span.Edit{Off: e.Start, Len: e.Len()})
			} else {
				kept++
			}
		}
		if kept == 0 {
			drop = []span.Edit{{Off: section.Start, Len: section.Len()}}
		}
		edits = append(edits, drop...)
		rest += kept
	}
	if rest == 0 {
		from := len(strings.TrimRight(d.Raw[:d.endMatter.start], "\r\n"))
		from = span.LineEnd(d.Raw, from)
		return []span.Edit{{Off: from, Len: len(d.Raw) - from}}
	}
	return edits
}

// matterSection is a key of the end matter with its entries, as spans of whole lines.
type matterSection struct {
	span.Span
	entries []matterLines
}

type matterLines struct {
	id, re string
	span.Span
}

// splitEndMatter splits the end matter at start into sections and entries, by indentation.
func splitEndMatter(raw string, start int) []matterSection {
	var sections []matterSection
	indent := 0
	for i := span.LineEnd(raw, start); i < len(raw); {
		next := span.LineEnd(raw, i)
		line := raw[i:next]
		key := strings.TrimLeft(line, " ")
		depth := len(line) - len(key)
		name, value, _ := strings.Cut(key, ":")
		switch {
		case depth == 0 && strings.TrimSpace(line) != "":
			sections = append(sections, matterSection{Span: span.New(i, i)})
			indent = 0
		case len(sections) == 0:
		case indent == 0 || depth == indent && name != "":
			indent = depth
			s := &sections[len(sections)-1]
			s.entries = append(s.entries, matterLines{id: strings.Trim(name, `"'`), Span: span.New(i, i)})
		}
		i = next
		if len(sections) == 0 {
			continue
		}
		s := &sections[len(sections)-1]
		s.End = next
		if len(s.entries) > 0 {
			e := &s.entries[len(s.entries)-1]
			e.End = next
			if name == "re" {
				e.re = strings.Trim(strings.TrimSpace(value), `"'`)
			}
		}
	}
	return sections
}
