package diffwrap

// words compares two pieces of text word by word. survival is the share, in per cent, of the shorter piece that must
// survive, counted in words; with less, what lies between the first and the last of many changes is replaced as one.
func (a *aligner) words(old, new span, survival int) {
	o, n := a.interned(a.old, old), a.interned(a.new, new)
	match := commonSubsequence(o.ids, n.ids)
	changes := tokenChanges(match, len(n.ids))
	if !a.exact {
		changes = a.readable(o, n, changes, match, survival)
	}
	for _, c := range changes {
		a.change(o.piece(c.old), n.piece(c.new))
	}
}

// tokens is a piece of text as tokens, with their interned numbers.
type tokens struct {
	span
	list  []token
	ids   []int
	words int // how many tokens are neither blanks nor symbols
	bytes int // and their length
}

func (a *aligner) interned(s side, piece span) tokens {
	t := tokens{span: piece, list: tokenize(s.text, piece, s.comments)}
	t.ids = make([]int, len(t.list))
	for k, tok := range t.list {
		t.ids[k] = a.intern(tok.of(s.text))
		if tok.isWord() {
			t.words++
			t.bytes += tok.len()
		}
	}
	return t
}

// isWord reports whether a token counts when it is asked how much of a text survives: blanks and punctuation do not.
func (t token) isWord() bool { return t.class != spaceToken && t.class != symbolToken }

// piece returns the text that a range of tokens covers.
func (t *tokens) piece(r span) span {
	s := span{t.end, t.end}
	if r.start < len(t.list) {
		s.start = t.list[r.start].start
	}
	if r.end < len(t.list) {
		s.end = t.list[r.end].start
	}
	return s
}

// kept returns how many words have a partner, and their length in bytes.
func (t *tokens) kept(match []int) (words, bytes int) {
	for k, j := range match {
		if j >= 0 && t.list[k].isWord() {
			words++
			bytes += t.list[k].len()
		}
	}
	return words, bytes
}

// tokenChange is a hunk in numbers of tokens.
type tokenChange struct{ old, new span }

// replaces reports whether the change has two sides.
func (c tokenChange) replaces() bool { return !c.old.empty() && !c.new.empty() }

// tokenChanges lists what a matching leaves unmatched; newLen is the number of new tokens.
func tokenChanges(match []int, newLen int) []tokenChange {
	var out []tokenChange
	i, j := 0, 0
	for k, partner := range append(match, newLen) {
		if partner < 0 {
			continue
		}
		if c := (tokenChange{span{i, k}, span{j, partner}}); !c.old.empty() || !c.new.empty() {
			out = append(out, c)
		}
		i, j = k+1, partner+1
	}
	return out
}

// maxScattered is how many changes of a line a person can decide one by one, however little stays between them. They may
// be several writers'.
const maxScattered = 3

// readable applies the rules that make the changes of a piece of text readable.
func (a *aligner) readable(o, n tokens, changes []tokenChange, match []int, survival int) []tokenChange {
	changes = foldIslands(a.old.text, o, changes)
	if words, _ := o.kept(match); len(changes) > maxScattered && 100*words < survival*min(o.words, n.words) {
		first, last := changes[0], changes[len(changes)-1]
		changes = []tokenChange{{span{first.old.start, last.old.end}, span{first.new.start, last.new.end}}}
	}
	for k := range changes {
		changes[k] = trimBlanks(o, n, changes[k])
	}
	return changes
}

// foldIslands joins two changes that only a lone blank parts, if both take something out and one puts something in, and two
// changes within unspaced script that only one character parts: one change of a phrase reads better than one per word.
func foldIslands(text string, o tokens, changes []tokenChange) []tokenChange {
	out := changes[:0]
	for _, c := range changes {
		if len(out) > 0 && islandFolds(text, o, out[len(out)-1], c) {
			last := &out[len(out)-1]
			last.old.end, last.new.end = c.old.end, c.new.end
			continue
		}
		out = append(out, c)
	}
	return out
}

// islandFolds reports whether the kept tokens between two changes are too little to keep them apart.
func islandFolds(text string, o tokens, left, right tokenChange) bool {
	if right.old.start-left.old.end != 1 {
		return false
	}
	switch island := o.list[left.old.end]; island.class {
	case spaceToken:
		return lineBreak(island.of(text)) == "" && (left.replaces() || right.replaces()) && !left.old.empty() && !right.old.empty()
	case glyphToken:
		return o.endsInGlyph(left.old) && o.startsWithGlyph(right.old)
	}
	return false
}

func (t *tokens) endsInGlyph(r span) bool {
	return !r.empty() && t.list[r.end-1].class == glyphToken
}

func (t *tokens) startsWithGlyph(r span) bool {
	return !r.empty() && t.list[r.start].class == glyphToken
}

// trimBlanks takes equal blanks out of the ends of a change, which folding may have brought in.
func trimBlanks(o, n tokens, c tokenChange) tokenChange {
	for c.replaces() && o.ids[c.old.start] == n.ids[c.new.start] {
		c.old.start++
		c.new.start++
	}
	for c.replaces() && o.ids[c.old.end-1] == n.ids[c.new.end-1] {
		c.old.end--
		c.new.end--
	}
	return c
}

// trimClusters takes the grapheme clusters that both pieces start or end with out of a change.
func trimClusters(oldText, newText string, old, new span) (span, span) {
	for !old.empty() && !new.empty() {
		n := clusterLength(oldText[old.start:old.end])
		if n != clusterLength(newText[new.start:new.end]) || oldText[old.start:old.start+n] != newText[new.start:new.start+n] {
			break
		}
		old.start, new.start = old.start+n, new.start+n
	}
	oldBorders, newBorders := borders(oldText, old), borders(newText, new)
	for len(oldBorders) > 0 && len(newBorders) > 0 {
		o, n := oldBorders[len(oldBorders)-1], newBorders[len(newBorders)-1]
		if oldText[o:old.end] != newText[n:new.end] {
			break
		}
		old.end, new.end = o, n
		oldBorders, newBorders = oldBorders[:len(oldBorders)-1], newBorders[:len(newBorders)-1]
	}
	return old, new
}

// clusterLength returns the length of the grapheme cluster at the start of s.
func clusterLength(s string) int {
	if n := len(lineBreak(s)); n > 0 {
		return n
	}
	n, _ := character(s, 0)
	return n
}

// borders returns where the grapheme clusters of a piece start.
func borders(text string, s span) []int {
	var out []int
	for i := s.start; i < s.end; i += clusterLength(text[i:s.end]) {
		out = append(out, i)
	}
	return out
}
