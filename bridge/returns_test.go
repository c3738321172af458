package bridge_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// returning is a note whose file people set back to what it held, and forth again. Each word
// begins with a letter for who wrote it: o for what was there first, p for people, and a and b
// for agents.
type returning struct {
	t      testing.TB
	src    *bridgetest.Source
	store  *bridgetest.Store
	ws     *bridge.Workspace
	stop   func()
	states []string // raw texts that the file held
}

func newReturning(t testing.TB, text string) *returning {
	r := &returning{t: t, src: bridgetest.NewSource(t), store: bridgetest.NewStore(t), states: []string{text}}
	r.src.Person(t).Save("N.md", text)
	r.start()
	return r
}

func (r *returning) start() {
	r.ws = process(r.t, r.src, r.store)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.ws.Run(ctx) }()
	r.stop = func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("workspace: %v", err)
		}
	}
}

func (r *returning) note() *model.Version { return open(r.t, r.ws, "Notes/N.md") }

// saves has a user's program put text in the file.
func (r *returning) saves(raw string) {
	r.src.Person(r.t).Save("N.md", raw)
	if err := r.src.Settle(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	if got := r.note().Raw(); got != raw {
		r.t.Fatalf("the note is %q after a save of %q", got, raw)
	}
	r.states = append(r.states, raw)
}

// writes has an agent write; what would change another's suggestion is refused.
func (r *returning) writes(author, text string) {
	_, err := r.ws.Write(r.t.Context(), "Notes/N.md", bridge.Write{Text: text, By: model.Author{Name: author, Session: "s"}})
	if err != nil && !errors.Is(err, model.ErrRefused) {
		r.t.Fatal(err)
	}
	r.states = append(r.states, r.note().Raw())
}

func (r *returning) restarts() {
	r.stop()
	r.start()
}

// decides decides on all that waits.
func (r *returning) decides(verdict model.Verdict) {
	for len(pendingOf(r.t, r.ws)) > 0 {
		var ids []string
		for _, s := range pendingOf(r.t, r.ws) {
			ids = append(ids, s.ID)
		}
		if out, err := r.ws.Decide(r.t.Context(), ids, verdict, person); err != nil || len(out.Decided) == 0 {
			r.t.Fatalf("decided %+v: %v", out, err)
		}
	}
	r.states = append(r.states, r.note().Raw())
}

// undoes takes the last decision back, unless it has been.
func (r *returning) undoes() {
	_, err := r.ws.Undo(r.t.Context(), "", person)
	r.t.Logf("undo: %v", err)
	r.states = append(r.states, r.note().Raw())
}

var (
	ofMarks    = regexp.MustCompile(`\{\+\+|\+\+\}|\s`)
	agentsWord = regexp.MustCompile(`[ab](1|2|3é|4🙂|4🙃)`)
)

// check decides on all in one way and compares the words that are left: the people's, or all.
func (r *returning) check(verdict model.Verdict) {
	raw := r.note().Raw()
	want := ofMarks.ReplaceAllString(raw, "")
	if verdict == model.Rejected {
		want = agentsWord.ReplaceAllString(want, "")
	}
	r.decides(verdict)
	if got := ofMarks.ReplaceAllString(r.note().Raw(), ""); got != want {
		r.t.Fatalf("%s: %q leaves %q, want %q", verdict, raw, got, want)
	}
}

// wordBy is a new word, or one that stands somewhere.
func wordBy(rng *rand.Rand, author string) string {
	return author + randomtest.Pick(rng, "1", "2", "3é", "4🙂", "4🙃")
}

// insert puts a word before one of text.
func insert(rng *rand.Rand, text, word string) string {
	words := strings.SplitAfter(text, " ")
	at := rng.IntN(len(words))
	return strings.Join(slices.Insert(words, at, word+" "), "")
}

// A file that holds an earlier state again has its text by whoever wrote it, also if a program has
// written it in two halves.
func TestReturnsKeepTheirAuthors(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, rng *rand.Rand) {
		r := newReturning(t, "o1 o2 o3\no4 o5🙂 o6\n\no7\n")
		defer func() { r.stop() }()
		for range randomtest.Between(rng, 2, 12) {
			switch rng.IntN(9) {
			case 0, 1:
				author := randomtest.Pick(rng, "a", "b")
				r.writes(author, insert(rng, r.note().Text(), wordBy(rng, author)))
			case 2:
				r.saves(insert(rng, r.note().Raw(), wordBy(rng, "p")))
			case 3, 4:
				forth := r.note().Raw()
				r.saves(randomtest.Pick(rng, r.states...))
				if rng.IntN(2) > 0 {
					r.saves(forth)
				}
			case 5:
				raw := randomtest.Pick(rng, r.states...)
				r.saves(raw[:randomtest.Between(rng, 0, len(raw))]) // a program that has just begun to write
				r.states = r.states[:len(r.states)-1]
				r.saves(raw)
			case 6:
				r.restarts()
			case 7:
				r.decides(model.Rejected)
			case 8:
				r.undoes()
			}
			t.Logf("%q", r.note().Raw())
		}
		r.check(randomtest.Pick(rng, model.Accepted, model.Rejected))
	})
}

// A word that stands several times is in each state what it was there: whether the file comes back by deletions alone, or a
// suggestion that others were made of was rejected since.
func TestReturnsOfEqualWords(t *testing.T) {
	const start = "o1 o2 o3\n"
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		r := newReturning(t, start)
		r.writes("b", "o1 b2 o2 o3\n")
		r.writes("a", "o1 a1 b2 o2 o3\n")
		r.writes("b", "o1 a1 b1 b2 o2 o3\n")
		r.saves(r.states[1])
		r.check(verdict)
		r.stop()

		r = newReturning(t, start)
		r.writes("a", "a1 "+start)
		r.writes("a", "a1 a1 "+start)
		r.writes("a", "a1 a1 a1 "+start)
		r.saves(r.states[1][:9])
		r.saves(r.states[1])
		r.decides(model.Rejected)
		r.writes("a", "a1 "+start)
		r.saves(r.states[2])
		r.check(verdict)
		r.stop()

		r = newReturning(t, start)
		r.writes("a", "o1 a1 o2 o3\n")
		r.saves("o1 {++p1 ++}o2 o3\n")
		r.saves("o1 {++p1 a1 ++}o2 o3\n")
		r.saves(r.states[1])
		r.check(verdict)
		r.stop()
	}
}

// An accepted comment changes no text. The states before that decision can be restored as well.
func TestReturnsAfterAnAcceptedComment(t *testing.T) {
	r := newReturning(t, "# o1\n\no2\n")
	defer func() { r.stop() }()
	r.writes("a", "# o1\no2\n")
	r.saves("# o1\n{-- p1 \n--}o2\n")
	want := r.note().Text()
	r.saves("# o1\n--}o2\n")
	r.writes("a", "# o1{>>a2<<}\no2\n")
	r.decides(model.Accepted)
	r.saves("# o1\n{-- p1 \n--}o2\n")
	if got := r.note().Text(); got != want || got != "# o1\n p1 o2\n" {
		t.Errorf("the view is %q, want %q", got, want)
	}
}

// loads counts how often the history of a document is read.
type loads struct {
	*bridgetest.Store
	n atomic.Int64
}

func (l *loads) Load(id model.DocID) (model.History, error) {
	l.n.Add(1)
	return l.Store.Load(id)
}

// A save that only adds text brings nothing back if nothing was deleted before, and reads no history.
func TestAdditionsReadNoHistory(t *testing.T) {
	src, store := bridgetest.NewSource(t), &loads{Store: bridgetest.NewStore(t)}
	src.Person(t).Save("N.md", "one two three\n")
	ws := process(t, src, store)
	write(t, ws, "Notes/N.md", bridge.Write{Text: "one two three five\n", By: ann})
	go ws.Run(t.Context())
	saves := func(raw string) int64 {
		before := store.n.Load()
		src.Person(t).Save("N.md", raw)
		if err := src.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := open(t, ws, "Notes/N.md").Raw(); got != raw {
			t.Fatalf("the note is %q, want %q", got, raw)
		}
		return store.n.Load() - before
	}
	if n := saves("one two three four{++ five++}\n"); n != 0 {
		t.Errorf("the history was read %d times for an addition", n)
	}
	saves("one three four{++ five++}\n")
	if n := saves("one two three four{++ five++}\n"); n == 0 {
		t.Error("the history was not read for text that comes back")
	}
}
