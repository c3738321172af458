package decisiontest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// A mix is one note that users and agents change in random order. Agents write from versions that they read some time
// ago. Users type, cut, sort and restore lines around pending marks, in the file or in a shared document. All of them
// comment, suggestions are decided and decisions undone, processes restart and stores are compacted. Users write P1q, P2q,
// agents A3q, A4q. Each word is unique, or some are written again. So each step can state which words it may remove, and
// which words both views must show after it. After each step a process that starts now must show the same as the running one.
type mix struct {
	t     testing.TB
	r     *rand.Rand
	live  *bridgetest.Live // the shared document of the note; nil if the note is a file
	src   *bridgetest.Source
	store *bridgetest.Store
	ws    *bridge.Workspace
	stop  func()
	rel   string              // path of the file
	words int                 // number of words made so far
	again bool                // some words are written several times
	other bool                // users and agents also make the edits of otherEdit and otherText
	made  map[string][]string // words made so far, by their letter
	draws map[string]int      // how often each word was drawn
	drawn map[string]int      // words that the present step has drawn, and how often
	hands bool                // a user has written marks by hand, so single delimiters may remain as text
	seen  []*reading
	held  []scene // earlier states of the file
	log   []string
}

type kind int

const (
	plainMix kind = iota
	sameWords
	otherEdits
	structured // otherEdits of texts with quotes, tasks and emphasis
)

// reading is a version that an agent has read, and how often each word had been drawn by then.
type reading struct {
	*model.Version
	draws map[string]int
}

// scene is one state of the note: its raw text, its canonical text (marked), and its original and accepted views (o,
// a).
type scene struct {
	raw, marked, o, a string
	whole             string         // raw without the delimiters that the canonical text has not
	merged            bool           // a compaction merged the records of the state, so relayfs recognises it or not
	wholeO, wholeA    string         // o and a with the comments whose deletion, or addition as text, is pending
	inRaw, inMarked   diffwrap.Known // recorded marks in raw and in marked
}

// step describes the permitted effects of one step.
type step struct {
	what   string
	gone   map[string]int  // words that the step may remove from a view, and how often
	drawn  map[string]int  // words that the step may add to a view, and how often
	typed  []string        // words that both views must show once more
	wrote  map[string]int  // words that the accepted view must show, and how often
	tears  bool            // a user's edit may delete one of the two delimiters of a mark
	loose  map[string]bool // words that may become plain text, or appear twice
	keepsO bool
	keepsA bool
	agent  bool   // an agent writes
	is     *scene // the state that a save restores
}

var (
	mixWord = regexp.MustCompile(`[PA]\d+q`)
	// joinedWords are one word for a comparison, also with the number of a list item, and so is a tag. A change or decision
	// on the blank before a word joins it.
	joinedWords = regexp.MustCompile(`[\w\p{Latin}]+[PA]\d+q|[PA]\d+q[\w\p{Latin}]+|#[PA]\d+q`)
)

// count counts the words in a text.
func count(texts ...string) map[string]int {
	m := make(map[string]int)
	for _, s := range texts {
		for _, w := range mixWord.FindAllString(s, -1) {
			m[w]++
		}
	}
	return m
}

// among returns the set of the words in texts.
func among(texts ...string) map[string]bool {
	set := make(map[string]bool)
	for w := range count(texts...) {
		set[w] = true
	}
	return set
}

var startTexts = []string{
	"# P P\n\nP P P P\n\nP P P\n",
	"- P\n- P P\n- P\n- P\n",
	"P P\r\n\r\nP P P\r\n- P\r\n",
	"P {>>P<<} P\n\nP {==P P==} P\n",
	"P {++P++} P {--P--} P\n\n- P\n- P\n",
	"| P | P |\n|---|---|\n| P | P |\n\nP P\n",
}

var structuredTexts = []string{
	"> P P\n> P\n\n- [ ] P\n- [x] P P\n",
	"> [!note] P\n> P P\n>\n> P\n\nP\n",
	"1. P\n2. P P\n   - P\n   - P\n\nP\n",
	"P **P P** P\n\n*P* P\n",
	"P\n===\n\nP P\n----\n\nP P\n", // three hyphens that a user moves to the start would begin front matter, which refuses an undo
	"P P\tP\u00a0P\n\n日本P語P\n\nP é P\n",
}

func newMix(t testing.TB, r *rand.Rand, k kind) *mix {
	m := &mix{t: t, r: r, src: bridgetest.NewSource(t), store: bridgetest.NewMergingStore(t), rel: "Plan.md", again: k == sameWords, other: k == otherEdits || k == structured}
	m.made, m.drawn, m.draws = make(map[string][]string), make(map[string]int), make(map[string]int)
	if r.IntN(3) == 0 {
		m.live = bridgetest.NewLive(t, m.store)
		m.src = m.live.Source
	}
	texts := startTexts
	if k == structured {
		texts = structuredTexts
	}
	text := regexp.MustCompile(`\bP\b`).ReplaceAllStringFunc(randomtest.Pick(r, texts...), func(string) string { return m.word("P") })
	m.hands = strings.Contains(text, "{")
	m.src.Person(t).Save(m.rel, text)
	m.note("start %q, live %v", text, m.live != nil)
	m.start()
	return m
}

func (m *mix) note(format string, args ...any) { m.log = append(m.log, fmt.Sprintf(format, args...)) }

func (m *mix) word(letter string) string {
	w := ""
	if made := m.made[letter]; m.again && len(made) > 0 && m.r.IntN(4) == 0 {
		w = randomtest.Pick(m.r, made...)
	} else {
		m.words++
		w = fmt.Sprintf("%s%dq", letter, m.words)
		m.made[letter] = append(made, w)
	}
	m.drawn[w]++
	m.draws[w]++
	return w
}

func (m *mix) path() model.Path { return model.Path("Notes/" + m.rel) }

// process starts a workspace on the present source and store.
func (m *mix) process() *bridge.Workspace {
	folder := bridge.RootSource{Name: "Notes", Source: m.src, Store: m.store}
	if m.live != nil {
		folder.Source = m.live
	}
	ws, err := bridge.New(bridge.Options{Roots: []bridge.RootSource{folder}})
	if err == nil {
		err = ws.Start(context.Background())
	}
	m.must(err)
	return ws
}

func (m *mix) must(err error) {
	if err != nil {
		panic(err)
	}
}

func (m *mix) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	ws := m.process()
	go func() { defer close(done); ws.Run(ctx) }()
	m.ws, m.seen = ws, nil
	m.stop = func() { cancel(); <-done }
}

func (m *mix) settle() { m.must(m.src.Settle(context.Background())) }

func (m *mix) version(ws *bridge.Workspace) *model.Version {
	v, err := ws.Open(context.Background(), m.path())
	m.must(err)
	return v
}

func (m *mix) scene(ws *bridge.Workspace) scene {
	v := m.version(ws)
	s := scene{raw: v.Raw(), marked: v.Canonical(), inRaw: v.RawKnown(), inMarked: v.Known()}
	var broken []diffwrap.Span
	edits := v.CanonicalEdits()
	for i, e := range edits {
		text := s.raw[e.Off : e.Off+e.Len]
		puts := func(x diffwrap.Edit) bool { return x.New == text }
		drops := func(x diffwrap.Edit) bool { return x.New == "" && s.raw[x.Off:x.Off+x.Len] == text }
		opens := strings.HasPrefix(text, "{")
		if moved := opens && slices.ContainsFunc(edits[i:], puts) || !opens && slices.ContainsFunc(edits[:i], puts) && !slices.ContainsFunc(edits[i+1:], drops); !moved {
			broken = append(broken, diffwrap.Span{Start: e.Off, End: e.Off + e.Len})
		}
	}
	s.whole = textmerge.Without(s.raw, broken)
	s.wholeO, s.wholeA = s.inMarked.Texts(s.marked)
	s.o, s.a = wholeComment.ReplaceAllString(s.wholeO, ""), wholeComment.ReplaceAllString(s.wholeA, "")
	return s
}

func (m *mix) pending(ws *bridge.Workspace) []model.Suggestion {
	list, err := ws.Suggestions(context.Background(), "")
	m.must(err)
	return list
}

// told returns everything that a process shows about the note.
func (m *mix) told(ws *bridge.Workspace) string {
	var b strings.Builder
	s := m.scene(ws)
	fmt.Fprintf(&b, "raw %q\nmarked %q\nreaders %q\n", s.raw, s.marked, m.version(ws).Text())
	for _, s := range m.pending(ws) {
		answers := ""
		if s.PreviousRejection != nil {
			answers = s.PreviousRejection.ID
		}
		fmt.Fprintf(&b, "%s %s %q %q by %s %s %d with %q at %d-%d answers %q\n",
			s.ID, s.Kind, s.Old, s.New, s.Author, s.Session, s.Time.UnixNano(), s.Comments, s.Start, s.End, answers)
	}
	_, _, threads, err := ws.OpenMarked(context.Background(), m.path())
	m.must(err)
	for _, th := range threads {
		fmt.Fprintf(&b, "thread %s on %q answered %v:", th.ID, th.Suggestion, th.Answered)
		for _, r := range th.Entries {
			fmt.Fprintf(&b, " %q by %s %s agent %v pending %q", r.New, r.Author, r.Session, r.Agent, r.Pending)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// play makes one step and checks its effects.
func (m *mix) play(seed uint64) error {
	m.r = rand.New(rand.NewPCG(seed, 17))
	before := m.scene(m.ws)
	parts := m.inParts(before)
	clear(m.drawn)
	s, err := m.act(before)
	s.drawn = m.drawn
	m.settle()
	after := m.scene(m.ws)
	m.note("%s: %q", s.what, after.raw)
	if after.marked != after.raw {
		m.note("    that is %q", after.marked)
	}
	if err != nil {
		return err
	}
	if m.live == nil {
		if file := m.src.Person(m.t).Content(m.rel); file != after.raw {
			return fmt.Errorf("FILE: it has %q, the note %q", file, after.raw)
		}
		if i := m.heldAt(after.raw); i >= 0 {
			m.held[i] = after // a save restores the newest of the states with its text
		} else {
			m.held = append(m.held, after)
		}
	}
	if err := s.check(before, after, parts); err != nil {
		return err
	}
	if now := m.inParts(after); s.agent {
		hadO, hadA := count(before.o), count(before.a)
		joined := among(joinedWords.FindAllString(strings.Join([]string{before.o, before.a, after.o, after.a}, " "), -1)...)
		for w := range now {
			if !parts[w] && !joined[w] && s.drawn[w] == 0 && hadO[w] == 1 && hadA[w] == 1 {
				return fmt.Errorf("PARTS: %s is deleted by one suggestion and added by another: %q", w, m.waiting())
			}
		}
	}
	if m.live == nil && !m.hands && strings.ContainsAny(after.o+after.a, "{}") {
		return fmt.Errorf("LITTER: a part of a mark in a view: %q, %q", after.o, after.a)
	}
	if running, fresh := m.told(m.ws), m.told(m.process()); running != fresh {
		return fmt.Errorf("SAME: the running process says\n%sone that starts now\n%s", running, fresh)
	}
	return nil
}

// inParts returns the words that one suggestion deletes and another one adds. Separate decisions on these suggestions
// lose or double such a word. No write may split a word in this way if its agent saw the word once. An undo may do so
// if another suggestion has covered the text since, and so may a user who deletes part of a mark.
func (m *mix) inParts(now scene) map[string]bool {
	_, text, _ := now.inMarked.Layout(now.marked)
	o, a, in := count(now.o), count(now.a), make(map[string]bool)
	for _, c := range text {
		if c.Mark < 0 {
			for w, n := range count(c.Of(now.marked)) {
				o[w], a[w] = o[w]-n, a[w]-n
			}
		}
	}
	for w := range o {
		in[w] = o[w] > 0 && a[w] > 0
	}
	for _, s := range m.pending(m.ws) {
		deleted, added := shownIn(s)
		for w, n := range deleted {
			if n == o[w] && added[w] == a[w] {
				in[w] = false
			}
		}
	}
	maps.DeleteFunc(in, func(_ string, is bool) bool { return !is })
	return in
}

// shownIn counts the words in the texts of a suggestion, without those in comments.
func shownIn(s model.Suggestion) (deleted, added map[string]int) {
	return count(wholeComment.ReplaceAllString(s.Old, "")), count(wholeComment.ReplaceAllString(s.New, ""))
}

// inLiterals returns the words in users' marks that are text, because they are in code, for example. Whether such a mark
// counts depends on the text around it, so any step may change that.
func (now scene) inLiterals() map[string]bool {
	words := make(map[string]bool)
	counted := now.inMarked.MarksOf(now.marked).Offsets()
	marks, _, _ := diffwrap.Everything.Layout(now.marked)
	for _, m := range marks {
		if _, counts := slices.BinarySearch(counted, m.Start); !counts {
			maps.Copy(words, among(m.Of(now.marked)))
		}
	}
	return words
}

// keeps reports whether a view (o or a) of a later state is the same as a view of now. If not, literal marks may have
// become marks: then keeps compares the views in which all marks count.
func (now scene) keeps(view func(scene) string, later scene, is func(scene) string) bool {
	every := func(s scene) scene {
		s.o, s.a = diffwrap.Everything.Texts(s.marked)
		return s
	}
	return view(now) == is(later) || view(every(now)) == is(every(later))
}

func originalOf(s scene) string { return s.o }
func acceptedOf(s scene) string { return s.a }

// check checks the words after a step, except those that were in parts before it (inParts).
func (s *step) check(before, after scene, parts map[string]bool) error {
	if s.is != nil {
		if after.o == s.is.o && after.a == s.is.a {
			return nil
		}
		if !s.is.merged {
			return fmt.Errorf("RESTORED: views are %q and %q, want %q and %q", after.o, after.a, s.is.o, s.is.a)
		}
	}
	hadO, hadA, hasO, hasA := count(before.o), count(before.a), count(after.o), count(after.a)
	loose := before.inLiterals()
	maps.Copy(loose, after.inLiterals())
	maps.Copy(loose, s.loose)
	for w := range count(before.o, before.a) {
		if parts[w] {
			continue
		}
		if most := max(hadO[w], hadA[w]) - s.gone[w]; hasO[w]+hasA[w] == 0 && most > 0 || !loose[w] && max(hasO[w], hasA[w]) < most {
			return fmt.Errorf("LOST: %s", w)
		}
		if !loose[w] && min(hasO[w], hasA[w]) < min(hadO[w], hadA[w])-s.gone[w] {
			return fmt.Errorf("PLAIN: %s is %d times in the original view and %d times in the accepted one", w, hasO[w], hasA[w])
		}
	}
	for w := range count(after.o, after.a) {
		if most := max(1, s.drawn[w]+max(hadO[w], hadA[w])); s.gone[w] == 0 && !loose[w] && !parts[w] && (hasO[w] > most || hasA[w] > most) {
			return fmt.Errorf("TWICE: %s", w)
		}
	}
	// A user may have typed in a comment whose deletion, or addition as text, is pending.
	hadO, hadA, hasO, hasA = count(before.wholeO), count(before.wholeA), count(after.wholeO), count(after.wholeA)
	inComments := count(wholeComment.FindAllString(before.marked, -1)...) // the step may propose to delete them
	for _, w := range s.typed {
		isTyped := func(had, has int) bool {
			return has > had-s.gone[w] && (has <= had+inComments[w]+s.drawn[w] || s.gone[w] > 0)
		}
		if !isTyped(hadO[w], hasO[w]) || !isTyped(hadA[w], hasA[w]) {
			return fmt.Errorf("TYPED: %s is %d times in the original view and %d times in the accepted one", w, hasO[w], hasA[w])
		}
	}
	for w, n := range s.wrote {
		if hasA[w] < n || hasA[w] > hadA[w]+s.drawn[w] {
			return fmt.Errorf("WROTE: %s is %d times in the accepted view", w, hasA[w])
		}
	}
	if s.keepsO && !before.keeps(originalOf, after, originalOf) {
		return fmt.Errorf("ORIGINAL: the original view was %q and is %q", before.o, after.o)
	}
	if s.keepsA && !before.keeps(acceptedOf, after, acceptedOf) {
		return fmt.Errorf("ACCEPTED: the accepted view was %q and is %q", before.a, after.a)
	}
	return nil
}

func (m *mix) act(now scene) (step, error) {
	switch k := m.r.IntN(100); {
	case k < 36:
		return m.personEdits(now), nil
	case k < 62:
		return m.agentWrites(now)
	case k < 76:
		return m.decides(now)
	case k < 88:
		return m.undoes()
	case k < 91:
		return m.remarks()
	case k < 94:
		to := fmt.Sprintf("Plan%d.md", m.r.IntN(3))
		if to != m.rel {
			m.src.Person(m.t).Rename(m.rel, to)
			m.rel = to
		}
		return step{what: "renamed to " + to, keepsO: true, keepsA: true}, nil
	case k < 97 && m.live == nil:
		m.must(m.store.Checkpoint())
		for i := range m.held {
			m.held[i].merged = true
		}
		return step{what: "compacted", keepsO: true, keepsA: true}, nil
	}
	m.stop()
	m.start()
	return step{what: "restarted", keepsO: true, keepsA: true}, nil
}

// spots returns the offsets at which a word may be typed.
func spots(s string) (at []int) {
	beside := func(c byte) bool { return c == ' ' || c == '\n' }
	for i := range s {
		if i == 0 || (beside(s[i]) || beside(s[i-1])) && s[i-1] != '\r' {
			at = append(at, i)
		}
	}
	return append(at, len(s))
}

// linesOf returns the spans of the lines of a text.
func linesOf(s string) (list []diffwrap.Span) {
	at := 0
	for line := range strings.Lines(s) {
		list = append(list, diffwrap.Span{Start: at, End: at + len(line)})
		at += len(line)
	}
	return list
}

// personEdits has a user change the raw text.
func (m *mix) personEdits(now scene) step {
	if m.r.IntN(12) == 0 && m.live == nil {
		return m.restores(now)
	}
	edit := m.personEdit
	if m.other && m.r.IntN(3) == 0 {
		edit = m.otherEdit
	}
	edits, s := edit(now)
	if len(edits) == 0 || m.live != nil && now.tears(edits) || now.inPendingComment(edits) {
		return step{what: "nothing", keepsO: true, keepsA: true}
	}
	m.save(now.raw, edits)
	if i := m.heldAt(diffwrap.Apply(now.raw, edits)); i >= 0 {
		is := m.held[i]
		s.what, s.is = s.what+", so the file is as it was before", &is
	}
	breaks := slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return strings.Contains(e.New+now.raw[e.Off:e.Off+e.Len], "\n") })
	marks, _, _ := diffwrap.Everything.Layout(now.raw)
	var whole []diffwrap.Span // the marks; those that have one comment together count as one
	for _, mark := range marks {
		if n := len(whole) - 1; n >= 0 && whole[n].End == mark.Start && strings.HasSuffix(now.raw[:mark.Start-len("++}")], "{>") && strings.HasPrefix(now.raw[mark.Start+len("{++"):], ">") {
			whole[n].End = mark.End
		} else {
			whole = append(whole, mark.Span)
		}
	}
	inWhole, _, _ := diffwrap.Everything.Layout(now.whole) // a broken delimiter ends no mark
	for _, mark := range inWhole {
		whole = append(whole, mark.Span)
	}
	s.loose = make(map[string]bool)
	canonical, _, _ := now.inMarked.Layout(now.marked)
	for _, mark := range canonical { // a delimiter of the mark is at another place in the file, and may be torn off there
		if text := mark.Of(now.marked); s.tears && !strings.Contains(now.raw, text) {
			maps.Copy(s.loose, among(text))
		}
	}
	for _, mark := range whole {
		// A user's own mark of several lines is text if it begins or ends inside a block, so it depends on the text beside it.
		// In a shared document a mark that is moved is typed again: it is the user's with all the text in it, also with text
		// that users had typed in an agent's mark.
		text := mark.Of(now.raw)
		retyped := m.live != nil && slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return strings.Contains(e.New, text) })
		if lines := strings.Contains(text, "\n"); retyped || s.tears && lines || (breaks || lines) && !m.isAgents(text) {
			maps.Copy(s.loose, among(text))
			for _, e := range edits {
				if mark.Start < e.Off && e.Off < mark.End { // the text is moved into the mark
					maps.Copy(s.loose, among(e.New))
				}
			}
		}
	}
	return s
}

// heldAt returns the index in m.held of the state with the given text, or -1.
func (m *mix) heldAt(raw string) int {
	return slices.IndexFunc(m.held, func(x scene) bool { return x.raw == raw })
}

// inPendingComment reports whether edits change a comment whose deletion, or addition as text, is pending. If that is
// accepted and undone, the comment with the user's words is the user's.
func (now scene) inPendingComment(edits []diffwrap.Edit) bool {
	marks, _, _ := now.inRaw.Layout(now.raw)
	return slices.ContainsFunc(marks, func(m diffwrap.Mark) bool {
		opened := strings.HasSuffix(now.raw[:m.Start-min(m.Start, len("++}"))], "{>") && strings.HasPrefix(now.raw[m.Start+len("{++"):], ">")
		return (m.Comment || opened) && slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return e.Off < m.End && m.Start < e.Off+max(e.Len, 1) })
	})
}

// tears reports whether edits delete only one of the delimiters of a mark, or put a delimiter into a mark. In a shared
// document relayfs does not detect that.
func (now scene) tears(edits []diffwrap.Edit) bool {
	marks, _, _ := now.inRaw.Layout(now.raw)
	cuts := func(s diffwrap.Span) bool {
		return slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return e.Off < s.End && s.Start < e.Off+e.Len })
	}
	return slices.ContainsFunc(marks, func(m diffwrap.Mark) bool {
		return slices.ContainsFunc(edits, func(e diffwrap.Edit) bool {
			return m.Start < e.Off && e.Off < m.End && strings.ContainsAny(e.New, "{}")
		}) || cuts(diffwrap.Span{Start: m.Start, End: m.Start + 3}) != cuts(diffwrap.Span{Start: m.End - 3, End: m.End})
	})
}

// restores has a user save an earlier text of the file, or delete a line and put it back.
func (m *mix) restores(now scene) step {
	lines := linesOf(now.raw)
	if m.r.IntN(2) == 0 && len(lines) > 0 {
		line := lines[m.r.IntN(len(lines))]
		m.src.Person(m.t).Save(m.rel, now.raw[:line.Start]+now.raw[line.End:])
		m.settle()
		m.src.Person(m.t).Save(m.rel, now.raw)
		return step{what: fmt.Sprintf("a person cuts and pastes %q", line.Of(now.raw)), is: &now}
	}
	held := slices.DeleteFunc(slices.Clone(m.held), func(x scene) bool { return x.merged })
	if len(held) == 0 {
		return step{what: "nothing", keepsO: true, keepsA: true}
	}
	is := held[m.r.IntN(len(held))]
	m.src.Person(m.t).Save(m.rel, is.raw)
	return step{what: "a person restores the file", is: &is}
}

// personEdit returns a user's change of the raw text, as edits in the order of their offsets.
func (m *mix) personEdit(now scene) ([]diffwrap.Edit, step) {
	r, raw := m.r, now.raw
	put := func(at int, text string) []diffwrap.Edit { return []diffwrap.Edit{{Off: at, New: text}} }
	cut := func(s diffwrap.Span) []diffwrap.Edit { return []diffwrap.Edit{{Off: s.Start, Len: s.Len()}} }
	lines := linesOf(raw)
	words := mixWord.FindAllStringIndex(raw, -1)
	marks, _, _ := now.inRaw.Layout(raw)
	marks = slices.DeleteFunc(marks, func(m diffwrap.Mark) bool { return m.Comment })
	w := m.word("P")
	switch k := r.IntN(20); {
	case k < 6: // types
		at := randomtest.Pick(r, spots(raw)...)
		text := randomtest.Pick(r, " "+w+" ", " "+w+" ", "\n"+w+"\n", " "+w+" 🙂 ", " "+w+"\n")
		if now.inComment(at) {
			return put(at, strings.Trim(text, "\n")), step{what: "a person writes in a comment"}
		}
		return put(at, text), step{what: "a person types " + w, typed: m.unlessMarked(now, at, w)}
	case k < 8 && len(lines) > 0: // types a line
		at := randomtest.Pick(r, lines...).Start
		form := randomtest.Pick(r, "- %s\n", "%s\n", "%s\n\n")
		if now.inComment(at) {
			return nil, step{}
		}
		return put(at, fmt.Sprintf(form, w)), step{what: "a person types a line with " + w, typed: m.unlessMarked(now, at, w)}
	case k < 10 && len(words) > 0: // deletes a word
		at := randomtest.Pick(r, words...)
		s := diffwrap.Span{Start: at[0], End: at[1]}
		if s.Start > 0 && raw[s.Start-1] == raw[s.End-1] || s.End < len(raw) && raw[s.Start] == raw[s.End] {
			return nil, step{} // in joined words the text does not show which letters were deleted
		}
		return cut(s), step{what: "a person deletes " + s.Of(raw), gone: count(s.Of(raw))}
	case k < 12 && len(lines) > 0: // deletes a line
		s := randomtest.Pick(r, lines...)
		return cut(s), step{what: fmt.Sprintf("a person deletes the line %q", s.Of(raw)), gone: count(s.Of(raw)), tears: true}
	case k < 13 && len(lines) > 1: // moves a line
		s, to := randomtest.Pick(r, lines...), randomtest.Pick(r, lines...).Start
		edits := append(cut(s), put(to, strings.TrimSuffix(s.Of(raw), "\n")+"\n")...)
		if to >= s.Start && to <= s.End || now.inComment(s.Start) || now.inComment(to) {
			return nil, step{}
		}
		slices.SortStableFunc(edits, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
		return edits, step{what: fmt.Sprintf("a person moves the line %q", s.Of(raw)), tears: true}
	case k < 14 && m.live == nil: // sorts the lines
		sorted := strings.SplitAfter(raw, "\n")
		slices.Sort(sorted)
		text := strings.Join(sorted, "")
		if text == raw || strings.Contains(raw, "{>>") {
			return nil, step{}
		}
		return []diffwrap.Edit{{Len: len(raw), New: text}}, step{what: "a person sorts the lines", tears: true}
	case k < 15: // joins two lines, or breaks one
		from, to := "\n", " "
		if r.IntN(2) == 0 {
			from, to = to, from
		}
		var at []int // those that stand alone
		for i := 1; i+1 < len(raw); i++ {
			if raw[i] == from[0] && raw[i-1] != from[0] && raw[i+1] != from[0] && raw[i-1] != '\r' {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			return nil, step{}
		}
		i := randomtest.Pick(r, at...)
		if now.inComment(i) {
			return nil, step{}
		}
		return []diffwrap.Edit{{Off: i, Len: 1, New: to}}, step{what: fmt.Sprintf("a person makes %q of %q at %d", to, from, i)}
	case k < 17 && len(marks) > 0: // deletes delimiters of a mark
		if o, a := now.inRaw.Texts(raw); strings.ContainsAny(o+a, "{}") {
			return nil, step{} // a broken delimiter may be taken for one of the mark
		}
		mark := randomtest.Pick(r, marks...)
		open, close := diffwrap.Span{Start: mark.Start, End: mark.Start + 3}, diffwrap.Span{Start: mark.End - 3, End: mark.End}
		s := step{gone: count(mark.Of(raw))}
		ways := 4
		if !m.isAgents(mark.Of(raw)) {
			ways = 2 // a single delimiter of a user's own mark would be text
		}
		switch r.IntN(ways) {
		case 0:
			s.what = fmt.Sprintf("a person deletes the mark %q", mark.Of(raw))
			return cut(mark.Span), s
		case 2:
			s.what = fmt.Sprintf("a person deletes the opener of %q", mark.Of(raw))
			return cut(open), s
		case 3:
			s.what = fmt.Sprintf("a person deletes the closer of %q", mark.Of(raw))
			return cut(close), s
		}
		s.what = fmt.Sprintf("a person takes the delimiters of %q away", mark.Of(raw))
		return append(cut(open), cut(close)...), s
	case k < 19: // marks by hand
		form := randomtest.Pick(r, "{++%s++}", "{>>%s<<}", "{--%s--}", "{==%s==}", "{~~%s~>"+m.word("P")+"~~}")
		plain := slices.DeleteFunc(words, func(at []int) bool { return !now.isPlain(at[0]) })
		if strings.HasPrefix(form, "{+") || strings.HasPrefix(form, "{>") {
			at := randomtest.Pick(r, spots(raw)...)
			if !now.isPlain(at) {
				return nil, step{}
			}
			m.hands = true
			return put(at, fmt.Sprintf(form, w)), step{what: "a person writes " + fmt.Sprintf(form, w)}
		}
		if len(plain) == 0 {
			return nil, step{}
		}
		at := randomtest.Pick(r, plain...)
		m.hands = true
		if form[1] == '=' && strings.Contains(raw, "{==") {
			return nil, step{} // highlights do not nest
		}
		if !strings.Contains(now.a, raw[at[0]:at[1]]) {
			return nil, step{} // nor do marks: a moved closer has made text of an agent's mark look plain
		}
		before, after, _ := strings.Cut(form, "%s")
		return append(put(at[0], before), put(at[1], after)...), step{what: "a person writes " + form, gone: count(raw[at[0]:at[1]])}
	}
	comments := now.inRaw.Comments(raw) // rewords a comment
	if len(comments) == 0 {
		return nil, step{}
	}
	c := randomtest.Pick(r, comments...)
	return put(c.End-len("<<}"), " "+w), step{what: fmt.Sprintf("a person writes %s in the comment %q", w, c.New)}
}

// otherEdit returns a change of the raw text that is more than one of personEdit.
func (m *mix) otherEdit(now scene) ([]diffwrap.Edit, step) {
	r, raw := m.r, now.raw
	lines := linesOf(raw)
	words := mixWord.FindAllStringIndex(raw, -1)
	words = slices.DeleteFunc(words, func(at []int) bool { return now.inComment(at[0]) })
	if len(lines) == 0 || len(words) == 0 {
		return nil, step{}
	}
	i := r.IntN(len(words))
	word := diffwrap.Span{Start: words[i][0], End: words[i][1]}
	line := randomtest.Pick(r, lines...)
	switch r.IntN(6) {
	case 0: // deletes from one word to another, across delimiters
		end := words[min(len(words)-1, i+1+r.IntN(3))][1]
		s := diffwrap.Span{Start: word.Start, End: end}
		if strings.Contains(s.Of(raw), "{>>") || strings.Contains(s.Of(raw), "<<}") {
			return nil, step{}
		}
		gone := s
		marks, _, _ := now.inRaw.Layout(raw)
		for _, mark := range marks {
			if mark.Start < s.End && s.Start < mark.End { // the mark may lose a delimiter
				gone.Start, gone.End = min(gone.Start, mark.Start), max(gone.End, mark.End)
				if (mark.Start < s.Start || s.End < mark.End) && !m.isAgents(mark.Of(raw)) {
					return nil, step{} // a single delimiter of a user's own mark would be text
				}
			}
		}
		return []diffwrap.Edit{{Off: s.Start, Len: s.Len()}}, step{what: fmt.Sprintf("a person deletes %q", s.Of(raw)), gone: count(gone.Of(raw)), tears: true}
	case 1: // changes all bullets
		var edits []diffwrap.Edit
		for _, l := range lines {
			if strings.HasPrefix(l.Of(raw), "- ") && !now.inComment(l.Start) {
				edits = append(edits, diffwrap.Edit{Off: l.Start, Len: 1, New: "*"})
			}
		}
		return edits, step{what: "a person changes the bullets"}
	case 2: // indents a line, or makes an item of it
		if now.inComment(line.Start) {
			return nil, step{}
		}
		in := randomtest.Pick(r, "  ", "- ", "> ", "## ")
		return []diffwrap.Edit{{Off: line.Start, New: in}}, step{what: fmt.Sprintf("a person puts %q before %q", in, line.Of(raw))}
	case 3: // swaps two neighbouring plain words
		if i+1 >= len(words) {
			return nil, step{}
		}
		next := diffwrap.Span{Start: words[i+1][0], End: words[i+1][1]}
		if !now.isPlain(word.Start+1) || raw[word.End:next.Start] != " " {
			return nil, step{}
		}
		joined := func(at []int) bool { return at[0] < next.End && word.Start < at[1] }
		if slices.ContainsFunc(joinedWords.FindAllStringIndex(raw, -1), joined) {
			return nil, step{} // of P1q P2qP3q and P2q P1qP3q the text does not show whether the word or its letter was moved
		}
		return []diffwrap.Edit{{Off: word.Start, Len: next.End - word.Start, New: next.Of(raw) + " " + word.Of(raw)}},
			step{what: fmt.Sprintf("a person swaps %s and %s", word.Of(raw), next.Of(raw))}
	case 4: // moves two lines
		if len(lines) < 3 {
			return nil, step{}
		}
		k := r.IntN(len(lines) - 1)
		block, to := diffwrap.Span{Start: lines[k].Start, End: lines[k+1].End}, randomtest.Pick(r, lines...).Start
		if to >= block.Start && to <= block.End || now.inComment(block.Start) || now.inComment(to) {
			return nil, step{}
		}
		edits := []diffwrap.Edit{{Off: block.Start, Len: block.Len()}, {Off: to, New: strings.TrimSuffix(block.Of(raw), "\n") + "\n"}}
		slices.SortStableFunc(edits, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
		return edits, step{what: fmt.Sprintf("a person moves the lines %q", block.Of(raw)), tears: true}
	}
	// types in several places
	var edits []diffwrap.Edit
	s := step{what: "a person types in several places"}
	last := -1
	for _, at := range spots(raw) {
		if r.IntN(4) == 0 && at > last+1 && !now.inComment(at) {
			w := m.word("P")
			edits = append(edits, diffwrap.Edit{Off: at, New: " " + w + " "})
			s.typed = append(s.typed, m.unlessMarked(now, at, w)...)
			last = at
		}
	}
	return edits, s
}

func (now scene) inComment(at int) bool {
	return slices.ContainsFunc(now.inRaw.Comments(now.raw), func(c diffwrap.Suggestion) bool { return c.Start < at && at < c.End })
}

// isPlain reports whether an offset is inside text that has no mark around it or next to it. A mark that a broken delimiter
// seems to end has all text up to its own closer: what a user writes there by hand is a mark in a mark.
func (now scene) isPlain(at int) bool {
	_, text, _ := now.inRaw.Layout(now.raw)
	_, whole, _ := diffwrap.Everything.Layout(now.whole)
	plain := func(c diffwrap.Content) bool { return c.Mark < 0 && c.Start < at && at < c.End }
	return slices.ContainsFunc(text, plain) && slices.ContainsFunc(whole, plain)
}

// unlessMarked returns the word that is typed at an offset, or nothing if the offset is in a comment or in a mark that
// a user may have written. Such a mark may be text, and the word may make it a mark.
func (m *mix) unlessMarked(now scene, at int, word string) []string {
	marks, _, _ := now.inRaw.Layout(now.raw)
	literal, _, _ := diffwrap.Everything.Layout(now.whole)
	marks = append(marks, literal...)
	i := slices.IndexFunc(marks, func(mark diffwrap.Mark) bool { return mark.Start < at && at < mark.End })
	if i < 0 {
		return []string{word}
	}
	if marks[i].Comment {
		return nil // it may be in the comment then
	}
	if m.isAgents(marks[i].Of(now.raw)) {
		return []string{word}
	}
	return nil
}

// isAgents reports whether a mark certainly belongs to an agent's suggestion. It recognises the mark by a word that no
// user's suggestion has.
func (m *mix) isAgents(mark string) bool {
	agents, users := make(map[string]bool), make(map[string]bool)
	for _, s := range m.pending(m.ws) {
		words, text := users, s.New
		if s.Author == "ann" || s.Author == "bob" {
			words = agents
		}
		if strings.HasPrefix(mark, "{--") {
			text = s.Old
		}
		maps.Copy(words, among(text))
	}
	for w := range among(mark) {
		if agents[w] && !users[w] && m.draws[w] < 2 && !strings.HasPrefix(mark, "{~~") {
			return true
		}
	}
	return false
}

// save applies a user's edits of raw to the file, or to the shared document.
func (m *mix) save(raw string, edits []diffwrap.Edit) {
	if m.live == nil {
		m.src.Person(m.t).Save(m.rel, diffwrap.Apply(raw, edits))
		return
	}
	m.must(m.live.Peer(m.rel, func(doc *ycrdt.Doc) {
		text := doc.Text("contents")
		doc.Transact(func(tx *ycrdt.Txn) {
			for _, e := range slices.Backward(edits) {
				pos := len(utf16.Encode([]rune(raw[:e.Off])))
				if e.Len > 0 {
					text.Delete(tx, pos, len(utf16.Encode([]rune(raw[e.Off:e.Off+e.Len]))))
				}
				if e.New != "" {
					text.Insert(tx, pos, e.New)
				}
			}
		})
	}))
}

// agentWrites has an agent write. Sometimes the agent writes from an old version, or a user saves at the same time.
func (m *mix) agentWrites(now scene) (step, error) {
	author := model.Author{Name: randomtest.Pick(m.r, "ann", "bob"), Session: randomtest.Pick(m.r, "s", "t")}
	newest := &reading{m.version(m.ws), maps.Clone(m.draws)}
	base := newest
	m.seen = append(m.seen, newest)
	if n := len(m.seen); n > 1 && m.r.IntN(3) == 0 {
		base = m.seen[max(0, n-1-m.r.IntN(4))]
	}
	text := ""
	if m.other && m.r.IntN(3) == 0 { // from the newest text: if two agents move one line, each moves a copy
		base = newest
		text = m.otherText(base.Text())
	} else {
		text = m.agentText(base.Text())
	}
	old, has := count(base.Text()), count(text)
	s := step{what: fmt.Sprintf("%s %s writes %q", author.Name, author.Session, text), gone: make(map[string]int), wrote: make(map[string]int), keepsO: true, agent: true}
	stale := base.Version != newest.Version
	if stale {
		s.what += fmt.Sprintf(" on %q", base.Text())
	}
	for w, n := range old {
		// The note may no longer have the occurrence that the agent keeps, or one of several that it saw, which it copies.
		if s.gone[w] = max(0, n-has[w]); n > 1 && count(now.a)[w] < n {
			s.gone[w] = n
		}
	}
	if stale && m.again {
		// A line that the agent writes anew may keep a word that is gone since, or whose addition has been rejected.
		// Equal words that were drawn since the agent read the text are not those that it keeps.
		for w, n := range old {
			left := max(0, count(now.a)[w]-(newest.draws[w]-base.draws[w]))
			m.drawn[w] += max(0, min(n, has[w])-left)
		}
		for _, x := range base.Suggestions() {
			for w, n := range count(x.New) {
				m.drawn[w] += n
			}
		}
		// If the agent moves a word that somebody else has moved since, each moves a copy.
		moves, _ := diffwrap.Options{}.Put(base.Text(), text) // if it is refused, so is the write
		for _, e := range moves.Edits {
			for w, n := range count(e.New) {
				if old[w] > 0 {
					m.drawn[w] += n
				}
			}
		}
		for _, x := range m.pending(m.ws) {
			deleted, added := shownIn(x)
			for w := range added {
				if deleted[w] > 0 && old[w] > 0 {
					m.drawn[w]++
				}
			}
		}
	}
	outside := wholeComment.ReplaceAllString(text, "")
	for w, n := range count(outside) {
		if n -= old[w]; n > 0 && !stale {
			s.wrote[w] = count(now.a)[w] + n
		} else if n > 0 {
			s.wrote[w] = 1
		}
	}
	if m.r.IntN(6) == 0 {
		w := m.word("P")
		if at := randomtest.Pick(m.r, spots(now.raw)...); !now.inComment(at) && !now.inPendingComment([]diffwrap.Edit{{Off: at}}) {
			s.what += " while a person types " + w
			s.typed, s.keepsO = m.unlessMarked(now, at, w), false
			stale = true
			m.save(now.raw, []diffwrap.Edit{{Off: at, New: " " + w + " "}})
			// The write may be first, and change only which text is pending: then two states have the text.
			m.held = slices.DeleteFunc(m.held, func(x scene) bool { return x.raw == now.raw })
		}
	}
	if stale { // a user may have parted joined words: then they stay, and the agent moves a copy
		s.loose = among(joinedWords.FindAllString(base.Text(), -1)...)
	}
	_, err := m.ws.Write(context.Background(), m.path(), bridge.Write{Base: base.Version, Text: text, By: author})
	if errors.Is(err, model.ErrRefused) {
		s.what += ", which is refused"
		s.wrote, err = nil, nil
	}
	return s, err
}

// wordsOutside splits a text into words. It does not split comments.
func wordsOutside(text string) []string {
	text = wholeComment.ReplaceAllStringFunc(text, func(c string) string { return strings.ReplaceAll(c, " ", "\x00") })
	words := strings.Split(text, " ")
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "\x00", " ")
	}
	return words
}

// agentText returns an agent's change of a text.
func (m *mix) agentText(text string) string {
	r := m.r
	words, lines := wordsOutside(text), strings.Split(text, "\n")
	i, j := r.IntN(len(words)), r.IntN(len(lines))
	a := m.word("A")
	switch r.IntN(11) {
	case 0:
		words = slices.Delete(words, i, min(len(words), i+1+r.IntN(3)))
	case 1, 2:
		words[i] = a
	case 3, 4:
		words = slices.Insert(words, i, a)
	case 5:
		lines = slices.Delete(lines, j, j+1)
	case 6:
		lines = slices.Insert(lines, j, a+" line"+a[1:])
	case 7:
		lines = slices.Insert(lines, j, "- "+a+" "+m.word("A"))
	case 8:
		return strings.TrimRight(text, "\r\n") + "\n\n" + a + " " + m.word("A") + "\n"
	case 9: // comments, or rewords a comment
		if c := wholeComment.FindAllStringIndex(text, -1); len(c) > 0 && r.IntN(2) == 0 {
			at := randomtest.Pick(r, c...)[1] - len("<<}")
			return text[:at] + " " + a + text[at:]
		}
		at := randomtest.Pick(r, spots(text)...)
		if slices.ContainsFunc(wholeComment.FindAllStringIndex(text, -1), func(c []int) bool { return c[0] < at && at < c[1] }) {
			return text
		}
		return text[:at] + "{>>" + a + "<<}" + text[at:]
	case 10: // rewrites a paragraph around some of its words
		parts := strings.Split(text, "\n\n")
		k := r.IntN(len(parts))
		var out []string
		for _, w := range wordsOutside(parts[k]) {
			switch r.IntN(4) {
			case 0:
				out = append(out, m.word("A"))
			case 1:
				out = append(out, w, m.word("A"))
			default:
				out = append(out, w)
			}
		}
		parts[k] = strings.Join(out, " ")
		return strings.Join(parts, "\n\n")
	}
	if joined := strings.Join(lines, "\n"); joined != text {
		return joined
	}
	return strings.Join(words, " ")
}

// otherText returns a change of a text that is more than one of agentText.
func (m *mix) otherText(text string) string {
	r := m.r
	lines := strings.Split(text, "\n")
	i, j := r.IntN(len(lines)), r.IntN(len(lines))
	switch r.IntN(7) {
	case 0: // moves a line
		line := lines[i]
		return strings.Join(slices.Insert(slices.Delete(lines, i, i+1), min(j, len(lines)-1), line), "\n")
	case 1: // sorts the lines
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	case 2: // changes the bullets
		for k, line := range lines {
			if strings.HasPrefix(line, "- ") {
				lines[k] = "*" + line[1:]
			}
		}
		return strings.Join(lines, "\n")
	case 3: // joins a line with the next
		if i+1 < len(lines) {
			return strings.Join(slices.Concat(lines[:i], []string{strings.TrimSuffix(lines[i], "\r") + " " + lines[i+1]}, lines[i+2:]), "\n")
		}
	case 4: // deletes a comment
		if c := wholeComment.FindAllStringIndex(text, -1); len(c) > 0 {
			at := randomtest.Pick(r, c...)
			return text[:at[0]] + text[at[1]:]
		}
	case 5: // goes back to a text that it read earlier
		former := randomtest.Pick(r, m.seen...).Text()
		for w, n := range count(former) {
			m.drawn[w] += max(0, n-count(text)[w])
		}
		return former
	}
	words := wordsOutside(text) // swaps two words, maybe with line breaks in them
	if k := r.IntN(len(words)); k+1 < len(words) {
		words[k], words[k+1] = words[k+1], words[k]
	}
	return strings.Join(words, " ")
}

// decides decides on some suggestions, or amends one.
func (m *mix) decides(now scene) (step, error) {
	list := m.pending(m.ws)
	if len(list) == 0 {
		return step{what: "nothing to decide", keepsO: true, keepsA: true}, nil
	}
	m.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	n := 1
	if m.r.IntN(3) == 0 {
		n += m.r.IntN(len(list))
	}
	s := step{gone: make(map[string]int)}
	var ids []string
	for _, x := range list[:n] {
		ids = append(ids, x.ID)
		deleted, added := shownIn(x)
		on := count(slices.Concat(x.Comments, wholeComment.FindAllString(x.Old, -1), wholeComment.FindAllString(x.New, -1))...)
		for w := range count(append(slices.Clone(x.Comments), x.Old, x.New)...) {
			s.gone[w] += max(deleted[w], added[w]) - min(deleted[w], added[w]) + on[w]
		}
	}
	x := list[0]
	if n == 1 && x.New != "" && x.Parts == nil && x.Kind != diffwrap.Comment && m.r.IntN(5) == 0 {
		at := randomtest.Pick(m.r, spots(x.New)...)
		w := m.word("P")
		text := x.New[:at] + " " + w + " " + x.New[at:]
		s.what = fmt.Sprintf("amends %q to %q", x.New, text)
		out, err := m.ws.Amend(context.Background(), x.ID, text, person)
		if outside := wholeComment.ReplaceAllString(text, ""); len(out.Failed) == 0 && count(outside)[w] > count(wholeComment.ReplaceAllString(x.New, ""))[w] {
			s.typed = []string{w}
		}
		return s, err
	}
	verdict := randomtest.Pick(m.r, model.Accepted, model.Rejected)
	s.keepsA, s.keepsO = verdict == model.Accepted, verdict == model.Rejected
	out, err := m.ws.Decide(context.Background(), ids, verdict, person)
	s.what = fmt.Sprintf("%s %v", verdict, ids)
	if err == nil && (len(out.Failed) > 0 || len(out.Missing) > 0) {
		err = fmt.Errorf("DECIDE: %v %v", out.Failed, out.Missing)
	}
	return s, err
}

// undoable returns the user's decisions in the journal that are not undone, newest first.
func (m *mix) undoable() (list []model.JournalEntry) {
	all, err := m.ws.Journal(1000)
	m.must(err)
	undos := model.UndosOf(all)
	for _, e := range all {
		if left, ok := undos.Undoable(e); ok && len(left) > 0 && !e.Withdrawn() {
			list = append(list, e)
		}
	}
	return list
}

func (m *mix) undoes() (step, error) {
	can := m.undoable()
	if len(can) == 0 {
		return step{what: "nothing to undo", keepsO: true, keepsA: true}, nil
	}
	e := can[m.r.IntN(min(len(can), 6))]
	s := step{gone: make(map[string]int)}
	var ids []string
	for _, x := range e.Decision.Items {
		instead := ""
		if x.ReplacedBy != nil {
			instead = *x.ReplacedBy
		}
		for w, n := range count(append(slices.Clone(x.Comments), x.Old, x.New, instead)...) {
			s.gone[w] += n
		}
		if len(e.Decision.Items) > 1 && m.r.IntN(3) == 0 {
			ids = append(ids, x.ID)
		}
	}
	out, err := m.ws.Undo(context.Background(), e.BatchOf(), person, ids...)
	if errors.Is(err, bridge.ErrNothingToUndo) { // these items are already undone
		err = nil
	}
	s.what = fmt.Sprintf("undo of %s %s %v: %v away %v", e.Decision.Verdict, e.BatchOf(), ids, out.Failed, out.Unrestored)
	return s, err
}

// remarks has a user comment on a suggestion, or resolve a thread.
func (m *mix) remarks() (step, error) {
	_, list, threads, err := m.ws.OpenMarked(context.Background(), m.path())
	m.must(err)
	if len(threads) > 0 && m.r.IntN(2) == 0 {
		_, err = m.ws.ResolveThreads(context.Background(), []string{randomtest.Pick(m.r, threads...).ID}, person)
		return step{what: fmt.Sprintf("resolves a thread: %v", err), keepsO: true, keepsA: true}, nil
	}
	list = slices.DeleteFunc(list, func(s model.Suggestion) bool { return s.Kind == diffwrap.Comment })
	if len(list) == 0 {
		return step{what: "nothing to comment on", keepsO: true, keepsA: true}, nil
	}
	on := randomtest.Pick(m.r, list...).ID
	_, err = m.ws.Comment(context.Background(), bridge.CommentAnchor{Path: m.path(), Suggestion: on}, m.word("P"), person)
	return step{what: fmt.Sprintf("comments on %s: %v", on, err), keepsO: true, keepsA: true}, nil
}

// ends decides on everything that is pending, in several ways, and undoes it each time.
func (m *mix) ends(seed uint64) error {
	m.r = rand.New(rand.NewPCG(seed, 18))
	for _, accepted := range []int{0, 100, 50, 50} { // per cent
		if err := m.decidesAll(accepted); err != nil {
			return fmt.Errorf("with %d of a hundred accepted: %w", accepted, err)
		}
	}
	return m.isWhole()
}

// isWhole checks that the document keeps the characters of all its states: Yjs replaces each half of a character by
// U+FFFD if text is inserted between the halves, also if they are deleted.
func (m *mix) isWhole() error {
	id, err := m.store.DocID(model.Path(m.rel))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	m.must(err)
	h, err := m.store.Load(id)
	m.must(err)
	var updates [][]byte
	for _, rec := range h.Records {
		updates = append(updates, rec.Update)
	}
	merged, err := ycrdt.MergeUpdates(updates...)
	m.must(err)
	undeleted, err := ycrdt.WithDeletesOf(merged, ycrdt.JoinSnapshots())
	m.must(err)
	doc := ycrdt.NewDoc(ycrdt.Options{})
	m.must(doc.ApplyUpdate(undeleted))
	if text := doc.Text(model.ContentsName).String(); strings.Contains(text, "\uFFFD") {
		return fmt.Errorf("CUT: all text that the document ever had is %q", text)
	}
	return nil
}

func (m *mix) decidesAll(accepted int) error {
	before, list := m.scene(m.ws), m.withText()
	waiting, parts := m.waiting(), m.inParts(before)
	var batches []string
	onComment := make(map[string]int)
	m.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for i, s := range list {
		verdict := model.Rejected
		if m.r.IntN(100) < accepted {
			verdict = model.Accepted
		}
		if s.Kind == diffwrap.Comment && !slices.ContainsFunc(m.pending(m.ws), func(x model.Suggestion) bool { return x.ID == s.ID }) {
			continue // it was removed together with the text that it comments on
		}
		out, err := m.ws.Decide(context.Background(), []string{s.ID}, verdict, person)
		m.note("%s %s %q -> %q: %q", verdict, s.ID, s.Old, s.New, m.scene(m.ws).raw)
		if err != nil || len(out.Failed)+len(out.Missing) > 0 {
			return fmt.Errorf("END: decision %d: %v %v %v", i, err, out.Failed, out.Missing)
		}
		batches = append(batches, out.Batch)
		if s.Kind == diffwrap.Comment || strings.Contains(s.Old+s.New, "<<}") {
			onComment[out.Batch] = len(list) - i // the newest of them is undone first
		}
	}
	after := m.scene(m.ws)
	hadO, hadA, has := count(before.o), count(before.a), count(after.a)
	maps.Copy(parts, before.inLiterals())
	maps.Copy(parts, after.inLiterals())
	for w := range count(before.o, before.a) {
		switch {
		case parts[w]:
		case has[w] > max(1, hadO[w], hadA[w]):
			return fmt.Errorf("END TWICE: %s", w)
		case has[w] < min(hadO[w], hadA[w]):
			return fmt.Errorf("END PLAIN: %s is there %d times", w, has[w])
		}
	}
	if accepted == 0 && !before.keeps(originalOf, after, acceptedOf) || accepted == 100 && !before.keeps(acceptedOf, after, acceptedOf) {
		return fmt.Errorf("END VIEW: the text is %q, the views were %q and %q", after.a, before.o, before.a)
	}
	// A decision on a comment cannot be undone while the suggestion of the comment, and so the comment, is gone. A later
	// decision on another comment may have removed it.
	m.r.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
	slices.SortStableFunc(batches, func(a, b string) int { return cmp.Compare(onComment[a], onComment[b]) })
	for _, b := range batches {
		out, err := m.ws.Undo(context.Background(), b, person)
		m.note("undo of %s: %v %v: %q", b, out.Failed, out.Unrestored, m.scene(m.ws).raw)
		if err != nil || len(out.Failed)+len(out.Unrestored) > 0 {
			return fmt.Errorf("END UNDO: %v %v %v", err, out.Failed, out.Unrestored)
		}
	}
	back := m.scene(m.ws)
	if back.o != before.o || back.a != before.a {
		return fmt.Errorf("END BACK: the views are %q and %q, want %q and %q", back.o, back.a, before.o, before.a)
	}
	if got := m.waiting(); !slices.Equal(got, waiting) {
		return fmt.Errorf("END LIST: waiting is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(waiting, "\n"))
	}
	return nil
}

// withText returns the pending suggestions except those that a user has emptied: they have no characters that an undo
// could make pending again after a decision on the mark beside them.
func (m *mix) withText() []model.Suggestion {
	return slices.DeleteFunc(m.pending(m.ws), func(s model.Suggestion) bool { return s.Old+s.New == "" })
}

// waiting lists what is pending, independent of the places and forms of the marks.
func (m *mix) waiting() (list []string) {
	for _, s := range m.withText() {
		list = append(list, fmt.Sprintf("%s %q %q by %s %s", s.ID, s.Old, s.New, s.Author, s.Session))
	}
	slices.Sort(list)
	return list
}

// playMix runs a sequence. Its error includes the log of the steps.
func playMix(t testing.TB, k kind, start uint64, steps []uint64, end uint64) (err error) {
	m := newMix(t, rand.New(rand.NewPCG(start, 3)), k)
	defer func() {
		if p := recover(); p != nil {
			buf := make([]byte, 4096)
			err = fmt.Errorf("PANIC: %v\n%s", p, buf[:runtime.Stack(buf, false)])
		}
		m.stop()
		if err != nil {
			err = fmt.Errorf("%w\n\t%s", err, strings.Join(m.log, "\n\t"))
		}
	}()
	for _, s := range steps {
		if err := m.play(s); err != nil {
			return err
		}
	}
	return m.ends(end)
}

// drawMix draws a sequence. A step of 0 is left out, so that a shrunk case can have fewer steps.
func drawMix(r *rand.Rand, n int) (start uint64, steps []uint64, end uint64) {
	start = r.Uint64()
	for range n {
		if seed := r.IntN(1e12); seed > 0 {
			steps = append(steps, uint64(seed))
		}
	}
	return start, steps, r.Uint64()
}

// TestMain lets the heap grow further between collections, which took a third of the CPU time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

func TestMixesLoseAndDoubleNoWord(t *testing.T) { checkMixes(t, 100, plainMix) }

func TestMixesOfTheSameWords(t *testing.T) { checkMixes(t, 30, sameWords) }

func TestMixesOfOtherEdits(t *testing.T) { checkMixes(t, 30, otherEdits) }

func TestMixesOfStructuredTexts(t *testing.T) { checkMixes(t, 30, structured) }

func checkMixes(t *testing.T, rounds int, k kind) {
	randomtest.CheckFrom(t, 20000, rounds, playsMix(k))
}

// TestMixesThatFailed runs sequences that failed in the past.
func TestMixesThatFailed(t *testing.T) {
	for k, seeds := range map[kind][]string{
		plainMix:   {"804005862", "90194", "1000410", "865547852182", "1000136", "3000018", "3000097", "3000156", "3000265", "7000117", "8000308", "8000403", "11000987", "13000288", "11000826", "11000456", "7002694", "910000338", "920000903", "940001182", "81002173", "81005012", "310007709", "91000177", "92000045", "79002167", "310008806", "79005420", "310005539", "410000929", "410000958", "412002675", "412006424", "412006732", "412005930", "412001782", "412015063", "412005750", "540033953", "5530359", "8958528575", "710023825", "710004762", "730600681", "740001097", "792000936", "792001162", "791006373", "792007024", "791003140", "810009759", "792004345", "750010195", "770007836", "770005252", "750015045", "808000800", "807003726", "892000164", "806003421", "1020006565", "1330005144", "1470002817", "1600000152"},
		sameWords:  {"2003000604", "77103157", "721005816", "721008287", "780001160", "780001820", "852002061", "912001338", "950001233", "1030033768", "841004130", "1070009948", "1070025987", "1070047911", "1410004722", "1460003841", "1620001900", "1930002431", "2100000058"},
		otherEdits: {"2803", "4805", "722000515", "722002328", "722002808", "722003042", "722001327", "722001957", "722002076", "722004024", "722005370", "722005865", "722006231", "722006379", "722006927", "722001062", "722008318", "722002537", "722004577", "730800250", "722007889", "722000214", "722003112", "781000433", "781001865", "722008797", "820001585", "820004610", "820004940", "820002206", "722005537", "820006917", "820007455", "861000382", "893006205", "893007138", "893008456", "781001500", "843001355", "820000321", "820007118", "913014603", "913024831", "913021118", "913004165", "913012980", "910011058", "913026387", "910008707", "7710233", "1090006688", "1100001054", "1030028704", "1330000885", "1200000373", "1200000530", "1200000638", "1200000976", "1310002206", "1460003217", "1470002588", "1500004578", "1640000054", "2100000715"},
		structured: {"1930002200", "2310001338"},
	} {
		for _, seed := range seeds {
			t.Setenv("RELAYFS_SEED", seed)
			randomtest.Check(t, 1, playsMix(k))
		}
	}
}

func playsMix(k kind) func(testing.TB, *rand.Rand) {
	return func(t testing.TB, r *rand.Rand) {
		start, steps, end := drawMix(r, 40)
		if err := playMix(t, k, start, steps, end); err != nil {
			t.Fatalf("%d steps: %v", len(steps), err)
		}
	}
}
