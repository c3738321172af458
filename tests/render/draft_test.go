package render

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// draft is a note that is being edited, as lines without their breaks.
type draft struct {
	*rand.Rand
	lines []string
}

// piece is a block of a draft. Kinds are those of pages, and "blank", "item" and "row" are no pieces.
type piece struct {
	kind     string
	from, to int
}

var (
	fenceLine   = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	headingLine = regexp.MustCompile(`^#{1,6} +\S`)
	itemLine    = regexp.MustCompile(`^( *)([-*+]|\d{1,4}[.)]) +\S`)
	orderedLine = regexp.MustCompile(`^( *)(\d{1,4})([.)]) `)
	taskLine    = regexp.MustCompile(`^ *[-*+] \[[ xX]\] `)
	delimiter   = regexp.MustCompile(`^ {0,3}\|? *:?-+:? *(\| *:?-+:? *)+\|? *$|^ {0,3}\| *:?-+:? *\| *$`)
	ruleLine    = regexp.MustCompile(`^ {0,3}(-{3,}|\*{3,}|_{3,})\s*$`)
	htmlLine    = regexp.MustCompile(`^ {0,3}(</?[a-zA-Z][^>]*>|<!--)`)
	noteLine    = regexp.MustCompile(`^\[\^[^\]]+\]:`)
	linkLine    = regexp.MustCompile(`^ {0,3}\[[^\]^][^\]]*\]:`)
	linkInLine  = regexp.MustCompile(`\[\[[^\]\n]+\]\]|\[[^\]\n]+\]\([^)\n]+\)`)
	idAtEnd     = regexp.MustCompile(` \^[A-Za-z0-9-]+$`)
	quoteLine   = regexp.MustCompile(`^ {0,3}>`)
	calloutLine = regexp.MustCompile(`^ {0,3}> ?\[!`)
)

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// pieces finds the blocks of a draft, well enough to know where to edit.
func (d *draft) pieces() (out []piece) {
	i := 0
	until := func(end func(line string) bool) int {
		to := i + 1
		for to < len(d.lines) && !end(d.lines[to]) {
			to++
		}
		return to
	}
	including := func(end func(line string) bool) int { return min(until(end)+1, len(d.lines)) }
	for i < len(d.lines) {
		line := d.lines[i]
		kind, to := "paragraph", i+1
		switch {
		case isBlank(line):
			i++
			continue
		case i == 0 && line == "---":
			kind, to = "front matter", including(func(s string) bool { return s == "---" })
		case fenceLine.MatchString(line):
			mark := fenceLine.FindStringSubmatch(line)[1]
			kind, to = "code", including(func(s string) bool {
				s = strings.TrimSpace(s)
				return strings.HasPrefix(s, mark) && strings.Trim(s, mark[:1]) == ""
			})
		case strings.HasPrefix(line, "$$"):
			kind = "math"
			if strings.Count(line, "$$") < 2 {
				to = including(func(s string) bool { return strings.HasSuffix(s, "$$") })
			}
		case strings.HasPrefix(line, "%%"):
			kind = "comment"
			if strings.Count(line, "%%") < 2 {
				to = including(func(s string) bool { return strings.HasSuffix(s, "%%") })
			}
		case headingLine.MatchString(line):
			kind = "heading"
		case ruleLine.MatchString(line):
			kind = "rule"
		case i+1 < len(d.lines) && strings.Contains(line, "|") && delimiter.MatchString(d.lines[i+1]):
			kind, to = "table", until(func(s string) bool { return !strings.Contains(s, "|") })
		case htmlLine.MatchString(line):
			kind, to = "html", until(isBlank)
		case noteLine.MatchString(line):
			kind = "footnote"
		case linkLine.MatchString(line):
			kind = "definition"
		case quoteLine.MatchString(line):
			kind, to = "quote", until(func(s string) bool { return !quoteLine.MatchString(s) })
			if calloutLine.MatchString(line) {
				kind = "callout"
			}
		case itemLine.MatchString(line):
			kind, to = "list", until(func(s string) bool { return isBlank(s) || headingLine.MatchString(s) || fenceLine.MatchString(s) })
		case strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "  "):
			kind, to = "indented", until(isBlank)
		default:
			to = until(func(s string) bool {
				return isBlank(s) || headingLine.MatchString(s) || fenceLine.MatchString(s) || quoteLine.MatchString(s) || itemLine.MatchString(s) || ruleLine.MatchString(s)
			})
			if to < len(d.lines) && ruleLine.MatchString(d.lines[to]) {
				kind, to = "setext", to+1
			}
		}
		out = append(out, piece{kind, i, to})
		i = to
	}
	return out
}

// of returns the pieces of the kinds that are given.
func (d *draft) of(kinds ...string) (out []piece) {
	for _, p := range d.pieces() {
		if slices.Contains(kinds, p.kind) {
			out = append(out, p)
		}
	}
	return out
}

// matching returns the lines of pieces of a kind that match.
func (d *draft) matching(kind string, match func(line string) bool) (out []int) {
	for _, p := range d.of(kind) {
		for i := p.from; i < p.to; i++ {
			if match(d.lines[i]) {
				out = append(out, i)
			}
		}
	}
	return out
}

// one picks one of several, which must not be none.
func one[T any](d *draft, of []T) T { return of[d.IntN(len(of))] }

// chance is true in so many of 100.
func (d *draft) chance(percent int) bool { return d.IntN(100) < percent }

func (d *draft) insert(at int, lines ...string) { d.lines = slices.Insert(d.lines, at, lines...) }
func (d *draft) remove(from, to int)            { d.lines = slices.Delete(d.lines, from, to) }

// apart puts lines at a place as blocks of their own, and returns where they begin.
func (d *draft) apart(at int, lines ...string) int {
	if at > 0 && !isBlank(d.lines[at-1]) {
		d.insert(at, "")
		at++
	}
	d.insert(at, lines...)
	if end := at + len(lines); end < len(d.lines) && !isBlank(d.lines[end]) {
		d.insert(end, "")
	}
	return at
}

// plant puts a block somewhere into the note: between two blocks with blank lines around it, behind the last one, or
// directly below a heading.
func (d *draft) plant(lines []string) {
	pieces := d.pieces()
	if len(pieces) == 0 || d.chance(15) {
		d.apart(len(d.lines), lines...)
		return
	}
	p := one(d, pieces)
	if headings := d.of("heading"); len(headings) > 0 && d.chance(15) {
		p = one(d, headings)
		d.insert(p.to, lines...)
		if end := p.to + len(lines); end < len(d.lines) && !isBlank(d.lines[end]) {
			d.insert(end, "")
		}
		return
	}
	// A block that is followed by an indented line may go on there.
	at := p.to
	for at < len(d.lines) && (isBlank(d.lines[at]) || strings.HasPrefix(d.lines[at], " ") || strings.HasPrefix(d.lines[at], "\t")) {
		at++
	}
	if p.kind == "html" || p.kind == "code" {
		at = p.to
	}
	d.apart(at, lines...)
}

// around changes what stands beside a piece, or the whole of it.
func (d *draft) around(p piece, sibling []string) {
	pieces := d.pieces()
	k := slices.IndexFunc(pieces, func(q piece) bool { return q.from == p.from })
	fresh := d.block()
	switch d.IntN(9) {
	case 0, 1:
		d.apart(p.to, fresh...)
	case 2:
		d.insert(p.to, fresh...)
	case 3:
		if p.kind == "front matter" {
			d.apart(p.to, fresh...)
			return
		}
		d.apart(p.from, fresh...)
	case 4:
		if k+1 < len(pieces) {
			d.drop(pieces[k+1])
		} else {
			d.insert(p.to, fresh...)
		}
	case 5:
		if k > 0 && pieces[k-1].kind != "front matter" {
			d.drop(pieces[k-1])
		} else {
			d.apart(p.to, fresh...)
		}
	case 6:
		if p.kind != "front matter" {
			d.drop(p)
		}
	case 7:
		if len(sibling) == 0 {
			sibling = fresh
		}
		d.apart(p.to, sibling...)
	case 8:
		if k >= 0 && p.kind != "front matter" {
			d.swap(pieces, k)
		}
	}
}

// drop removes a piece and the blank lines behind it.
func (d *draft) drop(p piece) {
	to := p.to
	for to < len(d.lines) && isBlank(d.lines[to]) {
		to++
	}
	d.remove(p.from, to)
}

// swap exchanges a piece with the next one.
func (d *draft) swap(pieces []piece, k int) {
	if k+1 >= len(pieces) || pieces[k].kind == "front matter" {
		return
	}
	a, b := pieces[k], pieces[k+1]
	first, between, second := slices.Clone(d.lines[a.from:a.to]), slices.Clone(d.lines[a.to:b.from]), slices.Clone(d.lines[b.from:b.to])
	d.lines = slices.Concat(d.lines[:a.from], second, between, first, d.lines[b.to:])
}

// block makes a new block, mostly a paragraph.
func (d *draft) block() []string {
	switch d.IntN(8) {
	case 0:
		return []string{"## " + d.sentence(english, 3)}
	case 1:
		return []string{"- " + d.sentence(english, 5), "- " + d.sentence(english, 4)}
	case 2:
		return []string{d.sentence(english, 9), d.sentence(english, 6)}
	}
	return []string{d.sentence(english, 8)}
}

// words edits a few words of a line: it replaces, removes or adds some, but none of its first ones, which may be markers.
func (d *draft) words(line string, pool []string, many int) string {
	words := strings.Split(line, " ")
	first := 0
	for first < len(words) && !startsWithLetter(words[first]) {
		first++
	}
	for range many {
		if first >= len(words) {
			return line + " " + one(d, pool)
		}
		at := first + d.IntN(len(words)-first)
		switch {
		case strings.ContainsAny(words[at], "|`[]()<>*_$%^=\"“”!"):
			words = slices.Insert(words, at, one(d, pool))
		case d.chance(60):
			words[at] = one(d, pool) + trailing(words[at])
		case d.chance(50) && len(words)-first > 2:
			words = slices.Delete(words, at, at+1)
		default:
			words = slices.Insert(words, at, one(d, pool))
		}
	}
	return strings.Join(words, " ")
}

func startsWithLetter(s string) bool {
	return s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || s[0] >= 0x80)
}

// trailing is the punctuation at the end of a word.
func trailing(word string) string { return word[len(strings.TrimRight(word, ".,;:!?")):] }

// typo changes one letter of one word.
func (d *draft) typo(line string) string {
	var letters []int
	for i := 1; i < len(line); i++ {
		if isLower(line[i]) && isLower(line[i-1]) {
			letters = append(letters, i)
		}
	}
	if len(letters) == 0 {
		return line + "x"
	}
	i := one(d, letters)
	switch d.IntN(3) {
	case 0:
		return line[:i] + line[i+1:]
	case 1:
		return line[:i-1] + line[i:i+1] + line[i-1:i] + line[i+1:]
	}
	return line[:i] + string(rune('a'+d.IntN(26))) + line[i+1:]
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// script is how sentences of a language are made.
type script struct {
	name  string
	words []string
	space string // between words
	stop  string // behind a sentence
}

func (d *draft) sentence(s script, words int) string {
	out := make([]string, words)
	for i := range out {
		out[i] = one(d, s.words)
	}
	if startsWithLetter(out[0]) && out[0][0] < 0x80 {
		out[0] = strings.ToUpper(out[0][:1]) + out[0][1:]
	}
	return strings.Join(out, s.space) + s.stop
}

// edited makes a sentence twice, with a few words of the second replaced, removed or added, or most of them replaced.
func (d *draft) edited(s script, words int) (before, after string) {
	var a []string
	for range words {
		a = append(a, one(d, s.words))
	}
	b := slices.Clone(a)
	if d.chance(30) { // a sentence about the same
		for i := range b {
			if d.chance(60) {
				b[i] = one(d, s.words)
			}
		}
		return strings.Join(a, s.space) + s.stop, strings.Join(b, s.space) + s.stop
	}
	for range 1 + d.IntN(max(1, words/4)) {
		at := d.IntN(len(b))
		switch d.IntN(4) {
		case 0, 1:
			b[at] = one(d, s.words)
		case 2:
			b = slices.Insert(b, at, one(d, s.words))
		case 3:
			if len(b) > 2 {
				b = slices.Delete(b, at, at+1)
			}
		}
	}
	return strings.Join(a, s.space) + s.stop, strings.Join(b, s.space) + s.stop
}

func fields(s string) []string { return strings.Fields(s) }

var (
	english = script{"latin", fields(`the a garden bed row bean water soil seed spring autumn frost plant shed morning rain slug compost neighbour
		grows stands waits turns carries opens keeps becomes begins under over beside before after between with without early late green heavy small
		every never often again slowly because when where until against the of and in to we they it this that one two`), " ", "."}
	chinese = script{"han", fields(`我们 每年 四月 把 豆子 种 在 花园 里 的 土壤 浇水 早晨 邻居 说 很 好 不 会 下雨 如果 春天 来 得 太 晚 种子 就 应该 放 温室 因为 霜冻 危险 这 一排 植物 需要 更多 阳光 和 水分 可以 收获 番茄 南瓜 工具 仓库 ， 。`), "", "。"}
	japan   = script{"kana", fields(`私たち は 毎年 春 に 庭 の 畑 で トマト を 育て ます 水 やり が 必要 です 雨 の 日 も 朝 早く 起きて ナメクジ 探す こと できる 土 コンポスト 混ぜる と よく 育つ 隣 さん から 種 もらい ました 、 霜 まで 温室 置いて ください`), "", "。"}
	thai    = script{"thai", fields(`เรา ปลูก ต้นไม้ ใน สวน ทุก เช้า และ รดน้ำ ก่อน พระอาทิตย์ ขึ้น ดิน ต้อง ชุ่ม แต่ ไม่ แฉะ เมล็ด พันธุ์ ใหม่ มา จาก เพื่อนบ้าน ฝน ตก หนัก เมื่อวาน จึง ควร รอ อีก สอง วัน ผัก โต เร็ว มาก ที่ แปลง นี้`), "", ""}
	khmer   = script{"khmer", fields(`យើង ដាំ បន្លែ ក្នុង សួន រៀងរាល់ ព្រឹក ហើយ ស្រោច ទឹក មុន ថ្ងៃ រះ ដី ត្រូវ សើម គ្រាប់ពូជ ថ្មី មក ពី អ្នកជិតខាង ភ្លៀង ធ្លាក់ ខ្លាំង`), "", "។"}
	lao     = script{"lao", fields(`ພວກເຮົາ ປູກ ຜັກ ໃນ ສວນ ທຸກ ເຊົ້າ ແລະ ຫົດນໍ້າ ກ່ອນ ຕາເວັນ ຂຶ້ນ ດິນ ຕ້ອງ ຊຸ່ມ ແກ່ນ ໃໝ່ ມາ ຈາກ ເພື່ອນບ້ານ ຝົນ ຕົກ`), "", ""}
	burmese = script{"myanmar", fields(`ကျွန်တော်တို့ နွေဦး မှာ ဥယျာဉ် ထဲ ခရမ်းချဉ်သီး စိုက် ပြီး မနက်တိုင်း ရေလောင်း တယ် မြေကြီး စိုစွတ် ရမယ် မျိုးစေ့ အသစ် ရ လာ`), "", "။"}
	hebrew  = script{"hebrew", fields(`אנחנו שותלים עגבניות בגן בכל בוקר לפני הזריחה האדמה צריכה להיות לחה אבל לא רטובה הזרעים החדשים הגיעו מהשכנים גשם ירד אתמול ולכן כדאי לחכות יומיים`), " ", "."}
	arabic  = script{"arabic", fields(`نحن نزرع الطماطم في الحديقة كل صباح قبل شروق الشمس التربة يجب أن تكون رطبة لكن ليست مبللة البذور الجديدة جاءت من الجيران هطل المطر أمس لذلك ننتظر يومين`), " ", "."}
	emoji   = script{"emoji", fields(`we 🌱 grow 👩‍🌾 tomatoes 🍅 in 🏡 the garden 👨‍👩‍👧‍👦 every 🌞 day 👍🏽 and 🇨🇭 water 💧 them ❤️ until 🎃 autumn 1️⃣ comes 🧑🏿‍🔬`), " ", ""}
)
