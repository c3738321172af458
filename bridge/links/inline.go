package links

import "strings"

// inline finds the links in text[from:to], one run of prose.
func (s *scanner) inline(from, to int) {
	in := inline{scanner: s, to: to}
	for i := from; i < to; {
		skip := strings.IndexAny(s.text[i:to], "\\`<[]")
		if skip < 0 {
			return
		}
		i += skip
		switch s.text[i] {
		case '\\':
			i += 2
		case '`':
			i = in.codeSpan(i)
		case '<':
			i = in.comment(i)
		case '[':
			i = in.open(i)
		case ']':
			i = in.close(i)
		}
	}
}

// inline is the state of one run of prose. What was searched for in vain is
// remembered, so that no input makes the scan quadratic.
type inline struct {
	*scanner
	to int // the end of the run

	brackets []bracket // '[' that wait for their ']'
	dead     int       // brackets[:dead] hold a link already: only images may still close

	noTicks   map[int]bool // lengths of backtick runs with no equal one ahead
	noComment bool         // no "-->" ahead
	noEnd     int          // no "]]" between here and this offset
	lineTo    int          // where the line ends in which a link was looked for
}

// bracket is one '['.
type bracket struct {
	off   int
	image bool // preceded by '!'
}

// codeSpan skips the code span at i, or the backticks if nothing closes it.
func (in *inline) codeSpan(i int) int {
	n := ticks(in.text[i:in.to])
	after := i + n
	if in.noTicks[n] {
		return after
	}
	for j := after; ; {
		k := strings.IndexByte(in.text[j:in.to], '`')
		if k < 0 {
			break
		}
		j += k
		m := ticks(in.text[j:in.to])
		j += m
		if m == n {
			return j
		}
	}
	if in.noTicks == nil {
		in.noTicks = make(map[int]bool)
	}
	in.noTicks[n] = true
	return after
}

func ticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// comment skips an HTML comment at i, or the '<' of anything else.
func (in *inline) comment(i int) int {
	const begin, end = "<!--", "-->"
	if in.noComment || !strings.HasPrefix(in.text[i:in.to], begin) {
		return i + 1
	}
	if n := strings.Index(in.text[i+len(begin):in.to], end); n >= 0 {
		return i + len(begin) + n + len(end)
	}
	in.noComment = true
	return i + 1
}

// open handles the '[' at i: a wikilink is taken whole, any other bracket
// waits for its ']'.
func (in *inline) open(i int) int {
	if strings.HasPrefix(in.text[i:in.to], "[[") {
		if next := in.wikilink(i); next > 0 {
			return next
		}
	}
	in.brackets = append(in.brackets, bracket{off: i, image: in.bang(i)})
	return i + 1
}

// bang says whether an unescaped '!' stands before i.
func (in *inline) bang(i int) bool {
	return i > 0 && in.text[i-1] == '!' && (i < 2 || in.text[i-2] != '\\')
}

// wikilink adds the link that begins at i and returns the offset after it, or 0.
// Only "]]" ends a link, a line break or another "[[" before that makes the
// outer brackets plain text.
func (in *inline) wikilink(i int) int {
	if i < in.noEnd {
		return 0
	}
	if i >= in.lineTo {
		in.lineTo = min(in.lineEnd(i), in.to)
	}
	n := strings.Index(in.text[i:in.lineTo], "]]")
	if n < 0 {
		in.noEnd = in.lineTo
		return 0
	}
	end := i + n
	i += strings.LastIndex(in.text[i:end], "[[")
	if l, ok := parseWikilink(in.text, i, end); ok {
		if in.bang(i) {
			l.Kind, l.Off, l.Len = Embed, l.Off-1, l.Len+1
		}
		in.links = append(in.links, l)
	}
	return end + 2
}

// parseWikilink reads the wikilink whose "[[" is at off and whose "]]" at end.
func parseWikilink(text string, off, end int) (Link, bool) {
	inner := text[off+2 : end]
	target, display, _ := strings.Cut(inner, "|")
	// In a table the pipe is escaped, else it would end the cell.
	if len(target) < len(inner) {
		target = strings.TrimSuffix(target, `\`)
	}
	linkpath, subpath := splitSubpath(target)
	l := Link{
		Kind:      Wikilink,
		Target:    cleanSpace(linkpath),
		Subpath:   strings.TrimSpace(subpath),
		Display:   display,
		Off:       off,
		Len:       end + 2 - off,
		TargetOff: off + 2 + leadingSpace(linkpath),
	}
	l.TargetLen = len(strings.TrimSpace(linkpath))
	return l, l.Target != "" || len(l.Subpath) > 1
}

// splitSubpath cuts a link's text before its first '#'.
func splitSubpath(s string) (linkpath, subpath string) {
	if i := strings.IndexByte(s, '#'); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// cleanSpace trims s and makes no-break spaces plain ones, as Obsidian does.
func cleanSpace(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\u00a0", " ")
}

func leadingSpace(s string) int {
	if trimmed := strings.TrimSpace(s); trimmed != "" {
		return strings.Index(s, trimmed)
	}
	return 0
}
