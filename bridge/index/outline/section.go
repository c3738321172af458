package outline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/links"
)

// Section is a part of a note: a heading with all that stands below it, up to the next heading of its level or
// above, or a block that has an id. From and To are offsets in bytes, To behind the break of the last line; Line
// and Last are its first and last line, from 1.
type Section struct {
	From, To   int
	Line, Last int
}

// SectionError is the error for a name that no section has, or several.
type SectionError struct {
	Name  string
	Found []Heading // those of that name; none if there is no such section
	Have  []Heading // the headings of the note
}

func (e *SectionError) Error() string {
	if len(e.Found) > 0 {
		return fmt.Sprintf("there are %d sections %q", len(e.Found), e.Name)
	}
	return fmt.Sprintf("there is no section %q", e.Name)
}

// onLine is what is put behind a heading to tell it from others that read alike.
var onLine = regexp.MustCompile(`^(.*\S) \(line ([1-9]\d*)\)$`)

// Address returns the heading as SectionOf takes it, whatever other headings there are.
func (h Heading) Address() string {
	return fmt.Sprintf("%s %s (line %d)", strings.Repeat("#", h.Level), h.Text, h.Line)
}

// SectionOf finds a section of a note by its heading ("Plan", "## Plan" for one of that level, or "## Plan (line 7)" for
// the one on that line; case does not matter) or by its block id ("^abc"). The error is a *SectionError.
func SectionOf(note, name string) (Section, error) {
	name = strings.TrimSpace(name)
	if id, ok := strings.CutPrefix(name, "^"); ok {
		if from, to, ok := blockOf(note, id); ok {
			return sectionAt(note, from, to), nil
		}
		return Section{}, &SectionError{Name: name, Have: Of(note).Headings}
	}
	headings := Of(note).Headings
	var found []int
	if m := onLine.FindStringSubmatch(name); m != nil {
		line, _ := strconv.Atoi(m[2]) // a number that is too large is that of no line
		found = named(headings, m[1], line)
	}
	if len(found) == 0 {
		found = named(headings, name, 0)
	}
	if len(found) != 1 {
		e := &SectionError{Name: name, Have: headings}
		for _, i := range found {
			e.Found = append(e.Found, headings[i])
		}
		return Section{}, e
	}
	h := headings[found[0]]
	starts := lineStarts(note)
	to := len(note)
	for _, next := range headings[found[0]+1:] {
		if next.Line > 0 && next.Level <= h.Level {
			to = starts[next.Line-1]
			break
		}
	}
	return sectionAt(note, starts[h.Line-1], to), nil
}

// named returns the indices of the headings with that name, on that line unless it is 0.
func named(headings []Heading, name string, line int) (found []int) {
	title := strings.TrimLeft(name, "#")
	level := len(name) - len(title)
	title = strings.TrimSpace(title)
	for i, h := range headings {
		if h.Line > 0 && strings.EqualFold(h.Text, title) && (level == 0 || level == h.Level) && (line == 0 || line == h.Line) {
			found = append(found, i)
		}
	}
	return found
}

func sectionAt(note string, from, to int) Section {
	s := Section{From: from, To: to, Line: 1 + strings.Count(note[:from], "\n")}
	s.Last = s.Line + strings.Count(strings.TrimSuffix(note[from:to], "\n"), "\n")
	return s
}

// lineStarts returns the offset of each line.
func lineStarts(note string) []int {
	starts := []int{0}
	for i := range len(note) {
		if note[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// blockOf returns the block that ends in " ^id", or stands before a line that has only the id: whole lines. A list
// item comes with what is nested in it.
func blockOf(note, id string) (from, to int, ok bool) {
	mark := regexp.MustCompile(`(?:^|\s)\^` + regexp.QuoteMeta(id) + `\s*$`)
	_, body, _ := frontmatter.Split(note)
	src := []byte(note[body:])
	flatten(src)
	eachBlock(src, func(n ast.Node) ast.WalkStatus {
		switch n.(type) {
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
		default:
			return ast.WalkContinue
		}
		lines := n.Lines()
		if lines.Len() == 0 {
			return ast.WalkContinue
		}
		last := lines.At(lines.Len() - 1)
		if !mark.Match(last.Value(src)) {
			return ast.WalkContinue
		}
		block := n
		if item := n.Parent(); item.Kind() == ast.KindListItem && item.FirstChild() == n {
			block = item
		}
		from, to = rangeOf(block, len(src), 0)
		if lines.Len() == 1 && strings.TrimSpace(string(last.Value(src))) == "^"+id && n.PreviousSibling() != nil {
			from, _ = rangeOf(n.PreviousSibling(), from, to)
		}
		ok = true
		return ast.WalkStop
	})
	if !ok {
		return 0, 0, false
	}
	from += body
	from = strings.LastIndexByte(note[:from], '\n') + 1
	if to += body; to > 0 && note[to-1] != '\n' {
		to = lineEnd(note, to)
	}
	return max(from, body), to, true
}

// rangeOf extends a range of the source by the lines of n and all that is in it.
func rangeOf(n ast.Node, from, to int) (int, int) {
	if n.Type() == ast.TypeInline {
		return from, to
	}
	if lines := n.Lines(); lines != nil && lines.Len() > 0 {
		from, to = min(from, lines.At(0).Start), max(to, lines.At(lines.Len()-1).Stop)
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		from, to = rangeOf(c, from, to)
	}
	return from, to
}

// lineEnd returns the offset behind the break of the line that holds off.
func lineEnd(note string, off int) int {
	if i := strings.IndexByte(note[off:], '\n'); i >= 0 {
		return off + i + 1
	}
	return len(note)
}

// Append returns where content goes, and what is to be inserted there, to stand at the end of a section, or of the
// note if at is nil. A list goes on without a blank line and with its own bullets, unless its items have blank
// lines between them; a heading has a blank line behind it if most of the note's have.
func Append(note string, at *Section, content string) (off int, insert string) {
	_, from, _ := frontmatter.Split(note)
	to := len(note)
	if at != nil {
		from, to = at.From, at.To
	}
	nl := "\n"
	if i := strings.IndexByte(note, '\n'); i > 0 && note[i-1] == '\r' {
		nl = "\r\n"
	}
	lines := strings.Split(strings.ReplaceAll(strings.Trim(content, "\r\n"), "\r\n", "\n"), "\n")
	filled := strings.TrimRight(note[from:to], " \t\r\n")
	if filled == "" {
		before := ""
		if from > 0 && note[from-1] != '\n' && from > len(byteOrderMark) {
			before = nl
		}
		return from, before + strings.Join(lines, nl) + nl
	}
	off = len(strings.TrimRight(note[:lineEnd(note, from+len(filled)-1)], "\r\n"))
	before := strings.Split(strings.ReplaceAll(note[from:off], "\r\n", "\n"), "\n")
	gap := nl + nl
	switch last := before[len(before)-1]; {
	case listMark(lines[0]) != "":
		if item := lastItem(before); item >= 0 {
			if !loose(before, item) {
				gap = nl
			}
			useBullet(lines, listMark(before[item]))
		} else if len(before) == 1 && isHeading(last) && tight(note) {
			gap = nl
		}
	case len(before) == 1 && isHeading(last) && tight(note),
		strings.HasPrefix(last, "|") && strings.HasPrefix(lines[0], "|"):
		gap = nl
	}
	insert = gap + strings.Join(lines, nl)
	if off == len(note) {
		insert += nl
	}
	return off, insert
}

const byteOrderMark = "\ufeff"

func listMark(line string) string {
	s := strings.TrimLeft(line, " \t")
	return s[:links.ListMark(s)]
}

func isHeading(line string) bool {
	rest := strings.TrimLeft(line, "#")
	return len(rest) < len(line) && len(line)-len(rest) <= 6 && (rest == "" || strings.HasPrefix(rest, " "))
}

// lastItem returns the index of the line with which the list item begins that the last line belongs to, or -1.
func lastItem(lines []string) int {
	for i := len(lines) - 1; i >= 0; i-- {
		switch line := lines[i]; {
		case listMark(line) != "":
			return i
		case line == "" || line[0] != ' ' && line[0] != '\t':
			return -1
		}
	}
	return -1
}

// loose reports whether a blank line stands between an item and the one before it.
func loose(lines []string, item int) bool {
	return item > 1 && strings.TrimSpace(lines[item-1]) == "" && (listMark(lines[item-2]) != "" || strings.HasPrefix(lines[item-2], " "))
}

// useBullet gives the bullets of lines the form of mark, if that is a bullet.
func useBullet(lines []string, mark string) {
	if len(mark) != 1 {
		return
	}
	for i, line := range lines {
		if own := listMark(line); len(own) == 1 && own != mark {
			lines[i] = strings.Replace(line, own, mark, 1)
		}
	}
}

// tight reports whether most headings of the note have text right behind them.
func tight(note string) bool {
	lines := strings.Split(strings.ReplaceAll(note, "\r\n", "\n"), "\n")
	sum := 0
	for _, h := range Of(note).Headings {
		if h.Line == 0 || h.Line >= len(lines) || !isHeading(lines[h.Line-1]) {
			continue
		}
		switch next := lines[h.Line]; {
		case next == "" && h.Line == len(lines)-1, isHeading(next):
		case strings.TrimSpace(next) == "":
			sum--
		default:
			sum++
		}
	}
	return sum > 0
}
