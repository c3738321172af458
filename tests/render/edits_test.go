package render

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
)

// edit is one edit of a note. Its number and the seed make it again.
type edit struct {
	number        int
	kind, note    string
	before, after string
}

// kind is one kind of edit. On a note that has one of the pieces, change edits the note; otherwise plant is put in first.
type kind struct {
	name   string
	pieces []string                 // which may be edited
	has    func(line string) bool   // of such a piece, if not all are of use
	plant  func(*draft) []string    // nil where every note has what is changed
	inside func(*draft, piece)      // edits a piece
	around int                      // so many of 100 edits are beside the piece
	before func(text string) string // what the note is made first, on both sides
}

// edits makes edits from notes. Their kinds take turns.
type edits struct {
	collection
	seed uint64
}

// make returns the edit with a number.
func (e *edits) make(number int) edit {
	k := kinds[number%len(kinds)]
	rng := rand.New(rand.NewPCG(e.seed, uint64(number)))
	for {
		from := e.packages
		if rng.IntN(8) == 0 {
			from = e.sample
		}
		n := at(from, rng.Uint64())
		before, after := k.edit(rng, n.text)
		if before != after {
			return edit{number, k.name, n.name, before, after}
		}
	}
}

// edit returns a note before and after an edit.
func (k kind) edit(rng *rand.Rand, text string) (before, after string) {
	if k.before != nil {
		text = k.before(text)
	}
	mark := ""
	if strings.HasPrefix(text, diffwrap.ByteOrderMark) {
		mark, text = diffwrap.ByteOrderMark, strings.TrimPrefix(text, diffwrap.ByteOrderMark)
	}
	lineBreak := "\n"
	if strings.Contains(text, "\r\n") {
		lineBreak = "\r\n"
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	final := strings.HasSuffix(text, "\n")
	d := &draft{rng, strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	write := func() string {
		text := strings.Join(d.lines, lineBreak)
		if final {
			text += lineBreak
		}
		return mark + text
	}
	if k.plant != nil && (len(k.sites(d)) == 0 || d.chance(25)) {
		d.plant(k.plant(d))
	}
	before = write()
	for range 1 + rng.IntN(5)/4 { // mostly one place
		sites := k.sites(d)
		if len(sites) == 0 {
			break
		}
		p := one(d, sites)
		if d.chance(k.around) {
			var sibling []string
			if k.plant != nil {
				sibling = k.plant(d)
			}
			d.around(p, sibling)
		} else {
			k.inside(d, p)
		}
	}
	return before, write()
}

// sites returns the pieces that can be edited.
func (k kind) sites(d *draft) (out []piece) {
	for _, p := range d.of(k.pieces...) {
		if k.has == nil || slices.ContainsFunc(d.lines[p.from:p.to], k.has) {
			out = append(out, p)
		}
	}
	return out
}

var (
	prosePieces = []string{"paragraph", "list", "quote"}
	anyPiece    = []string{"paragraph", "list", "quote", "heading", "table", "code", "html", "callout", "setext", "rule", "math", "footnote", "definition"}
)

var kinds = []kind{
	{name: "rewrite", pieces: prosePieces, plant: paragraph, inside: func(d *draft, p piece) {
		if d.chance(30) { // all of it
			d.lines = slices.Concat(d.lines[:p.from], []string{d.sentence(english, 12)}, d.lines[p.to:])
			return
		}
		d.changeLine(p, nil, func(s string) string { return d.words(s, english.words, 1+d.IntN(6)) })
	}},
	{name: "typo", pieces: append([]string{"heading", "table"}, prosePieces...), plant: paragraph, inside: func(d *draft, p piece) {
		d.changeLine(p, func(s string) bool { return !delimiter.MatchString(s) }, d.typo)
	}},
	{name: "reorder", pieces: anyPiece, plant: paragraph, inside: func(d *draft, p piece) {
		if p.kind == "list" && p.to-p.from > 1 && d.chance(60) {
			i, j := p.from+d.IntN(p.to-p.from), p.from+d.IntN(p.to-p.from)
			d.lines[i], d.lines[j] = d.lines[j], d.lines[i]
			return
		}
		pieces := d.pieces()
		d.swap(pieces, slices.IndexFunc(pieces, func(q piece) bool { return q.from == p.from }))
	}},
	{name: "cell", pieces: []string{"table"}, plant: table, around: 25, inside: func(d *draft, p piece) {
		d.changeLine(p, func(s string) bool { return !delimiter.MatchString(s) }, func(s string) string {
			cells := strings.Split(s, "|")
			i := d.IntN(len(cells))
			if isBlank(cells[i]) {
				i = min(1, len(cells)-1)
			}
			cells[i] = " " + strings.TrimSpace(d.words(strings.TrimSpace(cells[i]), english.words, 1)) + " "
			return strings.Join(cells, "|")
		})
	}},
	{name: "realign", pieces: []string{"table"}, plant: table, inside: func(d *draft, p piece) {
		if d.chance(50) {
			d.lines[p.from+1] = strings.Replace(d.lines[p.from+1], "--", one(d, []string{":--", "--:"}), 1+d.IntN(2))
			return
		}
		d.padTable(p)
	}},
	{name: "add row", pieces: []string{"table"}, plant: table, inside: func(d *draft, p piece) {
		row := regexp.MustCompile(`[^|]+`).ReplaceAllStringFunc(d.lines[p.from], func(string) string { return " " + one(d, english.words) + " " })
		d.insert(p.from+2+d.IntN(p.to-p.from-1), row)
	}},
	{name: "add column", pieces: []string{"table"}, plant: table, inside: func(d *draft, p piece) {
		if d.chance(70) {
			for i := p.from; i < p.to; i++ {
				cell := " " + one(d, english.words) + " |"
				if i == p.from+1 {
					cell = "---|"
				}
				if !strings.HasSuffix(strings.TrimSpace(d.lines[i]), "|") {
					cell = "|" + strings.TrimSuffix(cell, "|")
				}
				d.lines[i] += cell
			}
			return
		}
		for i := p.from; i < p.to; i++ { // the second column goes
			if cells := strings.Split(d.lines[i], "|"); len(cells) > 3 {
				d.lines[i] = strings.Join(slices.Delete(cells, 2, 3), "|")
			}
		}
	}},
	{name: "heading", pieces: []string{"heading", "setext"}, plant: heading, around: 60, inside: func(d *draft, p piece) {
		d.changeLine(piece{p.kind, p.from, p.from + 1}, nil, func(s string) string { return d.words(s, english.words, 1+d.IntN(2)) })
	}},
	{name: "level", pieces: []string{"heading"}, plant: heading, inside: func(d *draft, p piece) {
		for _, q := range d.of("heading") {
			if q == p || d.chance(20) {
				if s := d.lines[q.from]; strings.HasPrefix(s, "##") && d.chance(50) {
					d.lines[q.from] = s[1:]
				} else {
					d.lines[q.from] = "#" + s
				}
			}
		}
	}},
	{name: "link", pieces: append([]string{"table", "definition", "heading"}, prosePieces...), has: func(s string) bool { return linkInLine.MatchString(s) || linkLine.MatchString(s) }, plant: link, around: 15, inside: func(d *draft, p piece) {
		d.changeLine(p, func(s string) bool { return linkInLine.MatchString(s) || linkLine.MatchString(s) }, func(s string) string {
			if linkLine.MatchString(s) {
				return one(d, []string{s + "/new", strings.Replace(s, "]:", "x]:", 1), strings.TrimSuffix(s, "/") + ".html"})
			}
			switch loc := one(d, linkInLine.FindAllStringIndex(s, -1)); d.IntN(4) {
			case 0:
				return s[:loc[1]-1] + "x" + s[loc[1]-1:]
			case 1:
				return s[:loc[0]] + strings.Trim(s[loc[0]:loc[1]], "[]()") + s[loc[1]:]
			case 2:
				return s[:loc[0]] + one(d, []string{"[[Home]]", "[site](https://example.com/a_b)", "![[plan.svg|480]]"}) + s[loc[1]:]
			default:
				return s[:loc[0]+1] + "new " + s[loc[0]+1:]
			}
		})
	}},
	{name: "append after fence", pieces: []string{"code"}, plant: fence, inside: func(d *draft, p piece) {
		switch d.IntN(3) {
		case 0:
			d.insert(p.to, d.block()...)
		case 1:
			d.insert(p.to, append([]string{""}, d.block()...)...)
		default:
			d.insert(p.to, append([]string{""}, fence(d)...)...)
		}
	}},
	{name: "code line", pieces: []string{"code"}, plant: fence, around: 20, inside: func(d *draft, p piece) {
		if p.to-p.from < 3 || d.chance(40) {
			d.insert(p.from+1+d.IntN(max(1, p.to-p.from-1)), one(d, []string{"  return x + 1;", "", "echo done", "\tlet y = 2"}))
			return
		}
		i := p.from + 1 + d.IntN(p.to-p.from-2)
		switch d.IntN(4) {
		case 0:
			d.remove(i, i+1)
		case 1:
			d.lines[p.from] = fenceLine.FindString(d.lines[p.from]) + one(d, []string{"js", "sh", "dataview", ""})
		default:
			d.lines[i] = d.words(d.lines[i], english.words, 1)
		}
	}},
	{name: "task", pieces: []string{"list"}, has: taskLine.MatchString, plant: tasks, around: 20, inside: func(d *draft, p piece) {
		d.changeLine(p, taskLine.MatchString, func(s string) string {
			switch d.IntN(4) {
			case 0:
				return s + " ✅ 2026-06-14"
			case 1:
				return d.words(s, english.words, 1)
			}
			if strings.Contains(s, "[ ]") {
				return strings.Replace(s, "[ ]", "[x]", 1)
			}
			return strings.NewReplacer("[x]", "[ ]", "[X]", "[ ]").Replace(s)
		})
	}},
	{name: "callout", pieces: []string{"callout"}, plant: callout, around: 60, inside: func(d *draft, p piece) {
		switch d.IntN(4) {
		case 0:
			d.lines[p.from] = strings.Replace(d.lines[p.from], "[!", one(d, []string{"[!x", "[!danger-"}), 1)
		case 1:
			d.lines[p.from] += " " + one(d, english.words)
		case 2:
			d.insert(p.to, "> "+d.sentence(english, 5))
		default:
			d.changeLine(p, nil, func(s string) string { return d.words(s, english.words, 2) })
		}
	}},
	{name: "renumber", pieces: []string{"list"}, has: orderedLine.MatchString, plant: numbered, inside: func(d *draft, p piece) {
		items := slices.DeleteFunc(d.matching("list", orderedLine.MatchString), func(i int) bool { return i < p.from || i >= p.to })
		at := one(d, items)
		by := 1
		if d.chance(60) || len(items) < 2 {
			m := orderedLine.FindStringSubmatch(d.lines[at])
			d.insert(at, m[1]+m[2]+m[3]+" "+d.sentence(english, 5))
			at++
			p.to++
		} else {
			d.remove(at, at+1)
			by = -1
			p.to--
		}
		for i := at; i < p.to; i++ {
			if m := orderedLine.FindStringSubmatchIndex(d.lines[i]); m != nil && m[3] == m[2] {
				var n int
				fmt.Sscan(d.lines[i][m[4]:m[5]], &n)
				d.lines[i] = fmt.Sprint(d.lines[i][:m[4]], max(0, n+by), d.lines[i][m[5]:])
			}
		}
	}},
	{name: "reflow", pieces: []string{"paragraph"}, plant: paragraphOfLines, inside: func(d *draft, p piece) {
		words := fields(strings.Join(d.lines[p.from:p.to], " "))
		if d.chance(40) {
			words[len(words)/2] = one(d, english.words)
		}
		var lines []string
		width := 40 + d.IntN(60)
		for _, w := range words {
			if last := len(lines) - 1; last >= 0 && len(lines[last])+len(w) < width {
				lines[last] += " " + w
			} else {
				lines = append(lines, w)
			}
		}
		d.lines = slices.Concat(d.lines[:p.from], lines, d.lines[p.to:])
	}},
	{name: "emphasis", pieces: append([]string{"heading"}, prosePieces...), plant: emphasis, inside: func(d *draft, p piece) {
		d.changeLine(p, nil, func(s string) string {
			if strings.Contains(s, "**") && d.chance(50) {
				return strings.Replace(s, "**", one(d, []string{"_", "", "=="}), 2)
			}
			mark := one(d, []string{"**", "*", "_", "~~", "==", "`"})
			return d.wrap(s, mark, mark)
		})
	}},
	{name: "quotes", pieces: prosePieces, plant: quotation, around: 10, inside: func(d *draft, p piece) {
		switch d.IntN(4) {
		case 0:
			for i := p.from; i < p.to; i++ {
				d.lines[i] = strings.NewReplacer(`"`, "”", "'", "’").Replace(d.lines[i])
			}
		case 1:
			for i := p.from; i < p.to; i++ {
				d.lines[i] = "> " + d.lines[i]
			}
		case 2:
			d.changeLine(p, nil, func(s string) string { return d.wrap(s, "(", ")") })
		default:
			d.changeLine(p, nil, func(s string) string { return d.wrap(s, `"`, `"`) })
		}
	}},
	{name: "html", pieces: []string{"html"}, plant: html5, around: 50, inside: func(d *draft, p piece) {
		if d.chance(40) {
			d.insert(p.from+1+d.IntN(p.to-p.from), one(d, []string{"<p>new</p>", "new <b>words</b>", "<br>"}))
			return
		}
		d.changeLine(p, nil, func(s string) string {
			if strings.Contains(s, "<") && d.chance(50) {
				return strings.Replace(s, ">", ` class="a">`, 1)
			}
			return d.words(s, english.words, 1)
		})
	}},
	{name: "math", pieces: []string{"math", "comment"}, plant: math, around: 50, inside: func(d *draft, p piece) {
		if p.to-p.from == 1 || d.chance(25) {
			d.lines[p.from] = strings.Replace(d.lines[p.from], "$$", "$$ y = ", 1)
			return
		}
		if d.chance(30) {
			d.insert(p.from+1, `\alpha + \beta \\`)
			return
		}
		d.lines[p.from+1] += one(d, []string{" + 1", ` \cdot \frac{a}{b}`, " x_2"})
	}},
	{name: "front matter", pieces: []string{"front matter"}, before: withFrontMatter, around: 35, inside: func(d *draft, p piece) {
		what := d.IntN(3)
		if what != 0 {
			d.insert(p.to, "", d.sentence(english, 6))
		}
		if what != 1 {
			key := fmt.Sprintf("key%d", d.IntN(1<<20))
			d.insert(p.to-1, one(d, [][]string{{key + ": done"}, {key + ":", "  - new"}})...)
		}
	}},
	{name: "nested lists", pieces: []string{"list"}, has: func(s string) bool { return itemLine.MatchString(s) && strings.HasPrefix(s, "  ") }, plant: nested, around: 20, inside: func(d *draft, p piece) {
		i := p.from + d.IntN(p.to-p.from)
		switch d.IntN(5) {
		case 0:
			d.lines[i] = "  " + d.lines[i]
		case 1:
			d.lines[i] = strings.TrimPrefix(d.lines[i], "  ")
		case 2:
			d.insert(i+1, "    - "+d.sentence(english, 4))
		case 3:
			d.remove(i, i+1)
		default:
			d.lines[i] = d.words(d.lines[i], english.words, 2)
		}
	}},
	{name: "footnotes", pieces: []string{"footnote"}, plant: footnote, around: 40, inside: func(d *draft, p piece) {
		switch d.IntN(3) {
		case 0:
			name := fmt.Sprintf("[^n%d]", d.IntN(1000))
			d.insert(p.to, name+": "+d.sentence(english, 5))
			if prose := d.of("paragraph"); len(prose) > 0 {
				d.lines[one(d, prose).from] += name
			}
		case 1:
			d.lines[p.from] += " " + d.sentence(english, 3)
		default:
			d.lines[p.from] = d.words(d.lines[p.from], english.words, 2)
		}
	}},
	{name: "block ids", pieces: prosePieces, has: idAtEnd.MatchString, plant: withID, around: 50, inside: func(d *draft, p piece) {
		d.changeLine(p, idAtEnd.MatchString, func(s string) string {
			switch d.IntN(3) {
			case 0:
				return idAtEnd.ReplaceAllString(s, "")
			case 1:
				return s + "x"
			}
			return d.words(idAtEnd.ReplaceAllString(s, ""), english.words, 2) + idAtEnd.FindString(s)
		})
	}},
	{name: "CJK"}, {name: "Thai"}, {name: "RTL"}, {name: "emoji"}, // see editScript
	{name: "CRLF", before: func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n") }},
	{name: "no final newline", before: func(s string) string { return strings.TrimRight(s, "\r\n") }},
	{name: "BOM", before: func(s string) string { return diffwrap.ByteOrderMark + strings.TrimPrefix(s, diffwrap.ByteOrderMark) }},
}

func init() {
	scripts := map[string][]script{"CJK": {chinese, japan}, "Thai": {thai, thai, khmer, lao, burmese}, "RTL": {hebrew, arabic}, "emoji": {emoji}}
	for i := range kinds {
		k := &kinds[i]
		if of := scripts[k.name]; of != nil {
			k.inScript(of)
		}
	}
	mixed := slices.Clone(kinds[:slices.IndexFunc(kinds, func(k kind) bool { return k.name == "CRLF" })])
	for i := range kinds {
		k := &kinds[i]
		switch k.name {
		case "CRLF":
			k.mixed(mixed, nil)
		case "no final newline":
			k.mixed(mixed, func(d *draft) piece { p := d.pieces(); return p[len(p)-1] })
		case "BOM":
			k.mixed(mixed, func(d *draft) piece { return d.pieces()[0] })
		}
	}
}

// inScript makes a kind that edits prose in a script. The words of the note that is edited are put in before, as many as
// the edit of a Latin sentence would have.
func (k *kind) inScript(of []script) {
	var after string
	k.pieces, k.around = []string{"paragraph"}, 15
	k.plant = func(d *draft) []string {
		var before string
		before, after = d.edited(one(d, of), 8+d.IntN(12))
		if d.chance(30) {
			second := d.sentence(one(d, of), 10)
			before, after = before+second, after+second
		}
		after = before + "\x00" + after
		return []string{before}
	}
	k.has = func(s string) bool {
		before, _, _ := strings.Cut(after, "\x00")
		return before != "" && s == before
	}
	k.inside = func(d *draft, p piece) {
		before, edited, _ := strings.Cut(after, "\x00")
		d.changeLine(p, func(s string) bool { return s == before }, func(string) string { return edited })
	}
}

// mixed makes a kind that edits as other kinds do, or at one piece of the note.
func (k *kind) mixed(others []kind, site func(*draft) piece) {
	k.pieces = anyPiece
	k.inside = func(d *draft, p piece) {
		if site != nil && d.chance(60) {
			p = site(d)
			if d.chance(30) && p.kind != "front matter" {
				d.changeLine(p, nil, func(s string) string { return d.words(s, english.words, 1) })
			} else {
				d.around(p, nil)
			}
			return
		}
		other := one(d, others)
		for other.name == "front matter" || other.plant == nil || len(other.sites(d)) == 0 {
			other = one(d, others)
			if d.chance(5) {
				d.around(p, nil)
				return
			}
		}
		other.inside(d, one(d, other.sites(d)))
	}
}

// changeLine changes one line of a piece that matches.
func (d *draft) changeLine(p piece, match func(string) bool, change func(string) string) {
	var lines []int
	for i := p.from; i < p.to; i++ {
		if match == nil || match(d.lines[i]) {
			lines = append(lines, i)
		}
	}
	if len(lines) > 0 {
		i := one(d, lines)
		d.lines[i] = change(d.lines[i])
	}
}

// wrap puts marks around a few words of a line.
func (d *draft) wrap(line, left, right string) string {
	words := strings.Split(line, " ")
	var plain []int
	for i, w := range words {
		if startsWithLetter(w) && !strings.ContainsAny(w, "`[]()<>*_") {
			plain = append(plain, i)
		}
	}
	if len(plain) == 0 {
		return line
	}
	from := one(d, plain)
	to := from
	if i := from + d.IntN(3); i < len(words) && slices.Contains(plain, i) {
		to = i
	}
	words[from] = left + words[from]
	words[to] += right
	return strings.Join(words, " ")
}

// padTable writes a table anew with columns of one width.
func (d *draft) padTable(p piece) {
	var rows [][]string
	var widths []int
	for _, line := range d.lines[p.from:p.to] {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
			if i == len(widths) {
				widths = append(widths, 5)
			}
			widths[i] = max(widths[i], len([]rune(cells[i])))
		}
		rows = append(rows, cells)
	}
	for n, cells := range rows {
		var b strings.Builder
		b.WriteString("|")
		for i, cell := range cells {
			fill := " "
			if n == 1 {
				fill = "-"
			}
			pad := strings.Repeat(fill, max(0, widths[i]-len([]rune(cell))))
			if n == 1 && strings.HasSuffix(cell, ":") {
				cell, pad = strings.TrimSuffix(cell, ":")+pad+":", ""
			}
			b.WriteString(" " + cell + pad + " |")
		}
		d.lines[p.from+n] = b.String()
	}
}

func withFrontMatter(text string) string {
	if _, ok := diffwrap.FrontMatter(text); ok && diffwrap.CheckFrontMatterChange("", text[:frontMatterEnd(text)]) == nil {
		return text
	}
	return "---\ntitle: A note\ncreated: 2026-06-14\n---\n" + strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), diffwrap.ByteOrderMark)
}

func frontMatterEnd(text string) int {
	end, _ := diffwrap.FrontMatter(text)
	return end
}

// What is planted.

func paragraph(d *draft) []string { return []string{d.sentence(english, 14)} }
func heading(d *draft) []string   { return []string{"## " + d.sentence(english, 3)} }
func withID(d *draft) []string {
	return []string{fmt.Sprintf("%s ^id%d", d.sentence(english, 9), d.IntN(1000))}
}

func paragraphOfLines(d *draft) []string {
	return []string{d.sentence(english, 12), d.sentence(english, 10), d.sentence(english, 8)}
}

func emphasis(d *draft) []string {
	return []string{d.sentence(english, 4) + " **" + one(d, english.words) + "** and *" + one(d, english.words) + "* " + d.sentence(english, 4)}
}

func quotation(d *draft) []string {
	return []string{d.sentence(english, 4) + ` She said "` + d.sentence(english, 4) + `" and don't (` + one(d, english.words) + ")."}
}

func table(d *draft) []string {
	columns := 2 + d.IntN(3)
	row := func(cell func() string) string {
		s := "|"
		for range columns {
			s += " " + cell() + " |"
		}
		return s
	}
	word := func() string { return one(d, english.words) }
	out := []string{row(word), row(func() string { return one(d, []string{"---", "---", "--:", ":-:"}) })}
	for range d.IntN(5) {
		out = append(out, row(word))
	}
	return out
}

func fence(d *draft) []string {
	info := one(d, []string{"", "js", "sh", "dataview", "mermaid"})
	out := []string{"```" + info, "LIST FROM #garden", "const x = 1;", "", "run --all", "```"}
	return slices.Delete(out, 1, 1+d.IntN(4))
}

func tasks(d *draft) []string {
	return []string{"- [ ] " + d.sentence(english, 4), "- [x] " + d.sentence(english, 5), "- [ ] " + d.sentence(english, 3)}
}

func callout(d *draft) []string {
	out := []string{"> [!" + one(d, []string{"tip", "note", "warning"}) + "]" + one(d, []string{"", " " + d.sentence(english, 2), "- Folded"})}
	for range d.IntN(3) {
		out = append(out, "> "+d.sentence(english, 6))
	}
	return out
}

func numbered(d *draft) []string {
	var out []string
	for i := range 3 + d.IntN(8) {
		out = append(out, fmt.Sprintf("%d. %s", i+1, d.sentence(english, 4)))
	}
	return out
}

func nested(d *draft) []string {
	return []string{"- " + d.sentence(english, 4), "  - " + d.sentence(english, 4), "    - " + d.sentence(english, 3), "  - " + d.sentence(english, 4), "- " + d.sentence(english, 3)}
}

func html5(d *draft) []string {
	return one(d, [][]string{
		{"<div>", d.sentence(english, 4), "</div>"},
		{"<details>", "<summary>More</summary>", d.sentence(english, 4), "</details>"},
		{"<!-- " + d.sentence(english, 3) + " -->"},
		{"<pre>", "a  b", "c  d", "</pre>"},
	})
}

func math(d *draft) []string {
	return one(d, [][]string{{"$$", `n \approx \frac{2}{3}`, "$$"}, {"$$x = 1$$"}, {"$$", "a &= b \\\\", "c &= d", "$$"}, {"%%", "hidden", "%%"}})
}

func footnote(d *draft) []string {
	name := fmt.Sprintf("[^f%d]", d.IntN(1000))
	return []string{d.sentence(english, 5) + name, "", name + ": " + d.sentence(english, 6)}
}

func link(d *draft) []string {
	return one(d, [][]string{
		{d.sentence(english, 4) + " [[Bed Plan]] " + d.sentence(english, 3)},
		{d.sentence(english, 4) + " [the plan](notes/bed-plan.md) " + d.sentence(english, 3)},
		{d.sentence(english, 4) + " [the plan][plan]", "", "[plan]: https://example.com/plan"},
	})
}

// The same number and seed make the same edit, and all kinds make some.
func TestEditsAreReproducible(t *testing.T) {
	e := edits{collection: collect(t), seed: 1}
	for i := range 4 * len(kinds) {
		a, b := e.make(i), e.make(i)
		if a != b {
			t.Fatalf("edit %d (%s) is made in two ways", i, a.kind)
		}
		if a.before == a.after {
			t.Errorf("edit %d (%s) changes nothing", i, a.kind)
		}
	}
}
