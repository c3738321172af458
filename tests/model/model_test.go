package model

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The model of a note: its words, with what was proposed about each. All words that a sequence writes are different,
// so that the texts tell which word is which. What the two views show follows from the atoms and from nothing else.

type atomStatus uint8

const (
	pending atomStatus = iota
	accepted
	rejected
)

// atom is one proposal about one word: that it be inserted, or that it be deleted.
type atom struct {
	author string
	status atomStatus
}

type word struct {
	text string
	ins  *atom   // nil: a person's, or from the beginning
	dels []*atom // proposals to delete it, decided ones included
	dead bool    // a person removed it, or agents withdrew what was proposed
	// withdrawn says that it was agents who took it away.
	withdrawn bool
	born      int // the step that wrote it
	nth       int // of the words of that step, in the order of the text then, or when they were amended
	// within says that a person typed it inside of an agent's mark.
	within bool
	// amended is the step in which the author of an addition last changed the note.
	amended int
	light   *highlight // that a person's word stands in, nil for none
	// before is the word that the write deleted or withdrew when it wrote this one, which has the same text: they may be one word
	// that the write moved. nil for none.
	before *word
}

// highlight is one that a person made. What agents write may get into it or not, and what people wrote stays in it.
type highlight struct {
	// torn says that it was left without text once: an acceptance takes it away then, and only the undo of that brings it
	// back, so that words that come back in another way are not in it any more.
	torn bool
}

// views says in which of the two views the word is: the original and the accepted one.
func (w *word) views() (original, accept bool) {
	if w.dead {
		return false, false
	}
	original, accept = true, true
	if w.ins != nil {
		original, accept = w.ins.status == accepted, w.ins.status != rejected
	}
	for _, d := range w.dels {
		original = original && d.status != accepted
		accept = accept && d.status == rejected
	}
	return original, accept
}

func (w *word) live() bool {
	o, a := w.views()
	return o || a
}

// mark is what the raw text shows of the word: ' ' plain, '+' an addition, '-' a deletion.
func (w *word) mark() byte {
	switch o, a := w.views(); {
	case o && a:
		return ' '
	case a:
		return '+'
	}
	return '-'
}

// proposals are the pending atoms of a live word.
func (w *word) proposals() (list []*atom) {
	if !w.live() {
		return nil
	}
	if w.ins != nil && w.ins.status == pending {
		list = append(list, w.ins)
	}
	for _, d := range w.dels {
		if d.status == pending {
			list = append(list, d)
		}
	}
	return list
}

// proposedBy is what waits of an author about a live word. Two may propose to delete the same one.
func (w *word) proposedBy(author string) *atom {
	for _, a := range w.proposals() {
		if a.author == author {
			return a
		}
	}
	return nil
}

// model is a note: all its words in their order, those that are in no view at the place where they were.
type model struct {
	words []*word
}

func (m *model) live() []*word {
	return slices.DeleteFunc(slices.Clone(m.words), func(w *word) bool { return !w.live() })
}

// inAccepted are the words of the accepted view.
func (m *model) inAccepted() []*word {
	return slices.DeleteFunc(slices.Clone(m.words), func(w *word) bool { _, a := w.views(); return !a })
}

func (m *model) original() []string {
	return m.texts(func(w *word) bool { o, _ := w.views(); return o })
}

func (m *model) accepted() []string {
	return m.texts(func(w *word) bool { _, a := w.views(); return a })
}

func (m *model) texts(in func(*word) bool) []string {
	var texts []string
	for _, w := range m.words {
		if in(w) {
			texts = append(texts, w.text)
		}
	}
	return texts
}

// insert puts a new word behind a live one, nil for the beginning: before what is in no view there.
func (m *model) insert(behind, w *word) {
	m.words = slices.Insert(m.words, slices.Index(m.words, behind)+1, w)
}

// seen is a word of a raw text, the mark it stands in, and whether it is highlighted.
type seen struct {
	text string
	mark byte
	lit  bool
}

var (
	sequenceWord = regexp.MustCompile(`[a-z][0-9]+`)
	// sequenceMark is a mark of a text that has braces nowhere else.
	sequenceMark = regexp.MustCompile(`(?s)\{\+\+(.*?)\+\+\}|\{--(.*?)--\}`)
)

var highlightEdge = regexp.MustCompile(`\{==|==\}`)

// withoutHighlights takes the delimiters of highlights out, and says what is highlighted, by offsets in the result.
func withoutHighlights(raw string) (text string, lit func(int) bool) {
	var edges []int // the beginning and the end of each, in turn
	for _, loc := range highlightEdge.FindAllStringIndex(raw, -1) {
		edges = append(edges, loc[0]-3*len(edges))
	}
	return highlightEdge.ReplaceAllString(raw, ""), func(at int) bool {
		i, _ := slices.BinarySearch(edges, at+1)
		return i%2 == 1
	}
}

func wordsOf(text string) []string { return sequenceWord.FindAllString(text, -1) }

// parseRaw reads a raw text independently of the parser under test.
func parseRaw(raw string) (words []seen, err error) {
	raw, lit := withoutHighlights(raw)
	add := func(from, to int, mark byte) error {
		if text := raw[from:to]; strings.ContainsAny(text, "{}") {
			return fmt.Errorf("a piece of a mark is left: %q", text)
		}
		for _, loc := range sequenceWord.FindAllStringIndex(raw[from:to], -1) {
			words = append(words, seen{raw[from+loc[0] : from+loc[1]], mark, lit(from + loc[0])})
		}
		return nil
	}
	at := 0
	for _, loc := range sequenceMark.FindAllStringSubmatchIndex(raw, -1) {
		err = errors.Join(err, add(at, loc[0], ' '))
		if loc[2] >= 0 {
			err = errors.Join(err, add(loc[2], loc[3], '+'))
		} else {
			err = errors.Join(err, add(loc[4], loc[5], '-'))
		}
		at = loc[1]
	}
	return words, errors.Join(err, add(at, len(raw), ' '))
}

// matches says whether a raw text may show the word so. What a person typed inside of a mark is no part of it.
func (w *word) matches(s seen) bool {
	return w.text == s.text && (w.mark() == s.mark || w.within && w.mark() == ' ')
}

// foreign says whether something of others than author waits.
func (m *model) foreign(author string) bool {
	return slices.ContainsFunc(m.words, func(w *word) bool {
		return slices.ContainsFunc(w.proposals(), func(a *atom) bool { return a.author != author })
	})
}

// checkRaw compares a raw text with the model, order included.
func (m *model) checkRaw(raw string) error {
	words, err := parseRaw(raw)
	if err != nil {
		return err
	}
	m.tear()
	live := m.live()
	for i := range max(len(words), len(live)) {
		switch {
		case i >= len(words):
			return fmt.Errorf("%q is missing (mark %q)", live[i].text, live[i].mark())
		case i >= len(live):
			return fmt.Errorf("%q (mark %q) is too much", words[i].text, words[i].mark)
		case !live[i].matches(words[i]):
			return fmt.Errorf("word %d is %q (mark %q), want %q (mark %q)", i, words[i].text, words[i].mark, live[i].text, live[i].mark())
		}
		if err := live[i].checkLight(words[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkLight checks that a person's word stands in its highlight and in no other.
func (w *word) checkLight(s seen) error {
	if w.ins == nil && (w.light == nil || !w.light.torn) && s.lit != (w.light != nil) {
		return fmt.Errorf("%q is highlighted: %v; a person highlighted it: %v", w.text, s.lit, w.light != nil)
	}
	return nil
}

// lightAt is the highlight of the word with that number of those that are live, as a raw text shows them: the next
// word that a person highlighted tells which it is.
func lightAt(i int, words []seen, live []*word) *highlight {
	if !words[i].lit {
		return nil
	}
	for k := i; k >= 0 && words[k].lit; k-- {
		if live[k].light != nil {
			return live[k].light
		}
	}
	for k := i; k < len(words) && words[k].lit; k++ {
		if live[k].light != nil {
			return live[k].light
		}
	}
	return &highlight{torn: true} // only agents' words are left in it
}

// tear notes which highlights are without text.
func (m *model) tear() {
	full := make(map[*highlight]bool)
	for _, w := range m.live() {
		full[w.light] = true
	}
	for _, w := range m.words {
		if w.light != nil && !full[w.light] {
			w.light.torn = true
		}
	}
}

// written takes over what an agent's write made of the note: words may have become deletions, additions may have been
// withdrawn, and new words are additions. All else is an error.
func (m *model) written(raw, author string, step int) error {
	words, err := parseRaw(raw)
	if err != nil {
		return err
	}
	for i, w := range m.words {
		w.within = false // a write takes what people typed out of the marks
		if w.ins != nil && w.ins.author == author && w.live() {
			w.amended, w.nth = step, i // as they stand now
		}
	}
	deleted := m.live()
	removed, added := make(map[string]*word), []*word(nil)
	var prev *word
	for i, k := range align(deleted, words) {
		w := k.word
		switch {
		case w == nil && k.seen.mark != '+':
			return fmt.Errorf("the new word %q has the mark %q", k.seen.text, k.seen.mark)
		case w == nil:
			w = &word{text: k.seen.text, ins: &atom{author: author}, born: step, nth: i}
			m.insert(prev, w)
			added = append(added, w)
		case k.seen.mark == '-' && w.mark() != '-':
			w.dels = append(w.dels, &atom{author: author})
			removed[w.text] = w
		case k.seen.mark == ' ' && w.mark() == '-': // the agent wrote it again
			for _, d := range w.proposals() {
				d.status = rejected
			}
		}
		deleted = slices.DeleteFunc(deleted, func(g *word) bool { return g == w })
		prev = w
	}
	for _, w := range deleted {
		if w.mark() != '+' {
			return fmt.Errorf("%q is gone without a mark", w.text)
		}
		w.dead, w.withdrawn = true, true
		removed[w.text] = w
	}
	for _, w := range added {
		w.before = removed[w.text]
	}
	return m.checkRaw(raw)
}

type aligned struct {
	word *word
	seen seen
}

// align finds the live words of the note in what is seen, as many as can be. An agent may withdraw an addition and write
// it again elsewhere; all other words stay where they are, and so count for more.
func align(live []*word, words []seen) []aligned {
	value := func(w *word, s seen) int {
		switch {
		case w.text != s.text || !w.matches(s) && (w.mark() == '+' || s.mark == '+'):
			return 0
		case w.mark() == '+':
			return 1
		}
		return len(words) + 1
	}
	// best[i][j] is the value of the pairs in live[i:] and words[j:].
	best := make([][]int, len(live)+1)
	for i := range best {
		best[i] = make([]int, len(words)+1)
	}
	for i := len(live) - 1; i >= 0; i-- {
		for j := len(words) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if v := value(live[i], words[j]); v > 0 {
				best[i][j] = max(best[i][j], best[i+1][j+1]+v)
			}
		}
	}
	var list []aligned
	i := 0
	for j, s := range words {
		pairs := func() bool {
			v := value(live[i], s)
			return v > 0 && best[i][j] == best[i+1][j+1]+v
		}
		for i < len(live) && !pairs() && best[i+1][j] == best[i][j] {
			i++
		}
		if i < len(live) && pairs() {
			list = append(list, aligned{live[i], s})
			i++
		} else {
			list = append(list, aligned{nil, s})
		}
	}
	return list
}

// decision is what was decided of a note in one batch.
type decision struct {
	batch  string
	ids    []string
	accept bool
	atoms  []*atom
	beside map[*word][2]*word // the words on either side of each that the decision removes, of those that stay; nil for none
	step   int
	undone bool
	raw    string // before
}

// decide finds the words of those that are chosen of all suggestions, and gives their atoms the status.
func (m *model) decide(all, chosen []pendingEntry, accept bool, step int) (*decision, error) {
	d := &decision{accept: accept, step: step}
	words := m.wordsOf(all)
	for i, s := range all {
		if !slices.Contains(chosen, s) {
			continue
		}
		d.ids = append(d.ids, s.ID)
		for _, w := range words[i] {
			d.atoms = append(d.atoms, w.proposals()...)
		}
	}
	before := m.live()
	status := rejected
	if accept {
		status = accepted
	}
	for _, a := range d.atoms {
		a.status = status
	}
	d.beside = beside(before)
	return d, nil
}

// beside finds the live words on either side of those in the list that are not live any more.
func beside(list []*word) map[*word][2]*word {
	all := make(map[*word][2]*word)
	var left *word
	var since []*word // from left on
	for _, w := range append(list, nil) {
		if w != nil && !w.live() {
			since = append(since, w)
			continue
		}
		for _, x := range since {
			all[x] = [2]*word{left, w}
		}
		left, since = w, nil
	}
	return all
}

// adrift says whether agents have withdrawn what a word of the decision stood beside.
func (d *decision) adrift(w *word) bool {
	withdrawn := func(x *word) bool { return x != nil && x.withdrawn }
	beside := d.beside[w]
	return withdrawn(beside[0]) || withdrawn(beside[1])
}

// wordsOf are the words that each suggestion of the note proposes something about. What a person typed inside of its mark
// is not among them.
func (m *model) wordsOf(list []pendingEntry) [][]*word {
	taken := make(map[*word]bool)
	find := func(text string, mark byte, author string) (found []*word) {
		for _, t := range wordsOf(text) {
			is := func(w *word) bool { return w.live() && w.text == t && w.mark() == mark && !taken[w] }
			// Two agents may both have written a person's word again, and the one suggestion may surround the other.
			i := slices.IndexFunc(m.words, func(w *word) bool { return is(w) && w.proposedBy(author) != nil })
			if i < 0 {
				i = slices.IndexFunc(m.words, is)
			}
			if i >= 0 {
				taken[m.words[i]] = true
				found = append(found, m.words[i])
			}
		}
		return found
	}
	words := make([][]*word, len(list))
	for i, s := range list {
		words[i] = append(find(s.Old, '-', s.Author), find(s.New, '+', s.Author)...)
	}
	return words
}

// undo lets the decision's atoms wait again, and says which words are to come back.
func (m *model) undo(d *decision) (back []*word) {
	old := make(map[*word]bool)
	for _, w := range m.words {
		old[w] = w.live()
	}
	for _, a := range d.atoms {
		a.status = pending
	}
	d.undone = true
	for _, w := range m.words {
		if !old[w] && w.live() {
			back = append(back, w)
		}
	}
	return back
}

// settle compares the raw text after an undo with the model. A word that came back stands among the words of its time
// as it did; how it stands to those written since is open, and the model learns it. Words that mayStay may stay away.
func (m *model) settle(raw string, back []*word, mayStay func(*word) bool) error {
	words, err := parseRaw(raw)
	if err != nil {
		return err
	}
	live := m.live()
	var order []*word
	for _, s := range words {
		i := slices.IndexFunc(live, func(w *word) bool { return w.matches(s) })
		if i < 0 {
			return fmt.Errorf("%q (mark %q) is too much", s.text, s.mark)
		}
		if err := live[i].checkLight(s); err != nil {
			return err
		}
		order = append(order, live[i])
		live = slices.Delete(live, i, i+1)
	}
	for _, w := range live {
		if !slices.Contains(back, w) || !mayStay(w) {
			return fmt.Errorf("%q is missing (mark %q)", w.text, w.mark())
		}
		w.dead = true
	}
	at := make(map[*word]int)
	for i, w := range m.words {
		at[w] = i
	}
	for i, a := range order {
		for _, b := range order[i+1:] {
			free := slices.Contains(back, a) || slices.Contains(back, b)
			wrong := at[b] < at[a] && !free
			// Words of one write may have been in no view while others came between, or while the one was written anew.
			if a.born == b.born && a.amended == b.amended {
				wrong = b.nth < a.nth
			}
			if wrong {
				return fmt.Errorf("%q stands before %q", a.text, b.text)
			}
		}
	}
	m.reorder(order)
	return nil
}

// reorder puts the live words in a new order; the others stay behind what they stood behind.
func (m *model) reorder(order []*word) {
	behind := make(map[*word][]*word) // a live word, nil for the beginning, and what follows in no view
	var prev *word
	for _, w := range m.words {
		if w.live() {
			prev = w
		} else {
			behind[prev] = append(behind[prev], w)
		}
	}
	m.words = slices.Clone(behind[nil])
	for _, w := range order {
		m.words = append(append(m.words, w), behind[w]...)
	}
}
