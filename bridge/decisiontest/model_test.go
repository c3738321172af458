package decisiontest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// The law of decisions and undos is about characters. A character has at most one insertion and any number of
// deletions. Each of them has an author, and is pending, accepted or rejected. Text that a user types has none. The
// original view shows a character if its insertion is absent or accepted and none of its deletions is accepted. The
// accepted view shows it if its insertion is not rejected and all its deletions are rejected. A decision sets the
// status of what is pending on its characters; an undo makes exactly that pending again. Neither changes anything else.
// This test keeps such a model of a note, and compares it with the workspace after every step of random sequences:
// writes of two agents, edits by a user, decisions, amendments, undos in any order, restarts.

const plan = model.Path("Notes/Plan.md")

var person = model.Author{Name: "person"}

type atomStatus uint8

const (
	pendingAtom atomStatus = iota
	acceptedAtom
	rejectedAtom
)

type modelAtom struct {
	author  string
	session string // the session that made the suggestion, or amended it
	status  atomStatus
}

// modelChar is one character. Removed characters stay in the model as dead.
type modelChar struct {
	r       rune
	ins     *modelAtom
	dels    []*modelAtom
	dead    bool // a user removed it, or its author withdrew it
	covered bool
}

// given returns the model of a character that a user wrote. If the user wrote it inside a mark, it is pending.
func (h heldChar) given() *modelChar {
	c := &modelChar{r: h.r}
	if !h.o {
		c.ins = new(modelAtom)
	}
	if !h.a {
		c.dels = []*modelAtom{new(modelAtom)}
	}
	return c
}

// isPersons reports whether the character is pending in a mark that a user wrote, and in no other.
func (c *modelChar) isPersons() bool {
	_, authors := atomsOf([]*modelChar{c})
	return authors[""] && len(authors) == 1
}

// isShared reports whether both a user and an agent have a pending suggestion for the character.
func (c *modelChar) isShared() bool {
	_, authors := atomsOf([]*modelChar{c})
	return authors[""] && len(authors) > 1
}

func (c *modelChar) shown() (o, a bool) {
	if c.dead || c.covered {
		return false, false
	}
	o, a = true, true
	if c.ins != nil {
		o, a = c.ins.status == acceptedAtom, c.ins.status != rejectedAtom
	}
	for _, d := range c.dels {
		o, a = o && d.status != acceptedAtom, a && d.status == rejectedAtom
	}
	return o, a
}

// modelRecord is one decision on one suggestion, or one change of front matter.
type modelRecord struct {
	batch, item string
	atoms       []*modelAtom
	gone        []modelGone
	typed       []*modelChar
	chars       []*modelChar
	undone      bool
	matter      bool
	was, is     string
	accept, amd bool
	loose       bool // the decision included comments
	empty       bool // the decision included marks without text, which relayfs drops
}

type modelGone struct {
	char        *modelChar
	left, right *modelChar
}

// heldChar is a character of a raw text. o and a tell whether the original and the accepted view show it, according to
// the text alone.
type heldChar struct {
	r      rune
	off    int
	o, a   bool
	markup bool // a delimiter, a comment, a highlight
}

// readRaw reads a raw text that has no literal delimiters.
func readRaw(raw string) (list []heldChar) {
	o, a, quiet, halves := true, true, false, false
	for i := 0; i < len(raw); {
		skip := 0
		if !quiet && i+3 <= len(raw) {
			switch raw[i : i+3] {
			case "{++":
				o, skip = false, 3
			case "{--":
				a, skip = false, 3
			case "++}", "--}":
				if !o || !a {
					o, a, skip = true, true, 3
				}
			case "{==", "==}":
				skip = 3
			case "{>>":
				quiet = true
			case "{~~":
				a, halves, skip = false, true, 3
			case "~~}":
				if halves {
					o, a, halves, skip = true, true, false, 3
				}
			}
		}
		if halves && !a && skip == 0 && strings.HasPrefix(raw[i:], "~>") {
			o, a, skip = false, true, 2
		}
		if quiet && strings.HasPrefix(raw[i:], "<<}") {
			quiet, skip = false, 3
		}
		if skip > 0 || quiet {
			if skip == 0 {
				_, skip = utf8.DecodeRuneInString(raw[i:])
			}
			for _, r := range raw[i : i+skip] {
				list = append(list, heldChar{r: r, off: i, markup: true})
			}
			i += skip
			continue
		}
		for j, r := range raw[i:] {
			if j > 0 {
				break
			}
			list = append(list, heldChar{r, i, o, a, false})
			i += len(string(r))
		}
	}
	hideDeletedComments(list)
	return list
}

var wholeComment = regexp.MustCompile(`(?s)\{>>.*?<<\}`)

// hideDeletedComments makes comments whose deletion is pending markup, because the model has them in no view. The marks
// of such a deletion cut the comment's opener, so readRaw has not recognised the comment.
func hideDeletedComments(list []heldChar) {
	var text strings.Builder
	var at []int // in list, of each byte of text
	for i, h := range list {
		if h.o && !h.a && !h.markup {
			for range len(string(h.r)) {
				at = append(at, i)
			}
			text.WriteRune(h.r)
		} else if !h.markup {
			text.WriteByte(0) // other text in between means that there is no opener
			at = append(at, -1)
		}
	}
	for from := 0; ; {
		i := strings.Index(text.String()[from:], "{>>")
		if i < 0 {
			return
		}
		i += from
		n := strings.Index(text.String()[i:], "<<}")
		if n < 0 {
			return
		}
		from = i + n + len("<<}")
		for _, k := range at[i:from] {
			if k >= 0 {
				list[k].markup = true
			}
		}
	}
}

var emptyMark = regexp.MustCompile(`\{\+\+\+\+\}|\{----\}|\{~~~>~~\}`)

// errSkip ends a sequence that has left the model's scope.
var errSkip = errors.New("skipped")

// world is the state of one running sequence.
type world struct {
	t      testing.TB
	live   *bridgetest.Live
	src    *bridgetest.Source
	store  *bridgetest.Store
	ws     *bridge.Workspace
	stop   func()
	path   model.Path
	matter string // front matter as it must be

	chars   []*modelChar
	ids     map[ycrdt.ID]*modelChar
	newest  map[*modelChar]ycrdt.ID // the last ID of each character; text that returns gets a new ID
	records []*modelRecord
	told    map[string]toldAs // listed suggestions by their atoms (keyOf)
	log     []string
	stat    map[string]int
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

var wordless = regexp.MustCompile(`\bw\b`)

func newWorld(t testing.TB, r *rand.Rand) *world {
	w := &world{t: t, ids: make(map[ycrdt.ID]*modelChar), newest: make(map[*modelChar]ycrdt.ID), told: make(map[string]toldAs), stat: make(map[string]int), path: plan}
	var body string
	switch r.IntN(10) {
	case 0:
	case 1:
		body = modelWord(r) + "\r\n\r\n" + modelWord(r) + "\r\n"
	default:
		body = "# T\n\n" + modelWord(r) + " " + modelWord(r) + " " + modelWord(r) + ".\n\n" + modelWord(r) + " " + modelWord(r) + "\n"
	}
	for _, more := range []string{
		"\nasked{>>why?<<} w\n", "\nsee {==w w==} w\n", "\n| w | w |\n|---|---|\n| w | w |\n", "\n- w\n- w w\n  - w\n", "\n```\nw w\n```\n",
		"\n{==w==}{>>so<<} w {==w==}\n", "\nw {++w++} w {--w--}{++w++}\n", "\nw{~~w~>w~~} w{>>so<<}\n", "\r\nw w\r\nw\r\n", "\n> w w",
	} {
		if r.IntN(8) == 0 {
			body += wordless.ReplaceAllStringFunc(more, func(string) string { return modelWord(r) })
		}
	}
	if r.IntN(4) == 0 {
		w.matter = "---\nk: aaa\n---\n"
	}
	w.src, w.store = bridgetest.NewSource(t), bridgetest.NewStore(t)
	if r.IntN(2) == 0 {
		w.live = bridgetest.NewLive(t, w.store)
		w.src = w.live.Source
	}
	w.src.Person(t).Save("Plan.md", w.matter+body)
	for _, c := range readRaw(body) {
		if !c.markup {
			w.chars = append(w.chars, c.given())
		}
	}
	w.note("start %q, live %v", w.matter+body, w.live != nil)
	w.start()
	return w
}

// start starts a process on the stored state.
func (w *world) start() {
	folder := bridge.RootSource{Name: "Notes", Source: w.src, Store: w.store}
	if w.live != nil {
		folder.Source = w.live
	}
	ws, err := bridge.New(bridge.Options{Roots: []bridge.RootSource{folder}})
	if err == nil {
		err = ws.Start(context.Background())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); ws.Run(ctx) }()
	w.ws = ws
	w.stop = func() { cancel(); <-done }
}

func (w *world) version() *model.Version {
	v, err := w.ws.Open(context.Background(), w.path)
	if err != nil {
		panic(err)
	}
	return v
}

func (w *world) list() []model.Suggestion {
	list, err := w.ws.Suggestions(context.Background(), "")
	if err != nil {
		panic(err)
	}
	return list
}

// body splits a raw text into its front matter and the rest.
func body(raw string) (matter, rest string) {
	end, _ := diffwrap.FrontMatter(raw)
	return raw[:end], raw[end:]
}

// docChar is a character of the document, deleted ones included.
type docChar struct {
	id   ycrdt.ID
	live bool
	off  int // of what is live
}

// document reads the note's document, nil if it has none.
func (w *world) document() (list []docChar, raw string) {
	var pieces []ycrdt.Piece
	if w.live != nil {
		d, err := w.live.Document(context.Background(), "Plan.md")
		if err != nil {
			panic(err)
		}
		d.View(context.Background(), func(doc *ycrdt.Doc, _ time.Time) error {
			raw, pieces = doc.Text("contents").String(), doc.Text("contents").Pieces(0, doc.Text("contents").Len())
			return nil
		})
	} else {
		id, err := w.store.DocID("Plan.md")
		if err != nil {
			return nil, ""
		}
		h, err := w.store.Load(id)
		if err != nil {
			panic(err)
		}
		doc := ycrdt.NewDoc(ycrdt.Options{})
		for _, rec := range h.Records {
			if err := doc.ApplyUpdate(rec.Update); err != nil {
				panic(err)
			}
		}
		raw, pieces = doc.Text("contents").String(), doc.Text("contents").Pieces(0, doc.Text("contents").Len())
	}
	off := 0
	for _, p := range pieces {
		for i := 0; i < p.Len; {
			c := docChar{id: ycrdt.ID{Client: p.ID.Client, Clock: p.ID.Clock + uint64(i)}, live: !p.Deleted, off: off}
			i++
			if c.live {
				r := []rune(raw[off:min(off+4, len(raw))])[0]
				off += len(string(r))
				if r > 0xFFFF {
					i++
				}
			}
			list = append(list, c)
		}
	}
	return list, raw
}

// kept waits until the store has everything that was written, which may be a moment after the write.
func (w *world) kept() {
	if w.live != nil {
		return
	}
	for end := time.Now().Add(need.Scaled(time.Minute)); ; runtime.Gosched() {
		if _, have := w.document(); have == w.version().Raw() {
			return
		}
		if time.Now().After(end) {
			panic("the store does not get what was written")
		}
	}
}

// visible returns the characters that at least one view shows, in order.
func (w *world) visible() (list []*modelChar) {
	for _, c := range w.chars {
		if o, a := c.shown(); o || a {
			list = append(list, c)
		}
	}
	return list
}

// isAllMarks reports whether everything that looks like a mark counts as one.
func isAllMarks(v *model.Version) bool {
	o, a := v.Known().Texts(v.Canonical())
	everyO, everyA := diffwrap.Everything.Texts(v.Canonical())
	return o == everyO && a == everyA
}

// check compares the workspace with the model.
func (w *world) check(what string) error {
	v := w.version()
	matter, marked := body(v.Canonical())
	if !isAllMarks(v) {
		return errSkip // an edit has turned a user's mark into code, where it is text; the model does not know code
	}
	if matter != w.matter {
		return fmt.Errorf("%s: front matter %q, want %q", what, matter, w.matter)
	}
	want := w.visible()
	i := 0
	describe := func() string {
		var b strings.Builder
		for _, c := range want {
			o, a := c.shown()
			switch {
			case o && a:
				b.WriteRune(c.r)
			case o:
				fmt.Fprintf(&b, "-%c", c.r)
			default:
				fmt.Fprintf(&b, "+%c", c.r)
			}
		}
		return b.String()
	}
	var o, a strings.Builder
	for _, h := range readRaw(marked) {
		if h.markup {
			continue
		}
		if i == len(want) {
			return fmt.Errorf("%s: %q has more than %s", what, marked, describe())
		}
		wo, wa := want[i].shown()
		if h.r != want[i].r || h.o != wo || h.a != wa {
			return fmt.Errorf("%s: %q at %d, want %s", what, marked, h.off, describe())
		}
		if wo {
			o.WriteRune(h.r)
		}
		if wa {
			a.WriteRune(h.r)
		}
		i++
	}
	if i < len(want) {
		return fmt.Errorf("%s: %q has less than %s", what, marked, describe())
	}
	original, accepted := v.Known().From(len(matter)).Texts(marked)
	original = wholeComment.ReplaceAllString(original, "") // whose deletion is pending
	if original != o.String() || accepted != a.String() {
		return fmt.Errorf("%s: views of %q are %q and %q, want %q and %q", what, marked, original, accepted, o.String(), a.String())
	}
	if got := v.Known().Accepted(v.Canonical()); v.Text() != got {
		return fmt.Errorf("%s: readers are shown %q, want %q", what, v.Text(), got)
	}
	if strings.ContainsAny(o.String()+a.String(), "{}") {
		return fmt.Errorf("%s: a mark in a view: %q", what, marked)
	}
	return w.checkList(what, marked)
}

// of returns the characters that a suggestion adds or deletes.
func (w *world) of(s *model.Suggestion, marked string) (list []*modelChar) {
	visible := w.visible()
	matter := len(w.matter)
	i := 0
	for _, h := range readRaw(marked) {
		if h.markup {
			continue
		}
		in := slices.ContainsFunc(s.Stretches(), func(p diffwrap.Span) bool { return p.Start <= h.off+matter && h.off+matter < p.End })
		if in && (!h.o || !h.a) {
			list = append(list, visible[i])
		}
		i++
	}
	return list
}

// hasEmptyMark reports whether a suggestion has a mark without text.
func (w *world) hasEmptyMark(s *model.Suggestion, marked string) bool {
	return slices.ContainsFunc(s.Stretches(), func(at diffwrap.Span) bool {
		return emptyMark.MatchString(marked[at.Start-len(w.matter) : at.End-len(w.matter)])
	})
}

// toldAs is a suggestion as the workspace listed it. Its key is made of the addresses of its atoms, which identify it.
type toldAs struct {
	model.Suggestion
	atoms []*modelAtom
}

// atomsOf returns the pending atoms of the characters, and their authors.
func atomsOf(chars []*modelChar) (pending []*modelAtom, authors map[string]bool) {
	authors = make(map[string]bool)
	for _, c := range chars {
		atoms := slices.Clone(c.dels)
		if c.ins != nil {
			atoms = append(atoms, c.ins)
		}
		for _, a := range atoms {
			if a.status == pendingAtom {
				pending = append(pending, a)
				authors[a.author] = true
			}
		}
	}
	return pending, authors
}

// sessions returns the sessions of an agent with a pending suggestion for the character.
func (c *modelChar) sessions(author string) (list []string) {
	atoms, _ := atomsOf([]*modelChar{c})
	for _, a := range atoms {
		if a.author == author && author != "" {
			list = append(list, a.session)
		}
	}
	return list
}

func keyOf(atoms []*modelAtom) string { return fmt.Sprint(atoms) }

// checkList checks that each listed suggestion has one author and names it, and keeps its ID and time.
func (w *world) checkList(what, marked string) error {
	ids := make(map[string]bool)
	for _, s := range w.list() {
		if ids[s.ID] {
			return fmt.Errorf("%s: two suggestions %s in %q", what, s.ID, marked)
		}
		ids[s.ID] = true
		if s.Old == "" && s.New == "" && w.live == nil {
			return errSkip // the comparison of the texts attributed the delimiters to the user
		}
		atoms, authors := atomsOf(w.of(&s, marked))
		key := keyOf(atoms)
		if len(atoms) == 0 {
			continue // the suggestion has only a comment
		}
		if authors[""] { // who has taken a decision back wrote a person's mark again
			authors[person.Name] = true
		}
		if !authors[s.Author] {
			return fmt.Errorf("%s: %+v is listed under %q, its text is of %v: %q", what, s.Suggestion, s.Author, authors, marked)
		}
		for _, c := range w.of(&s, marked) {
			if sessions := c.sessions(s.Author); len(sessions) > 0 && !slices.Contains(sessions, s.Session) {
				return fmt.Errorf("%s: %+v has %q of the sessions %q: %q", what, s, c.r, sessions, marked)
			}
		}
		if old, ok := w.told[key]; ok && s.Author != "" && (old.ID != s.ID || !old.Time.Equal(s.Time) || old.Author != s.Author || old.Session != s.Session) {
			return fmt.Errorf("%s: %+v was %+v: %q", what, s, old.Suggestion, marked)
		}
		w.told[key] = toldAs{s, atoms}
	}
	return nil
}

// learn updates the IDs in the model, and returns the new characters that are text. It puts characters that it does not
// know after the known character before them.
func (w *world) learn(raw string) (fresh []*modelChar, held []heldChar, byOff map[int]*modelChar) {
	doc, have := w.document()
	if doc == nil {
		return nil, nil, nil
	}
	if have != raw {
		panic(fmt.Sprintf("the document says %q, the note %q", have, raw))
	}
	matter, rest := body(raw)
	held = readRaw(rest)
	at := make(map[int]*heldChar)
	for i := range held {
		held[i].off += len(matter)
		at[held[i].off] = &held[i]
	}
	byOff = make(map[int]*modelChar)
	last := -1 // in w.chars
	place := make(map[*modelChar]int)
	for i, c := range w.chars {
		place[c] = i
	}
	type insertion struct {
		after int
		c     *modelChar
	}
	var inserted []insertion
	for _, d := range doc {
		if c := w.ids[d.id]; c != nil {
			if i, ok := place[c]; ok && w.newest[c] == d.id {
				last = i
			} else if !ok && w.newest[c] == d.id {
				inserted = append(inserted, insertion{last, c})
			}
			if d.live {
				byOff[d.off] = c
			}
			continue
		}
		if !d.live {
			continue
		}
		if h := at[d.off]; h != nil && !h.markup {
			c := &modelChar{r: h.r}
			w.names(d.id, c)
			byOff[d.off] = c
			inserted = append(inserted, insertion{last, c})
			fresh = append(fresh, c)
		}
	}
	var chars []*modelChar
	k := 0
	for i := -1; i < len(w.chars); i++ {
		if i >= 0 {
			chars = append(chars, w.chars[i])
		}
		for ; k < len(inserted) && inserted[k].after <= i; k++ {
			chars = append(chars, inserted[k].c)
		}
	}
	w.chars = chars
	return fresh, held, byOff
}

// names records the ID that a character has now.
func (w *world) names(id ycrdt.ID, c *modelChar) {
	w.ids[id] = c
	w.newest[c] = id
}

// identify records the IDs that the visible characters have in the document now.
func (w *world) identify() {
	doc, raw := w.document()
	if doc == nil {
		return
	}
	matter, rest := body(raw)
	text := make(map[int]bool)
	for _, h := range readRaw(rest) {
		if !h.markup {
			text[h.off+len(matter)] = true
		}
	}
	visible := w.visible()
	i := 0
	for _, d := range doc {
		if d.live && text[d.off] {
			w.names(d.id, visible[i])
			i++
		}
	}
}

// base records the IDs that the characters of a note without a document are about to get.
func (w *world) base(before string) {
	if len(w.ids) > 0 || before == "" {
		return
	}
	if w.live != nil {
		w.identify()
		return
	}
	id, err := w.store.DocID("Plan.md")
	if err != nil {
		return
	}
	h, err := w.store.Load(id)
	if err != nil || len(h.Records) == 0 {
		return
	}
	matter, rest := body(before)
	visible, i := w.visible(), 0
	pos := uint64(len(matter))
	for _, c := range readRaw(rest) {
		if !c.markup {
			w.names(ycrdt.ID{Client: ycrdt.ClientID(h.Records[0].Client), Clock: pos}, visible[i])
			i++
		}
		if pos++; c.r > 0xFFFF {
			pos++
		}
	}
}

func (w *world) agentWrites(r *rand.Rand) error {
	author := model.Author{Name: []string{"ann", "bob", "cy"}[r.IntN(3)], Session: []string{"s", "t"}[r.IntN(2)]}
	v := w.version()
	before := v.Raw()
	if w.live != nil {
		w.base(before)
	}
	_, markedBefore := body(v.Canonical())
	matter, text := body(v.Text())
	comments := false // the model has none
	switch k := r.IntN(18); {
	case k < 4:
		words := strings.Split(text, " ")
		i := r.IntN(len(words))
		if strings.ContainsAny(words[i], "{}") {
			break
		}
		words[i] = modelWord(r)
		if r.IntN(3) == 0 {
			words = slices.Delete(words, i, i+1)
		}
		text = strings.Join(words, " ")
	case k < 6:
		text = strings.TrimRight(text, "\r\n") + "\n\n" + modelWord(r) + " " + modelWord(r) + "\n"
	case k < 8:
		parts := strings.Split(text, "\n\n")
		i := r.IntN(len(parts))
		parts[i] = modelWord(r) + " " + modelWord(r) + ".\n\n" + modelWord(r) + " " + modelWord(r)
		if r.IntN(4) == 0 {
			parts = slices.Delete(parts, i, i+1)
		}
		text = strings.Join(parts, "\n\n")
	case k < 9 && matter != "":
		matter = "---\nk: " + strings.Repeat(string(rune('b'+r.IntN(20))), 3) + "\n---\n"
		if r.IntN(3) == 0 {
			text = strings.TrimRight(text, "\r\n") + " " + modelWord(r) + "\n"
		}
	case k < 10:
		text = modelWord(r) + " " + text
	case k < 15:
		text = changeLines(r, text)
	case k < 16:
		text = changeLetter(r, text)
	default:
		words := strings.Split(text, " ")
		if i := r.IntN(len(words)); !strings.ContainsAny(words[i], "{}`|\r\n") {
			words[i] += "{>>" + modelWord(r) + "<<}"
			comments = true
		}
		text = strings.Join(words, " ")
	}
	pendingBefore := w.pending(markedBefore)
	earlier := w.earlier(author, markedBefore)
	hidden := make(map[*modelChar]bool)
	for _, c := range w.visible() {
		_, a := c.shown()
		hidden[c] = !a
	}
	journal := w.journalled()
	res, err := w.ws.Write(context.Background(), w.path, bridge.Write{Text: matter + text, By: author})
	if errors.Is(err, model.ErrRefused) {
		w.stat["refused writes"]++
		return nil
	}
	if err != nil {
		return err
	}
	if !res.Changed {
		return nil
	}
	w.kept()
	if w.live == nil {
		w.base(before)
	}
	if matter != w.matter {
		batch := w.journalled()
		if len(batch) != len(journal)+1 {
			return fmt.Errorf("a change of front matter is not in the journal")
		}
		w.records = append(w.records, &modelRecord{batch: batch[0].BatchOf(), matter: true, was: w.matter, is: matter})
		w.matter = matter
	}
	raw := w.version().Raw()
	w.note("%s %s: %q", author.Name, author.Session, raw)
	if strings.Contains(raw, "{>++}") {
		return errSkip // the agent wrote a comment whose deletion is pending again, as added text
	}
	fresh, err := w.takeIn(raw, author)
	if err != nil {
		return fmt.Errorf("%s writes: %w: %q", author.Name, err, raw)
	}
	typed := slices.DeleteFunc(w.visible(), func(c *modelChar) bool { // and not necessarily new
		_, a := c.shown()
		return !slices.Contains(fresh, c) && !(hidden[c] && a)
	})
	for _, e := range earlier {
		if !w.keeps(e, author) && (e.amended(w.visible(), fresh) || (comments || !standsBeside(markedBefore, text) || e.rewritten(typed) || e.oneIsLeft(v.Text(), text)) && w.isListed(e, author)) {
			e.take(author)
		}
	}
	text = strings.TrimPrefix(diffwrap.CommentsAfterConstructs(v.Text(), matter+text), matter) // the comment may be in code that the write made
	if got := w.version().Text(); got != matter+text && strings.ReplaceAll(got, "\r\n", "\n") != strings.ReplaceAll(matter+text, "\r\n", "\n") {
		return fmt.Errorf("%s wrote %q and reads %q", author.Name, matter+text, got)
	}
	_, marked := body(w.version().Canonical())
	after := w.pending(marked)
	for key, text := range pendingBefore {
		if after[key] != text {
			delete(w.told, key) // amended
		}
	}
	w.stat["writes"]++
	return nil
}

// changeLines deletes or inserts a line, or breaks or joins lines.
func changeLines(r *rand.Rand, text string) string {
	lines := strings.Split(text, "\n")
	i := r.IntN(len(lines))
	switch r.IntN(5) {
	case 0:
		lines = slices.Delete(lines, i, i+1)
	case 1:
		lines = slices.Insert(lines, i, "- "+modelWord(r)+" "+modelWord(r))
	case 2:
		lines = slices.Insert(lines, i, "| "+modelWord(r)+" | "+modelWord(r)+" |")
	case 3:
		lines[i] = strings.Replace(lines[i], " ", "\n", 1)
	default:
		if i > 0 && !strings.HasSuffix(lines[i-1], "\r") {
			lines[i-1] += " " + lines[i]
			lines = slices.Delete(lines, i, i+1)
		}
	}
	return strings.Join(lines, "\n")
}

// changeLetter changes or deletes a letter.
func changeLetter(r *rand.Rand, text string) string {
	runes := []rune(text)
	if len(runes) == 0 {
		return text
	}
	i := r.IntN(len(runes))
	if c := runes[i]; c < 'a' || c > 'z' {
		return text
	}
	return string(runes[:i]) + []string{"", "z", "é"}[r.IntN(3)] + string(runes[i+1:])
}

// takeIn applies the effect of an agent's write to the model, and returns the new characters.
func (w *world) takeIn(raw string, author model.Author) ([]*modelChar, error) {
	type flags struct{ o, a bool }
	old := make(map[*modelChar]flags)
	for _, c := range w.visible() {
		o, a := c.shown()
		old[c] = flags{o, a}
	}
	w.moves()
	fresh, held, byOff := w.learn(raw)
	now := make(map[*modelChar]flags)
	for _, h := range held {
		if c := byOff[h.off]; c != nil && !h.markup {
			now[c] = flags{h.o, h.a}
		}
	}
	for _, c := range fresh {
		if now[c] != (flags{false, true}) {
			return nil, fmt.Errorf("new text is not an addition")
		}
		c.ins = &modelAtom{author: author.Name, session: author.Session}
	}
	for c, before := range old {
		switch after := now[c]; {
		case before == after:
		case after == flags{} && before == flags{false, true}:
			c.dead = true
		case before == flags{true, true} && after == flags{true, false}:
			c.dels = append(c.dels, &modelAtom{author: author.Name, session: author.Session})
		case before == flags{true, false} && after == flags{true, true}:
			for _, d := range c.dels {
				if d.status == pendingAtom {
					d.status = rejectedAtom
				}
			}
		default:
			return nil, fmt.Errorf("%c was %v and is %v", c.r, before, after)
		}
	}
	return fresh, nil
}

// proposed is a suggestion that was pending before an agent wrote, from another session of that agent.
type proposed struct {
	id, session string
	old, new    string
	chars       []*modelChar
	begins      map[*modelChar]bool // added characters at the start of a mark: text before them is outside of it
}

func (w *world) earlier(author model.Author, marked string) (list []proposed) {
	for _, s := range w.list() {
		if s.Author == author.Name && s.Session != author.Session {
			p := proposed{s.ID, s.Session, s.Old, s.New, w.of(&s, marked), make(map[*modelChar]bool)}
			visible, begins := w.visible(), true
			for _, h := range readRaw(marked) {
				if h.markup {
					begins = true
					continue
				}
				if adds := p.adds(visible[0]); adds && begins {
					p.begins[visible[0]] = true
				}
				begins, visible = false, visible[1:]
			}
			list = append(list, p)
		}
	}
	return list
}

func (p proposed) adds(c *modelChar) bool {
	o, _ := c.shown()
	return !o && slices.Contains(p.chars, c)
}

// amended reports whether part of the suggestion is gone, or new text is inside the text that it adds.
func (p proposed) amended(visible, fresh []*modelChar) bool {
	if slices.ContainsFunc(p.chars, func(c *modelChar) bool { o, a := c.shown(); return o == a }) {
		return true
	}
	behind, typed := false, false // an addition of it, and then new text
	for _, c := range visible {
		switch {
		case slices.Contains(fresh, c):
			typed = behind
		case p.adds(c):
			if typed && !p.begins[c] {
				return true
			}
			behind, typed = true, false
		default:
			behind, typed = false, false
		}
	}
	return false
}

// rewritten reports whether a writer typed a deleted word, a part of one, or a deleted line break. Whether this text counts as
// the deleted text, and as that of which suggestion, depends on how the texts are compared.
func (p proposed) rewritten(typed []*modelChar) bool {
	var text strings.Builder
	for _, c := range typed {
		text.WriteRune(c.r)
	}
	words := strings.Fields(p.old)
	if len(words) == 0 {
		return strings.Contains(text.String(), p.old)
	}
	return slices.ContainsFunc(words, func(old string) bool {
		return slices.ContainsFunc(strings.Fields(text.String()), func(is string) bool { return strings.Contains(old, is) || strings.Contains(is, old) })
	})
}

// oneIsLeft reports whether a word that the suggestion adds was in the text several times and now is there less often.
// Which of them is gone depends on how the texts are compared.
func (p proposed) oneIsLeft(before, after string) bool {
	return slices.ContainsFunc(strings.Fields(p.new), func(w string) bool {
		left := strings.Count(after, w)
		return left > 0 && left < strings.Count(before, w)
	})
}

// isListed reports whether no other session of the author is listed with characters of the suggestion.
func (w *world) isListed(p proposed, author model.Author) bool {
	_, marked := body(w.version().Canonical())
	return !slices.ContainsFunc(w.list(), func(s model.Suggestion) bool {
		return s.Author == author.Name && s.Session != author.Session && slices.ContainsFunc(w.of(&s, marked), func(c *modelChar) bool { return slices.Contains(p.chars, c) })
	})
}

// keeps reports whether the suggestion has the texts that it had. It then is still of its session, also if the write has
// written some of them again, for example at the other side of another agent's text.
func (w *world) keeps(p proposed, author model.Author) bool {
	_, marked := body(w.version().Canonical())
	for _, s := range w.list() {
		if s.ID == p.id && s.Old == p.old && s.New == p.new {
			proposed{chars: w.of(&s, marked)}.take(model.Author{Name: author.Name, Session: p.session})
			return true
		}
	}
	return false
}

// take attributes the rest of the suggestion to the author's session.
func (p proposed) take(author model.Author) {
	atoms, _ := atomsOf(p.chars)
	for _, a := range atoms {
		if a.author == author.Name {
			a.session = author.Session
		}
	}
}

// standsBeside reports whether a writer who may change none of the marks could write the text.
func standsBeside(marked, text string) bool {
	owners := make(map[int]diffwrap.Owner)
	marks, _, _ := diffwrap.Everything.Layout(marked)
	for _, m := range marks {
		owners[m.Start] = diffwrap.Owner{Access: diffwrap.Foreign}
	}
	_, err := diffwrap.Options{Known: diffwrap.Everything, Owners: owners}.Put(marked, text)
	return err == nil
}

// pending returns the marks of each suggestion in the note, by the suggestion's key (keyOf).
func (w *world) pending(marked string) map[string]string {
	list := make(map[string]string)
	for _, s := range w.list() {
		atoms, _ := atomsOf(w.of(&s, marked))
		key := keyOf(atoms)
		for _, p := range s.Stretches() {
			list[key] += marked[p.Start-len(w.matter):p.End-len(w.matter)] + " "
		}
	}
	return list
}

func (w *world) journalled() []model.JournalEntry {
	list, err := w.ws.Journal(1000)
	if err != nil {
		panic(err)
	}
	return list
}

// personEdits has a user type or delete text, or decide by hand, in the raw text.
func (w *world) personEdits(r *rand.Rand) error {
	v := w.version()
	raw := v.Raw()
	if w.live != nil {
		w.base(raw)
	}
	matter, rest := body(raw)
	held := readRaw(rest)
	if len(held) == 0 {
		return nil
	}
	edit := handEdit{drop: make(map[int]bool), typed: make(map[int]string)}
	accept, reject := make(map[int]bool), make(map[int]bool)
	marks := markSpans(held)
	switch k := r.IntN(22); {
	case k < 2:
		edit.writesOver(r, held, marks, w.live != nil)
	case k < 7:
		edit.types(r, held)
	case k < 14:
		edit.deletes(r, held, marks)
	case k < 15:
		edit.deletes(r, held, marks)
		edit.types(r, held)
	case k < 18:
		edit.typesMark(r, held)
	case k < 19:
		edit.comments(r, held, marks)
	case len(marks) > 0:
		m := marks[r.IntN(len(marks))]
		for _, i := range m.delimiters {
			edit.drop[i] = true
		}
		text := r.IntN(2) == 0
		for _, i := range m.body {
			switch {
			case text:
				edit.drop[i] = true
			case held[i].o:
				reject[i] = true
			default:
				accept[i] = true
			}
		}
	}
	chars := w.heldChars(raw)
	for i := range edit.typed {
		if i < len(held) && chars != nil && chars[i] != nil && chars[i].isShared() {
			return nil // the order of the undos decides in whose mark this text is
		}
	}
	var b strings.Builder
	typed := make(map[int]bool)  // offsets
	at := make([]int, len(held)) // offset in the saved text of each element of held
	b.WriteString(matter)
	for i := range len(held) + 1 {
		for _, h := range readRaw(edit.typed[i]) {
			typed[b.Len()+h.off] = !h.markup
		}
		b.WriteString(edit.typed[i])
		if i < len(held) && !edit.drop[i] {
			at[i] = b.Len()
			b.WriteRune(held[i].r)
		}
	}
	saved := b.String()
	if saved == raw {
		return nil
	}
	if err := w.save(saved, matter, held, edit); err != nil {
		return err
	}
	w.note("person: %q", saved)
	w.stat["person's edits"]++
	if chars == nil { // without a document all text is plain
		w.chars = nil
		for _, h := range readRaw(saved[len(matter):]) {
			if !h.markup {
				w.chars = append(w.chars, h.given())
			}
		}
		w.identify() // a note with marks has a document now
		return nil
	}
	doc, have := w.document()
	if have != saved {
		return fmt.Errorf("the document says %q, the person saved %q", have, saved)
	}
	if w.returned() {
		return errSkip // the user typed text that was there before, and the model takes it for new text
	}
	live, now := make(map[*modelChar]bool), make(map[*modelChar]int)
	for _, d := range slices.Backward(doc) {
		if c := w.ids[d.id]; c != nil && d.live {
			live[c], now[c] = true, d.off
		}
	}
	for i := range held {
		c := chars[i]
		if c == nil {
			continue
		}
		if edit.drop[i] == live[c] || live[c] && now[c] != at[i] {
			return errSkip // the comparison of the texts saw it in another way
		}
		if edit.drop[i] {
			c.dead = true
		}
		if accept[i] && c.ins != nil && c.ins.status == pendingAtom {
			c.ins.status = acceptedAtom
		}
		for _, d := range c.dels {
			if reject[i] && d.status == pendingAtom {
				d.status = rejectedAtom
			}
		}
	}
	given := edit.marks
	for i := range edit.typed {
		given = given || i < len(held) && chars[i] != nil && chars[i].isPersons()
	}
	fresh, held, byOff := w.learn(saved)
	for _, h := range held {
		if !h.markup && typed[h.off] != slices.Contains(fresh, byOff[h.off]) {
			if w.live != nil {
				return fmt.Errorf("at %d of %q: typed %v, and new %v", h.off, saved, typed[h.off], !typed[h.off])
			}
			return errSkip // likewise
		}
	}
	for _, h := range held {
		if c := byOff[h.off]; given && slices.Contains(fresh, c) {
			is := h.given()
			c.ins, c.dels = is.ins, is.dels
		}
	}
	return nil
}

// handEdit is a user's edit of a raw text. Its positions are indexes in held, the characters of that text.
type handEdit struct {
	drop  map[int]bool
	typed map[int]string // typed text, by the index of the character after it
	marks bool           // whether the typed text has marks
}

var typings = []string{"H", "HU", "HUM", "H\U0001F642M", "\nHUM\n", "HUM ", "\n\n"}

// types has the user type text at a random place.
func (e *handEdit) types(r *rand.Rand, held []heldChar) {
	spots := []int{len(held)}
	for i, h := range held {
		if !h.markup && !e.drop[i] && (i == 0 || held[i-1].r != '\r') {
			spots = append(spots, i)
		}
	}
	if i := spots[r.IntN(len(spots))]; len(held) == 0 || i < len(held) || !held[i-1].markup {
		e.typed[i] = typings[r.IntN(len(typings))]
	}
}

// deletes has the user delete a range. Comments and the delimiters of highlights stay. Line breaks of two characters,
// and marks, are deleted completely or not at all.
func (e *handEdit) deletes(r *rand.Rand, held []heldChar, marks []markSpan) {
	at := r.IntN(len(held))
	for i := at; i < min(at+1+r.IntN(12), len(held)); i++ {
		e.drop[i] = true
	}
	for i, h := range held {
		if h.markup && !slices.ContainsFunc(marks, func(m markSpan) bool { return slices.Contains(m.delimiters, i) }) {
			delete(e.drop, i)
		}
		if h.r == '\n' && i > 0 && held[i-1].r == '\r' && e.drop[i] != e.drop[i-1] {
			delete(e.drop, i)
			delete(e.drop, i-1)
		}
	}
	for _, m := range marks {
		whole := true
		for _, i := range append(slices.Clone(m.delimiters), m.body...) {
			whole = whole && e.drop[i]
		}
		for _, i := range m.delimiters {
			if !whole {
				delete(e.drop, i)
			}
		}
	}
}

// typesMark has the user write a suggestion by hand, or highlight a word of plain text.
func (e *handEdit) typesMark(r *rand.Rand, held []heldChar) {
	plain := func(i int) bool {
		return i >= 0 && i < len(held) && !held[i].markup && held[i].o && held[i].a && held[i].r != '\r' && held[i].r != '\n'
	}
	i := r.IntN(len(held))
	if !plain(i-1) || !plain(i) {
		return
	}
	switch k := r.IntN(4); {
	case k < 3:
		e.typed[i] = []string{"{++HU++}", "{~~HU~>MU~~}", "{--HU--}"}[k]
		e.marks = true
	case plain(i+1) && plain(i+2) && !inHighlight(held, i):
		e.typed[i], e.typed[i+2] = "{==", "==}"
	}
}

// writesOver has the user replace a suggestion, unless it has only white space, by another suggestion. In a file the
// new one is of another kind, because equal delimiters would count as kept, and only the text between them as typed.
func (e *handEdit) writesOver(r *rand.Rand, held []heldChar, marks []markSpan, live bool) {
	marks = slices.DeleteFunc(marks, func(m markSpan) bool {
		return !slices.ContainsFunc(m.body, func(i int) bool { return !unicode.IsSpace(held[i].r) })
	})
	if len(marks) == 0 {
		return
	}
	m := marks[r.IntN(len(marks))]
	for _, i := range append(slices.Clone(m.delimiters), m.body...) {
		e.drop[i] = true
	}
	typed := []string{"{++HU++}", "{++ HU.++}", "{~~HU~>MU~~}", "{--HU--}"}[r.IntN(4)]
	if !live && rune(typed[1]) == held[m.delimiters[1]].r {
		typed = "{~~HU~>MU~~}"
	}
	e.typed[m.delimiters[0]] = typed
	e.marks = true
}

func inHighlight(held []heldChar, at int) bool {
	in := false
	for i := 1; i < at; i++ {
		if held[i].markup && held[i].r == '=' && held[i-1].r == '{' {
			in = true
		} else if held[i].markup && held[i].r == '}' && held[i-1].r == '=' {
			in = false
		}
	}
	return in
}

// comments has the user comment on a suggestion, edit a comment, or write a comment next to another one.
func (e *handEdit) comments(r *rand.Rand, held []heldChar, marks []markSpan) {
	remark := "{>>" + modelWord(r) + "<<}"
	if open := openComments(held); len(open) > 0 && r.IntN(2) == 0 {
		c := open[r.IntN(len(open))]
		switch r.IntN(3) {
		case 0:
			e.typed[c.Start] = remark
		case 1:
			e.typed[c.End] = remark
		default:
			e.typed[c.Start+len("{>>")] = "HUM "
		}
	} else if len(marks) > 0 {
		m := marks[r.IntN(len(marks))]
		e.typed[m.delimiters[len(m.delimiters)-1]+1] = remark
	}
}

// openComments returns the comments that no mark deletes, as ranges of indexes in held.
func openComments(held []heldChar) (list []diffwrap.Span) {
	start := -1
	for i, h := range held {
		switch {
		case !h.markup || i < 2 || !held[i-1].markup || !held[i-2].markup:
		case start < 0 && string([]rune{held[i-2].r, held[i-1].r, h.r}) == "{>>":
			start = i - 2
		case start >= 0 && string([]rune{held[i-2].r, held[i-1].r, h.r}) == "<<}":
			list = append(list, diffwrap.Span{Start: start, End: i + 1})
			start = -1
		}
	}
	return list
}

// save applies the user's edit to the file or, for a note of a server, to the live document.
func (w *world) save(saved, matter string, held []heldChar, edit handEdit) error {
	if w.live == nil {
		w.src.Person(w.t).Save("Plan.md", saved)
		return w.src.Settle(context.Background())
	}
	err := w.live.Peer("Plan.md", func(doc *ycrdt.Doc) {
		text := doc.Text("contents")
		doc.Transact(func(tx *ycrdt.Txn) {
			pos := len(matter)
			for i := range len(held) + 1 {
				if typed := edit.typed[i]; typed != "" {
					text.Insert(tx, pos, typed)
					pos += len(utf16.Encode([]rune(typed)))
				}
				if i == len(held) {
					break
				}
				n := utf16.RuneLen(held[i].r)
				if edit.drop[i] {
					text.Delete(tx, pos, n)
				} else {
					pos += n
				}
			}
		})
	})
	if err == nil {
		err = w.live.Settle(context.Background())
	}
	return err
}

// returned reports whether the last save of the file restored deleted text.
func (w *world) returned() bool { return w.live == nil && w.lastRecord().Remaps != nil }

func (w *world) lastRecord() model.Record {
	var id model.DocID
	var err error
	if w.live == nil {
		id, err = w.store.DocID("Plan.md")
	} else if d, e := w.live.Document(context.Background(), "Plan.md"); e == nil {
		id = d.ID()
	} else {
		err = e
	}
	if err != nil {
		panic(err)
	}
	h, err := w.store.Load(id)
	if err != nil {
		panic(err)
	}
	return h.Records[len(h.Records)-1]
}

// moves records the new IDs of the characters that the last write moved, so that learn finds them at their new places.
func (w *world) moves() {
	for _, r := range w.lastRecord().Remaps {
		for i := range r.New.Len {
			if c := w.ids[r.Old.Part(i, 1).Run().ID]; c != nil {
				w.chars = slices.DeleteFunc(w.chars, func(x *modelChar) bool { return x == c })
				w.names(r.New.Part(i, 1).Run().ID, c)
			}
		}
	}
}

// heldChars returns the model's characters by their index in held. It returns nil without a document.
func (w *world) heldChars(raw string) []*modelChar {
	if len(w.ids) == 0 {
		return nil
	}
	_, held, byOff := w.learn(raw)
	list := make([]*modelChar, len(held))
	for i, h := range held {
		if !h.markup {
			list[i] = byOff[h.off]
		}
	}
	return list
}

type markSpan struct{ delimiters, body []int }

// markSpans returns the additions and deletions, as ranges of indexes in held.
func markSpans(held []heldChar) (list []markSpan) {
	var current *markSpan
	for i := 0; i < len(held); i++ {
		h := held[i]
		switch {
		case !h.markup && current != nil:
			current.body = append(current.body, i)
		case !h.markup:
		case h.r == '{' && (held[i+1].r == '+' || held[i+1].r == '-'):
			current = &markSpan{delimiters: []int{i, i + 1, i + 2}}
			i += 2
		case (h.r == '+' || h.r == '-') && current != nil:
			current.delimiters = append(current.delimiters, i, i+1, i+2)
			list = append(list, *current)
			current = nil
			i += 2
		default: // a part of a comment whose deletion is pending
			current = nil
		}
	}
	return list
}

func (w *world) decides(r *rand.Rand) error {
	list := w.list()
	if len(list) == 0 {
		return nil
	}
	s := list[r.IntN(len(list))]
	several := []model.Suggestion{s}
	if r.IntN(3) == 0 {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		several = list[:1+r.IntN(len(list))]
		s = several[0]
	}
	before := w.version()
	_, marked := body(before.Canonical())
	if w.live != nil {
		w.base(before.Raw())
	}
	rec := &modelRecord{item: s.ID, accept: r.IntN(2) == 0}
	recs := []*modelRecord{rec}
	for _, x := range several[1:] {
		recs = append(recs, &modelRecord{item: x.ID, accept: rec.accept})
	}
	var chars []*modelChar
	var ids []string
	for i, rec := range recs {
		rec.chars = w.of(&several[i], marked)
		chars, ids = append(chars, rec.chars...), append(ids, rec.item)
		rec.loose = len(rec.chars) == 0 || slices.ContainsFunc(several[i].Stretches(), func(at diffwrap.Span) bool {
			return strings.Contains(marked[at.Start-len(w.matter):at.End-len(w.matter)], "{>")
		})
		rec.empty = w.hasEmptyMark(&several[i], marked)
	}
	verdict := model.Rejected
	if rec.accept {
		verdict = model.Accepted
	}
	status := map[bool]atomStatus{true: acceptedAtom, false: rejectedAtom}[rec.accept]
	var out bridge.Outcome
	var err error
	amends := r.IntN(6) == 0
	if amends && len(several) == 1 && len(chars) > 0 && s.Parts == nil && s.New != "" {
		rec.accept, rec.amd = true, true
		at := r.IntN(len([]rune(s.New)) + 1)
		runes := []rune(s.New)
		text := string(runes[:at]) + "Q" + string(runes[min(at+r.IntN(3), len(runes)):])
		out, err = w.ws.Amend(context.Background(), s.ID, text, person)
		if err == nil && len(out.Failed) > 0 {
			w.stat["refused amendments"]++
			return nil
		}
	} else {
		out, err = w.ws.Decide(context.Background(), ids, verdict, person)
	}
	if err != nil || len(out.Failed) > 0 || len(out.Missing) > 0 || out.Notes != 1 {
		return fmt.Errorf("decision on %+v in %q: %+v, %v", s, marked, out, err)
	}
	w.kept()
	if w.live == nil {
		w.base(before.Raw())
	}
	raw := w.version().Raw()
	w.note("decides: accept %v amend %v %s: %q", rec.accept, rec.amd, strings.Join(ids, " "), raw)
	var live map[*modelChar]bool
	if rec.amd {
		fresh, _, byOff := w.learn(raw)
		rec.typed = fresh
		live = make(map[*modelChar]bool)
		for _, c := range byOff {
			live[c] = true
		}
	}
	deleted := make(map[*modelRecord]map[*modelChar]bool)
	for _, rec := range recs {
		rec.batch = out.Batch
		deleted[rec] = rec.decide(status, live)
	}
	for _, rec := range recs {
		w.findNeighbours(rec, deleted[rec])
	}
	w.records = append(w.records, recs...)
	w.stat["decisions"]++
	if r.IntN(3) > 0 || before.Raw() != before.Canonical() || slices.ContainsFunc(recs, func(rec *modelRecord) bool { return rec.empty }) {
		return nil
	}
	if err := w.check("decided"); err != nil {
		return err
	}
	for len(recs) > 0 {
		n := 1 + r.IntN(len(recs))
		if err := w.undoes(recs[:n], n == len(recs) && r.IntN(2) == 0); err != nil {
			return err
		}
		recs = recs[n:]
	}
	if got := w.version().Raw(); got != before.Raw() {
		return fmt.Errorf("undo of decision is not the text before: %q -> %q -> %q", before.Raw(), raw, got)
	}
	return nil
}

// decide sets the status of the pending atoms. deleted tells which characters the decision deletes. live has the
// characters that an amendment keeps.
func (rec *modelRecord) decide(status atomStatus, live map[*modelChar]bool) (deleted map[*modelChar]bool) {
	deleted = make(map[*modelChar]bool)
	for _, c := range rec.chars {
		o, a := c.shown()
		set := status
		if rec.amd {
			set = acceptedAtom
			if !o && !live[c] {
				set = rejectedAtom
			}
		}
		if !o {
			c.ins.status = set
			rec.atoms = append(rec.atoms, c.ins)
			deleted[c] = set == rejectedAtom
			continue
		}
		for _, d := range c.dels {
			if d.status == pendingAtom {
				d.status = set
				rec.atoms = append(rec.atoms, d)
			}
		}
		deleted[c] = a == false && set == acceptedAtom
	}
	return deleted
}

func (w *world) findNeighbours(rec *modelRecord, deleted map[*modelChar]bool) {
	stays := func(c *modelChar) bool {
		o, a := c.shown()
		return (o || a) && !slices.Contains(rec.typed, c)
	}
	for i, c := range w.chars {
		if !deleted[c] {
			continue
		}
		g := modelGone{char: c}
		for j := i - 1; j >= 0 && g.left == nil; j-- {
			if stays(w.chars[j]) {
				g.left = w.chars[j]
			}
		}
		for j := i + 1; j < len(w.chars) && g.right == nil; j++ {
			if stays(w.chars[j]) {
				g.right = w.chars[j]
			}
		}
		rec.gone = append(rec.gone, g)
	}
}

func (w *world) undoesAny(r *rand.Rand) error {
	var can []*modelRecord
	for _, x := range w.records {
		if !x.undone {
			can = append(can, x)
		}
	}
	if len(can) == 0 {
		return nil
	}
	rec := can[r.IntN(len(can))]
	recs := slices.DeleteFunc(can, func(x *modelRecord) bool { return x.batch != rec.batch })
	if rec.matter || r.IntN(2) == 0 {
		return w.undoes(recs, true)
	}
	r.Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
	return w.undoes(recs[:1+r.IntN(len(recs))], false)
}

// undoes undoes decisions of one batch: the rest of the batch, or single items.
func (w *world) undoes(recs []*modelRecord, batch bool) error {
	before := w.version()
	rec := recs[0]
	var items []string
	for _, x := range recs {
		items = append(items, x.item)
	}
	undo := func() (bridge.Outcome, error) {
		if batch {
			return w.ws.Undo(context.Background(), rec.batch, person)
		}
		return w.ws.Undo(context.Background(), rec.batch, person, items...)
	}
	out, err := undo()
	if err != nil {
		return fmt.Errorf("undo of %s in %s: %w", items, rec.batch, err)
	}
	refused := out.Failed[w.path] != nil
	after := w.version()
	w.note("undo %s of %s, refused %v: %q", items, rec.batch, out.Failed[w.path], after.Raw())
	if refused && after.Raw() != before.Raw() {
		return fmt.Errorf("a refused undo changed the note")
	}
	if out, err := undo(); !refused && !errors.Is(err, bridge.ErrNothingToUndo) {
		return fmt.Errorf("undo of %s in %s once more: %+v, %v", items, rec.batch, out, err)
	}
	if rec.matter {
		newest := rec
		for _, x := range w.records {
			if x.matter && !x.undone {
				newest = x
			}
		}
		if refused != (newest != rec) {
			return fmt.Errorf("undo of front matter %q -> %q, now %q: %v", rec.was, rec.is, w.matter, out.Failed)
		}
		if !refused {
			rec.undone, w.matter = true, rec.was
		}
		return nil
	}
	type was struct {
		a  *modelAtom
		st atomStatus
	}
	type state struct{ o, a bool }
	states := make(map[*modelChar]state)
	for _, c := range w.chars {
		o, a := c.shown()
		states[c] = state{o, a}
	}
	var atoms []was
	var covered, dead []*modelChar
	loose := false
	for _, rec := range recs {
		loose = loose || rec.loose
		for _, a := range rec.atoms {
			atoms = append(atoms, was{a, a.status})
			a.status = pendingAtom
		}
		for _, g := range rec.gone {
			if g.left != nil && g.right != nil && g.left.dead && g.right.dead && !g.char.covered {
				g.char.covered = true
				covered = append(covered, g.char)
			}
		}
		for _, c := range rec.typed {
			if !c.dead {
				c.dead = true
				dead = append(dead, c)
			}
		}
	}
	changed := false
	for _, c := range w.chars {
		o, a := c.shown()
		changed = changed || states[c] != (state{o, a})
	}
	if refused == changed && !(loose && !changed) {
		return fmt.Errorf("undo of %s in %s: %v, and there is something to take back: %v; %q", items, rec.batch, out.Failed, changed, before.Raw())
	}
	if refused {
		for _, x := range atoms {
			x.a.status = x.st
		}
		for _, c := range covered {
			c.covered = false
		}
		for _, c := range dead {
			c.dead = false
		}
		w.stat["refused undos"]++
		return nil
	}
	for _, rec := range recs {
		rec.undone = true
	}
	if err := w.check("undone"); err != nil {
		return err
	}
	w.identify()
	w.stat["undos"]++
	if len(out.Unrestored) > 0 {
		w.stat["partial undos"]++
	}
	return nil
}

var modelWords = strings.Fields("the old river runs past shed apples fall near tea noon é 👩‍💻 water")

func modelWord(r *rand.Rand) string { return modelWords[r.IntN(len(modelWords))] }

// step makes one random step.
func (w *world) step(seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 11))
	var err error
	what := ""
	switch k := r.IntN(100); {
	case k < 36:
		what, err = "agent", w.agentWrites(r)
	case k < 50:
		what, err = "person", w.personEdits(r)
	case k < 77:
		what, err = "decision", w.decides(r)
	case k < 97:
		what, err = "undo", w.undoesAny(r)
	default:
		what = "restart"
		if len(w.ids) > 0 {
			w.kept()
		}
		w.stop()
		w.start()
	}
	if err == nil {
		err = w.check(what)
	}
	return err
}

// play runs a sequence. It returns a failure as an error that includes the log of the steps.
func play(t testing.TB, start uint64, steps []uint64) (stat map[string]int, err error) {
	w := newWorld(t, rand.New(rand.NewPCG(start, 3)))
	defer func() {
		if p := recover(); p != nil {
			buf := make([]byte, 4096)
			err = fmt.Errorf("panic: %v\n%s", p, buf[:runtime.Stack(buf, false)])
		}
		w.stop()
		if err != nil && !errors.Is(err, errSkip) {
			err = fmt.Errorf("%w\n\t%s", err, strings.Join(w.log, "\n\t"))
		}
	}()
	for _, s := range steps {
		if err := w.step(s); err != nil {
			return w.stat, err
		}
	}
	return w.stat, nil
}

func TestDecisionsFollowTheModel(t *testing.T) {
	total := make(map[string]int)
	randomtest.CheckFrom(t, 100000, 400, followsModel(total))
	t.Log(total)
}

// TestSequencesThatFailed runs sequences that did not follow the model in the past.
func TestSequencesThatFailed(t *testing.T) {
	for _, seed := range []string{"6002764", "6100431", "6201349", "6201694", "6202015", "6203534", "6204033", "6207745", "6207766", "6208545", "6208909", "6300422", "6003140", "6203026", "6211117", "6212613", "6208490", "6215879", "6214562", "840009931", "6317705"} {
		t.Setenv("RELAYFS_SEED", seed)
		randomtest.Check(t, 1, followsModel(make(map[string]int)))
	}
}

// followsModel plays a random sequence, and adds the numbers of its steps to total.
func followsModel(total map[string]int) func(testing.TB, *rand.Rand) {
	return func(t testing.TB, r *rand.Rand) {
		start, n := r.Uint64(), 12
		if r.IntN(20) == 19 {
			n = 30
		}
		var steps []uint64
		for range n {
			if seed := r.IntN(1e12); seed > 0 { // 0 is no step, so that a shrunk case can have fewer steps
				steps = append(steps, uint64(seed))
			}
		}
		stat, err := play(t, start, steps)
		for k, v := range stat {
			total[k] += v
		}
		if errors.Is(err, errSkip) {
			total["skipped"]++
		} else if err != nil {
			t.Fatalf("%d steps: %v", len(steps), err)
		}
	}
}
