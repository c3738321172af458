package bridge_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// talk is a note on which people and an agent write, comment, resolve and decide, with the
// comments that there must be.
type talk struct {
	t       testing.TB
	r       *rand.Rand
	src     *bridgetest.Source
	store   *bridgetest.Store
	ws      *bridge.Workspace
	stays   map[string]bool // of each comment that there is: it is about the text, not about a suggestion
	ids     map[string]string
	written int
	last    *before
}

// before is what an undo must lead back to.
type before struct {
	batch, raw string
	stays      map[string]bool
}

func (k *talk) raw() string {
	v, err := k.ws.Open(k.t.Context(), plan)
	if err != nil {
		k.t.Fatal(err)
	}
	return v.Raw()
}

func (k *talk) threads() []model.Thread {
	list, err := k.ws.Threads(k.t.Context(), "")
	if err != nil {
		k.t.Fatal(err)
	}
	return list
}

func (k *talk) fresh(what string) string {
	k.written++
	return fmt.Sprintf("%s%d", what, k.written)
}

// words are those of the accepted view that are not in comments.
func (k *talk) words() []string {
	_, accepted := (diffwrap.Known{}).Texts(k.raw())
	return strings.FieldsFunc(accepted, func(r rune) bool { return r == ' ' || r == '\n' || r == '.' })
}

// check compares the threads with the comments that there must be.
func (k *talk) check() {
	raw, texts := k.raw(), make(map[string]bool)
	for _, th := range k.threads() {
		first := th.Entries[0].New
		if old := k.ids[first]; old != "" && old != th.ID {
			k.t.Fatalf("the thread of %s was %s, is %s: %q", first, old, th.ID, raw)
		}
		k.ids[first] = th.ID
		for _, r := range th.Entries {
			texts[r.New] = true
			if _, ok := k.stays[r.New]; ok && th.Suggestion == "" { // its suggestion's author has left it to the text
				k.stays[r.New] = true
			}
			if r.Author != person.Name || r.Agent || r.Time.IsZero() {
				k.t.Fatalf("%s is by %q, agent %t, at %v: %q", r.New, r.Author, r.Agent, r.Time, raw)
			}
		}
	}
	want := make(map[string]bool)
	for text := range k.stays {
		want[text] = true
	}
	if !maps.Equal(texts, want) || strings.Count(raw, "{>>") != len(want) {
		k.t.Fatalf("comments %v, want %v in %q", slices.Sorted(maps.Keys(texts)), slices.Sorted(maps.Keys(want)), raw)
	}
}

// act does what a user can take back.
func (k *talk) act(do func() (bridge.Outcome, error)) {
	old := &before{raw: k.raw(), stays: maps.Clone(k.stays)}
	out, err := do()
	if errors.Is(err, model.ErrRefused) {
		k.t.Skip(err)
	}
	if err != nil || out.Notes != 1 || len(out.Failed)+len(out.Missing) > 0 {
		k.t.Fatalf("%+v, %v", out, err)
	}
	old.batch = out.Batch
	k.last = old
}

func (k *talk) comment(at bridge.CommentAnchor) {
	text := k.fresh("c")
	at.Path = plan
	raw := k.raw()
	k.act(func() (bridge.Outcome, error) { return k.ws.Comment(k.t.Context(), at, text, person) })
	if got := strings.Replace(k.raw(), "{>>"+text+"<<}", "", 1); got != raw {
		k.t.Fatalf("a comment made %q of %q", got, raw)
	}
	for _, th := range k.threads() {
		if i := slices.IndexFunc(th.Entries, func(r model.ThreadComment) bool { return r.New == text }); i >= 0 {
			k.stays[text] = th.Suggestion == ""
			if i != len(th.Entries)-1 {
				k.t.Fatalf("%s is not the last of its thread: %+v", text, th)
			}
			return
		}
	}
	k.t.Fatalf("no thread has %s: %q", text, k.raw())
}

func (k *talk) resolve() {
	th := randomtest.Pick(k.r, k.threads()...)
	raw := k.raw()
	k.act(func() (bridge.Outcome, error) { return k.ws.ResolveThreads(k.t.Context(), []string{th.ID}, person) })
	if got, want := k.raw(), raw[:th.Start]+raw[th.End:]; got != want {
		k.t.Fatalf("resolving %+v made %q, want %q", th, got, want)
	}
	for _, r := range th.Entries {
		delete(k.stays, r.New)
	}
}

func (k *talk) decide(verdict model.Verdict) {
	s := randomtest.Pick(k.r, pendingOf(k.t, k.ws)...)
	threads := k.threads()
	k.act(func() (bridge.Outcome, error) { return k.ws.Decide(k.t.Context(), []string{s.ID}, verdict, person) })
	for _, th := range threads {
		for _, r := range th.Entries {
			if th.Suggestion == s.ID && !k.stays[r.New] {
				delete(k.stays, r.New)
			}
		}
	}
}

func (k *talk) undo() {
	if _, err := k.ws.Undo(k.t.Context(), k.last.batch, person); err != nil {
		k.t.Fatal(err)
	}
	if got := k.raw(); got != k.last.raw {
		k.t.Fatalf("taken back: %q, want %q", got, k.last.raw)
	}
	k.stays, k.last = k.last.stays, nil
}

// agentEdits replaces a word by a new one: also one of its own.
func (k *talk) agentEdits() {
	words := k.words()
	word := words[k.r.IntN(len(words))]
	v, err := k.ws.Open(k.t.Context(), plan)
	if err != nil {
		k.t.Fatal(err)
	}
	_, err = k.ws.Write(k.t.Context(), plan, bridge.Write{Base: v, Text: strings.Replace(v.Text(), word, k.fresh("w"), 1), By: ann})
	if err != nil {
		k.t.Fatal(err)
	}
	k.last = nil
}

func (k *talk) restart() { k.ws = process(k.t, k.src, k.store) }

// TestThreadsLaw: a comment changes nothing but that it is there, at the end of its thread;
// resolving takes exactly the thread; a decision takes along what was said about its
// suggestion, and nothing else; each is undone to the byte; and threads keep their
// names and authors over restarts and other people's edits.
func TestThreadsLaw(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		k := &talk{t: t, r: r, src: bridgetest.NewSource(t), store: bridgetest.NewStore(t), stays: make(map[string]bool), ids: make(map[string]string)}
		k.src.Person(t).Save("Plan.md", "# t1\n\na1 a2 a3 a4.\n\nb1 b2 b3.\n")
		k.restart()
		randomtest.Repeat(t, r, k.check, map[string]func(){
			"comment on the text": func() {
				words := k.words()
				k.comment(bridge.CommentAnchor{Quote: words[k.r.IntN(len(words))]})
			},
			"comment on a suggestion": func() {
				if list := pendingOf(t, k.ws); len(list) > 0 {
					k.comment(bridge.CommentAnchor{Suggestion: randomtest.Pick(r, list...).ID})
				}
			},
			"reply": func() {
				if list := k.threads(); len(list) > 0 {
					k.comment(bridge.CommentAnchor{Thread: randomtest.Pick(r, list...).ID})
				}
			},
			"resolve": func() {
				if len(k.threads()) > 0 {
					k.resolve()
				}
			},
			"decide": func() {
				if len(pendingOf(t, k.ws)) > 0 {
					k.decide(randomtest.Pick(r, model.Accepted, model.Rejected))
				}
			},
			"undo": func() {
				if k.last != nil {
					k.undo()
				}
			},
			"agent edits": k.agentEdits,
			"restart":     k.restart,
			"person types around it": func() {
				raw := k.raw()
				k.src.Person(t).Save("Plan.md", k.fresh("p")+" "+raw+k.fresh("q")+"\n")
				k.restart()
				k.last = nil
			},
		})
	})
}

// TestAnswers: what an agent proposes where something of it was rejected names that, until
// the rejection is undone; and a suggestion that was asked for again and has changed is answered.
func TestAnswers(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "One two three.\n"})
	edit := func(author model.Author, old, new string) {
		t.Helper()
		v := open(t, f.Workspace, plan)
		write(t, f.Workspace, plan, bridge.Write{Base: v, Text: strings.Replace(v.Text(), old, new, 1), By: author})
	}
	only := func() model.Suggestion {
		t.Helper()
		list := pendingOf(t, f.Workspace)
		if len(list) != 1 {
			t.Fatalf("pending: %+v", list)
		}
		return list[0]
	}
	edit(ann, "two", "many")
	first := only()
	out, err := f.Decide(t.Context(), []string{first.ID}, model.Rejected, model.Author{Name: "person", Reason: "a number, please"})
	if err != nil {
		t.Fatal(err)
	}
	edit(ann, "two", "seven")
	second := only()
	if a := second.PreviousRejection; a == nil || a.ID != first.ID || a.New != "many" || a.Reason != "a number, please" || a.By != "person" {
		t.Errorf("%+v answers %+v, want %s", second, a, first.ID)
	}
	if _, err := f.Comment(t.Context(), bridge.CommentAnchor{Path: plan, Suggestion: second.ID}, "less", person); err != nil {
		t.Fatal(err)
	}
	answered := func() bool {
		t.Helper()
		threads, err := f.Threads(t.Context(), "")
		if err != nil || len(threads) != 1 || threads[0].Suggestion != only().ID {
			t.Fatalf("threads %+v, %v", threads, err)
		}
		return threads[0].Answered
	}
	if answered() {
		t.Error("answered before the agent has written")
	}
	edit(ann, "seven", "six")
	if !answered() {
		t.Error("not answered")
	}
	if _, err := f.Decide(t.Context(), []string{only().ID}, model.Rejected, person); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Undo(t.Context(), "", person); err != nil {
		t.Fatal(err)
	}
	if got := open(t, f.Workspace, plan).Raw(); got != "One {--two--}{++six++}{>>less<<} three.\n" {
		t.Errorf("the note is %q", got)
	}
	if _, err := f.Undo(t.Context(), out.Batch, person); err != nil && !errors.Is(err, model.ErrRefused) {
		t.Error(err)
	}
}

// In a live document, too, a comment is written, resolved and undone to the byte.
func TestThreadsOfLiveNotes(t *testing.T) {
	const path, before = "Team/Note.md", "One 🦊 two.\n"
	f, live := openLive(t, map[string]string{"Note.md": before})
	raw := func(want string) {
		t.Helper()
		if got := open(t, f.Workspace, path).Raw(); got != want {
			t.Errorf("the note is %q, want %q", got, want)
		}
	}
	if _, err := f.Comment(t.Context(), bridge.CommentAnchor{Path: path, Quote: "🦊"}, "a fox?", person); err != nil {
		t.Fatal(err)
	}
	raw("One 🦊{>>a fox?<<} two.\n")
	peer(t, live, "Note.md", func(tx *ycrdt.Txn, text *ycrdt.Text) { text.Insert(tx, 0, "typed ") })
	threads, err := f.Threads(t.Context(), "Team")
	if err != nil || len(threads) != 1 || threads[0].Entries[0].Author != person.Name {
		t.Fatalf("threads %+v, %v", threads, err)
	}
	if _, err := f.ResolveThreads(t.Context(), []string{threads[0].ID}, person); err != nil {
		t.Fatal(err)
	}
	raw("typed " + before)
	for _, want := range []string{"typed One 🦊{>>a fox?<<} two.\n", "typed " + before} {
		if _, err := f.Undo(t.Context(), "", person); err != nil {
			t.Fatal(err)
		}
		raw(want)
	}
}

// A quote of several lines is found whichever line breaks it and the note have.
func TestCommentOnAQuoteWithOtherLineBreaks(t *testing.T) {
	for _, tt := range []struct{ text, quote, want string }{
		{"One\r\ntwo.\r\n", "One\ntwo", "One\r\ntwo{>>x<<}.\r\n"},
		{"One\ntwo.\n", "One\r\ntwo", "One\ntwo{>>x<<}.\n"},
		{"One\ntwo\r\nthree.\r\n", "One\ntwo\nthree", "One\ntwo\r\nthree{>>x<<}.\r\n"},
		{"One\n\ntwo\r\none\r\ntwo\n", "one\ntwo", "One\n\ntwo\r\none\r\ntwo{>>x<<}\n"},
	} {
		f := bridgetest.New(t, map[string]string{plan: tt.text})
		if _, err := f.Comment(t.Context(), bridge.CommentAnchor{Path: plan, Quote: tt.quote}, "x", person); err != nil {
			t.Errorf("%q in %q: %v", tt.quote, tt.text, err)
		} else if got := open(t, f.Workspace, plan).Raw(); got != tt.want {
			t.Errorf("%q in %q: the note is %q, want %q", tt.quote, tt.text, got, tt.want)
		}
	}
}

// A comment that somebody has changed since is not undone, and nothing of it is lost.
func TestChangedCommentsAreNotTakenBack(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "One two.\n"})
	out, err := f.Comment(t.Context(), bridge.CommentAnchor{Path: plan, Quote: "two"}, "why two?", person)
	if err != nil {
		t.Fatal(err)
	}
	const reworded = "One two{>>why only two?<<}.\n"
	f.Person(string(plan), reworded)
	undone, err := f.Undo(t.Context(), out.Batch, person)
	if err != nil || undone.Notes != 0 || !errors.Is(undone.Failed[plan], model.ErrRefused) {
		t.Errorf("Undo = %+v, %v, want a refusal", undone, err)
	}
	if got := open(t, f.Workspace, plan).Raw(); got != reworded {
		t.Errorf("the note is %q, want %q", got, reworded)
	}
}

// What a user says about a suggestion is answered by what a later session of the agent writes in it or next to it.
// If that takes some of it away, or stands in its middle, the suggestion is the later session's; else it stays as it is.
func TestLaterSessionsAnswer(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		f := bridgetest.New(t, map[string]string{plan: "one two three four\n"})
		as := func(session, old, new string) {
			text := open(t, f.Workspace, plan).Text()
			if strings.Count(text, old) != 1 {
				t.Fatalf("%q is not once in %q", old, text)
			}
			write(t, f.Workspace, plan, bridge.Write{Text: strings.Replace(text, old, new, 1), By: model.Author{Name: "ann", Session: session}})
		}
		thread := func() model.Thread {
			list, err := f.Threads(t.Context(), "")
			if err != nil || len(list) != 1 {
				t.Fatalf("threads %+v, %v", list, err)
			}
			return list[0]
		}
		words := []string{"red", "green", "blue"}[:randomtest.Between(r, 1, 3)]
		old := randomtest.Pick(r, "", "three ", "three four")
		if old == "" {
			as("s", "two ", "two "+strings.Join(words, " ")+" ")
		} else {
			as("s", old, strings.Join(words, " ")+strings.Repeat(" ", strings.Count(old, " ")%2))
		}
		first := pendingOf(t, f.Workspace)[0]
		if _, err := f.Comment(t.Context(), bridge.CommentAnchor{Path: plan, Suggestion: first.ID}, "why?", person); err != nil {
			t.Fatal(err)
		}
		if thread().Answered {
			t.Fatalf("answered before anything was written: %q", open(t, f.Workspace, plan).Raw())
		}

		i := r.IntN(len(words))
		answers, amends := true, true
		switch randomtest.Pick(r, "take", "change", "before", "behind", "elsewhere") {
		case "take":
			if len(words) == 1 {
				t.Skip("nothing of it would be left")
			}
			if i == 0 {
				as("t", words[0]+" ", "")
			} else {
				as("t", " "+words[i], "")
			}
		case "change":
			as("t", words[i], "new")
		case "before":
			amends = i > 0
			as("t", words[i], "new "+words[i])
		case "behind":
			amends = i < len(words)-1
			as("t", words[i], words[i]+" new")
		case "elsewhere":
			answers, amends = false, false
			as("t", "one", "1")
		}
		raw := open(t, f.Workspace, plan).Raw()
		th := thread()
		if th.Answered != answers {
			t.Errorf("answered %v, want %v: %q", th.Answered, answers, raw)
		}
		left := slices.IndexFunc(pendingOf(t, f.Workspace), func(s model.Suggestion) bool {
			return s.ID == first.ID && s.Session == "s" && s.New == first.New && s.Old == first.Old
		})
		if amends == (left >= 0) {
			t.Errorf("the suggestion %+v is as it was: %v; %q", first, left >= 0, raw)
		}
		for _, s := range pendingOf(t, f.Workspace) {
			if amends && (s.Session != "t" || s.ID == th.Suggestion && !s.Time.After(th.Entries[0].Time)) {
				t.Errorf("%+v is not the later session's: %q", s, raw)
			}
		}
	})
}
