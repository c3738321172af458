package outline

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/diffwrap/block"
)

// Section is a heading with everything up to the next heading of the same or a higher level, or a block with an ID.
// From and To are byte offsets; To is after the break of the last line. Line and Last are the first and the last line,
// counted from 1.
type Section struct {
	From, To   int
	Line, Last int

	own int // end of the block if its ID is on a separate line; otherwise 0
}

type SectionError struct {
	Name  string
	Found []Heading // headings of that name; empty if there is none
	Have  []Heading // the headings of the note
}

func (e *SectionError) Error() string {
	if len(e.Found) > 0 {
		return fmt.Sprintf("there are %d sections named %q", len(e.Found), e.Name)
	}
	return fmt.Sprintf("there is no section %q", e.Name)
}

var onLine = regexp.MustCompile(`^(.*\S) \(line ([1-9]\d*)\)$`)

// Address returns the heading in the unique form that SectionOf accepts.
func (h Heading) Address() string {
	return fmt.Sprintf("%s %s (line %d)", strings.Repeat("#", h.Level), h.Text, h.Line)
}

// PathMark separates the headings of a path: "Project::Tasks" is "Tasks" below "Project".
const PathMark = "::"

// SectionOf finds a section of a note by its heading or block ID. A heading has one of these forms, in upper or lower
// case: "Plan", "## Plan" (with this level), "## Plan (line 7)" (on this line), "Project::Plan" (below another
// heading). A block ID has the form "^abc". The error is a *SectionError.
func SectionOf(note, name string) (Section, error) {
	name = strings.TrimSpace(name)
	headings := Of(note).Headings
	if id, ok := strings.CutPrefix(name, "^"); ok {
		if from, to, own, ok := blockOf(note, id); ok {
			s := sectionAt(note, from, to)
			s.own = own
			return s, nil
		}
		return Section{}, &SectionError{Name: name, Have: headings}
	}
	found := find(headings, name)
	if len(found) != 1 {
		e := &SectionError{Name: name, Have: headings}
		for _, i := range found {
			e.Found = append(e.Found, headings[i])
		}
		return Section{}, e
	}
	to := len(note)
	if end := below(headings, found[0]); end < len(headings) {
		to = lineStart(note, headings[end].Line)
	}
	return sectionAt(note, lineStart(note, headings[found[0]].Line), to), nil
}

// find returns the indices of the headings that match name. It takes name as the address of a heading (see
// Heading.Address), then as the text of a heading, then as a path of headings, until one of them matches.
func find(headings []Heading, name string) (found []int) {
	if m := onLine.FindStringSubmatch(name); m != nil {
		line, _ := strconv.Atoi(m[2]) // a number that does not fit matches no line
		found = named(headings, m[1], line)
	}
	if len(found) == 0 {
		found = named(headings, name, 0)
	}
	above, last, ok := cutLast(name)
	if len(found) > 0 || !ok {
		return found
	}
	for _, i := range find(headings, above) {
		for _, k := range find(headings[i+1:below(headings, i)], last) {
			if k += i + 1; !slices.Contains(found, k) {
				found = append(found, k)
			}
		}
	}
	slices.Sort(found)
	return found
}

func cutLast(name string) (above, last string, ok bool) {
	i := strings.LastIndex(name, PathMark)
	if i < 0 {
		return "", name, false
	}
	above, last = strings.TrimSpace(name[:i]), strings.TrimSpace(name[i+len(PathMark):])
	return above, last, above != "" && last != ""
}

func below(headings []Heading, i int) int {
	for k := i + 1; k < len(headings); k++ {
		if headings[k].Line > 0 && headings[k].Level <= headings[i].Level {
			return k
		}
	}
	return len(headings)
}

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

func lineStart(note string, line int) (off int) {
	for range line - 1 {
		off = lineEnd(note, off)
	}
	return off
}

// blockOf returns the whole lines of the block with an ID. The ID is at the end of the block (" ^id"), or alone on a
// separate line after the block. Directly below a table, that line is a row of the table. A list item includes nested
// items. own is the end of the block if the ID is on a separate line.
func blockOf(note, id string) (from, to, own int, ok bool) {
	mark := regexp.MustCompile(`(?:^|\s)\^` + regexp.QuoteMeta(id) + `\s*$`)
	_, body, _ := frontmatter.Split(note)
	for b, last := range withIDs(note[body:]) {
		if !mark.MatchString(note[body+last : body+b.End]) {
			continue
		}
		whole := b.Span
		if b.Item.End > 0 {
			whole = b.Item
		}
		if b.Before.End > 0 && strings.TrimSpace(note[body+b.Start:body+b.End]) == "^"+id {
			whole.Start, own = b.Before.Start, body+b.Before.End
		}
		from = strings.LastIndexByte(note[:body+whole.Start], '\n') + 1
		return max(from, body), lineEnd(note, body+whole.End), own, true
	}
	return 0, 0, 0, false
}

// withIDs iterates over the blocks of a text that may end in an ID, with the offset of the last line of their content.
func withIDs(text string) iter.Seq2[block.Leaf, int] {
	return func(yield func(block.Leaf, int) bool) {
		for b := range block.Leaves(text) {
			if b.Kind != block.Paragraph && b.Kind != block.Heading {
				continue
			}
			last := strings.LastIndexByte(text[:b.End], '\n') + 1
			if b.Kind == block.Heading && last > b.Start { // the last line is the underline
				b.End = last - 1
				last = strings.LastIndexByte(text[:b.End], '\n') + 1
			}
			if !yield(b, max(last, b.Start)) {
				return
			}
		}
	}
}

func lineEnd(note string, off int) int {
	if i := strings.IndexByte(note[off:], '\n'); i >= 0 {
		return off + i + 1
	}
	return len(note)
}

// Append returns the place for content at the end of a section, or of the note if at is nil, and the text to insert
// there. Content that continues a list gets the list's own bullets, and no blank line unless the list's items have
// blank lines between them. Content directly after a heading gets a blank line, unless most of the note's headings have
// none. Lines that continue a list, a table or a quote go before an ID of that block. Text goes before multi-line
// comments at the end, and before the data of a drawing. In a lane of a Kanban board, text becomes a card.
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
	lines := linesIn(strings.Trim(content, "\r\n"))
	if at != nil && at.own > 0 {
		if off, insert, ok := continued(note, *at, lines, nl); ok {
			return off, insert
		}
	}
	f := formOf(note)
	if at == nil {
		to = f.data
	}
	to = f.end(note, from, to)
	if f.kanban && (at == nil || strings.HasPrefix(note[at.From:], "## ")) {
		lines = card(lines)
	}
	filled := strings.TrimRight(note[from:to], " \t\r\n")
	if filled == "" {
		before, after := "", ""
		if from > 0 && note[from-1] != '\n' && from > len(byteOrderMark) {
			before = nl
		}
		if strings.TrimSpace(note[from:]) != "" {
			after = nl
		}
		return from, before + strings.Join(lines, nl) + nl + after
	}
	off = len(strings.TrimRight(note[:lineEnd(note, from+len(filled)-1)], "\r\n"))
	before := linesIn(note[from:off])
	insert = join(before, lines, nl, func() bool { return tight(note) }) + strings.Join(lines, nl)
	if off == len(note) {
		insert += nl
	}
	return off, insert
}

// join returns the separator between the lines of a text and appended lines. It also changes the bullets of the
// appended lines to the bullets of the text.
func join(before, lines []string, nl string, tight func() bool) string {
	gap := nl + nl
	switch last := before[len(before)-1]; {
	case listMark(lines[0]) != "":
		if item := lastItem(before); item >= 0 {
			if !loose(before, item) {
				gap = nl
			}
			useBullet(lines, listMark(before[item]))
		} else if len(before) == 1 && isHeading(last) && tight() {
			gap = nl
		}
	case len(before) == 1 && isHeading(last) && tight(),
		strings.HasPrefix(last, "|") && strings.HasPrefix(lines[0], "|"):
		gap = nl
	}
	return gap
}

// continued returns the text to insert so that a block continues before the line with its ID. lines must be items of a
// list, rows of a table or text in a quote; ok is false for other lines.
func continued(note string, at Section, lines []string, nl string) (off int, insert string, ok bool) {
	off = len(strings.TrimRight(note[:at.own], " \t\r\n"))
	before := linesIn(note[at.From:off])
	last := before[len(before)-1]
	never := func() bool { return false }
	switch {
	case quoted(last) && quoted(before[0]):
		for i, line := range before {
			before[i] = unquoted(line)
		}
		for i, line := range lines {
			lines[i] = unquoted(line)
		}
		var b strings.Builder
		for line := range strings.SplitSeq(strings.TrimPrefix(join(before, lines, "\n", never), "\n")+strings.Join(lines, "\n"), "\n") {
			b.WriteString(strings.TrimRight(nl+"> "+line, " "))
		}
		return off, b.String(), true
	case listMark(lines[0]) != "" && lastItem(before) >= 0, strings.HasPrefix(last, "|") && strings.HasPrefix(lines[0], "|"):
		return off, join(before, lines, nl, never) + strings.Join(lines, nl), true
	}
	return 0, "", false
}

func quoted(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), ">") }

func unquoted(line string) string {
	if !quoted(line) {
		return line
	}
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimLeft(line, " "), ">"), " ")
}

// card turns lines into a card of a Kanban board, unless they are a list or begin with a heading.
func card(lines []string) []string {
	if listMark(lines[0]) != "" || isHeading(lines[0]) {
		return lines
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		switch {
		case i == 0:
			out[i] = "- [ ] " + line
		case strings.TrimSpace(line) != "":
			out[i] = "\t" + line
		}
	}
	return out
}

// AppendNew does the same as Append, for a section that does not exist yet. It adds the heading at the end of the note
// or, if name is a path, at the end of the parent section. made is the heading. ok is false if name cannot be a new
// heading, or if there is not exactly one parent section.
func AppendNew(note, name, content string) (off int, insert, made string, ok bool) {
	name = strings.TrimSpace(name)
	if strings.HasPrefix(name, "^") || onLine.MatchString(name) || strings.ContainsAny(name, "\r\n") {
		return 0, "", "", false
	}
	var parent *Section
	level := 2
	above, last, path := cutLast(name)
	if path {
		headings := Of(note).Headings
		found := find(headings, above)
		if len(found) != 1 {
			return 0, "", "", false
		}
		s, err := SectionOf(note, above)
		if err != nil {
			return 0, "", "", false
		}
		parent, level = &s, min(6, headings[found[0]].Level+1)
	}
	title := strings.TrimLeft(last, "#")
	if given := len(last) - len(title); given > 0 {
		level = given
	}
	if title = strings.TrimSpace(title); title == "" || level > 6 {
		return 0, "", "", false
	}
	text := linesIn(strings.Trim(content, "\r\n"))
	if level == 2 && formOf(note).kanban {
		text = card(text)
	}
	gap := "\n\n"
	if tight(note) {
		gap = "\n"
	}
	made = strings.Repeat("#", level) + " " + title
	off, insert = Append(note, parent, made+gap+strings.Join(text, "\n"))
	return off, insert, made, true
}

func linesIn(text string) []string {
	return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

const byteOrderMark = "\ufeff"

func listMark(line string) string {
	s := strings.TrimLeft(line, " \t")
	return s[:block.ItemMark(s)]
}

func isHeading(line string) bool {
	rest := strings.TrimLeft(line, "#")
	return len(rest) < len(line) && len(line)-len(rest) <= 6 && (rest == "" || strings.HasPrefix(rest, " "))
}

// lastItem returns the index of the first line of the list item that includes the last line, or -1.
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

// loose reports whether there is a blank line between an item and the item before it.
func loose(lines []string, item int) bool {
	return item > 1 && strings.TrimSpace(lines[item-1]) == "" && (listMark(lines[item-2]) != "" || strings.HasPrefix(lines[item-2], " "))
}

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

// tight reports whether most headings of the note are directly followed by text.
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

type BlockID struct {
	ID   string
	Line int
}

var blockID = regexp.MustCompile(`(?:^|\s)\^([A-Za-z0-9-]+)\s*$`)

func BlockIDs(note string) (ids []BlockID) {
	_, body, _ := frontmatter.Split(note)
	line, counted := 1+strings.Count(note[:body], "\n"), body
	for b, last := range withIDs(note[body:]) {
		if m := blockID.FindStringSubmatch(note[body+last : body+b.End]); m != nil {
			line += strings.Count(note[counted:body+last], "\n")
			counted = body + last
			ids = append(ids, BlockID{m[1], line})
		}
	}
	return ids
}
