package links

import "strings"

// Opaque skips constructs whose contents have no other syntax: code spans, HTML comments and wikilinks. It caches
// failed searches, so that a scan takes linear time.
type Opaque struct {
	Text      string
	noTicks   map[int]bool // lengths of backtick runs for which no equal run follows
	noComment bool         // no "-->" follows
	noEnd     int          // there is no "]]" before this offset
	lineTo    int          // end of the last line that was searched for a link
}

// Wikilink returns the offset of the "]]" that ends the wikilink at i, or -1. If there is a line break before the "]]",
// the brackets are plain text.
func (o *Opaque) Wikilink(i int) (end int) {
	if i < o.noEnd || !strings.HasPrefix(o.Text[i:], "[[") {
		return -1
	}
	if i >= o.lineTo {
		line, _, _ := strings.Cut(o.Text[i:], "\n")
		o.lineTo = i + len(line)
	}
	if n := strings.Index(o.Text[i:o.lineTo], "]]"); n >= 0 {
		return i + n
	}
	o.noEnd = o.lineTo
	return -1
}

// Skip returns the offset after the code span or comment that begins at the backtick or '<' at i. If there is none, it
// returns the offset after the backticks or the '<'.
func (o *Opaque) Skip(i int) int {
	const begin, end = "<!--", "-->"
	if o.Text[i] == '`' {
		return o.codeSpan(i)
	}
	if o.noComment || !strings.HasPrefix(o.Text[i:], begin) {
		return i + 1
	}
	if n := strings.Index(o.Text[i+len(begin):], end); n >= 0 {
		return i + len(begin) + n + len(end)
	}
	o.noComment = true
	return i + 1
}

func (o *Opaque) codeSpan(i int) int {
	n := ticks(o.Text[i:])
	after := i + n
	for j := after; !o.noTicks[n]; {
		k := strings.IndexByte(o.Text[j:], '`')
		if k < 0 {
			if o.noTicks == nil {
				o.noTicks = make(map[int]bool)
			}
			o.noTicks[n] = true
			break
		}
		m := ticks(o.Text[j+k:])
		if j += k + m; m == n {
			return j
		}
	}
	return after
}

func ticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

func (s *scanner) inline(from, to int) {
	in := inline{scanner: s, to: to, Opaque: Opaque{Text: s.text[:to]}}
	s.brackets = s.brackets[:0]
	for i := from; i < to; {
		skip := strings.IndexAny(s.text[i:to], "\\`<[]")
		if skip < 0 {
			return
		}
		i += skip
		switch s.text[i] {
		case '\\':
			i += 2
		case '`', '<':
			i = in.Skip(i)
		case '[':
			i = in.open(i)
		case ']':
			i = in.close(i)
		}
	}
}

type inline struct {
	*scanner
	Opaque
	to int // end of the run

	imagesOnly int // brackets[:imagesOnly] contain a link, so only images may still close
}

type bracket struct {
	off   int
	image bool // '!' precedes the bracket
}

// open handles the '[' at i. If a wikilink begins there, open adds the link and returns the offset after it. Otherwise
// it adds the bracket to in.brackets, for close.
func (in *inline) open(i int) int {
	if end := in.Wikilink(i); end >= 0 {
		in.wikilink(i, end)
		return end + 2
	}
	in.brackets = append(in.brackets, bracket{off: i, image: in.bang(i)})
	return i + 1
}

func (in *inline) bang(i int) bool {
	return i > 0 && in.text[i-1] == '!' && (i < 2 || in.text[i-2] != '\\')
}

// wikilink adds the link between the brackets at i and at end. An inner "[[" makes the outer brackets plain text.
func (in *inline) wikilink(i, end int) {
	i += strings.LastIndex(in.text[i:end], "[[")
	if l, ok := parseWikilink(in.text, i, end); ok {
		if in.bang(i) {
			l.Kind, l.Off, l.Len = Embed, l.Off-1, l.Len+1
		}
		in.links = append(in.links, l)
	}
}

func parseWikilink(text string, off, end int) (Link, bool) {
	inner := text[off+2 : end]
	target, _, piped := strings.Cut(inner, "|")
	// In a table the pipe is escaped, because otherwise it would end the cell.
	if piped {
		target = strings.TrimSuffix(target, `\`)
	}
	linkpath, _, _ := strings.Cut(target, "#")
	l := Link{
		Kind:      Wikilink,
		Target:    cleanSpace(linkpath),
		Subpath:   strings.TrimSpace(target[len(linkpath):]),
		Off:       off,
		Len:       end + 2 - off,
		TargetOff: off + 2 + strings.Index(linkpath, strings.TrimSpace(linkpath)),
	}
	l.TargetLen = len(strings.TrimSpace(linkpath))
	return l, l.Target != "" || len(l.Subpath) > 1
}

// cleanSpace trims s and replaces no-break spaces with plain spaces, as Obsidian does.
func cleanSpace(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\u00a0", " ")
}
