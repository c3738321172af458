package bridge_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// staleNote is a note of which several processes of agents have read different states.
type staleNote struct {
	t   *testing.T
	f   *bridgetest.Fixture
	src *bridgetest.Source
}

func newStaleNote(t *testing.T, text string) *staleNote {
	f := bridgetest.New(t, map[string]string{"V/N.md": text})
	return &staleNote{t, f, f.Source("V")}
}

// saves lets a user save the file.
func (s *staleNote) saves(text string) {
	s.t.Helper()
	s.src.Person(s.t).Save("N.md", text)
	if err := s.src.Settle(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *staleNote) open() *model.Version {
	s.t.Helper()
	v, err := s.f.Open(s.t.Context(), "V/N.md")
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

func (s *staleNote) write(author string, base *model.Version, text string) {
	s.t.Helper()
	_, err := s.f.Write(s.t.Context(), "V/N.md", bridge.Write{Base: base, Text: text, By: model.Author{Name: author}})
	if err != nil {
		s.t.Fatalf("%s writes %q: %v", author, text, err)
	}
}

func (s *staleNote) has(words ...string) {
	s.t.Helper()
	for _, w := range words {
		if raw := s.open().Raw(); !strings.Contains(raw, w) {
			s.t.Errorf("%q is not in %q", w, raw)
		}
	}
}

// Who read the note before an agent first wrote in it has not read what agents have proposed
// since, and takes none of it away, whatever letters it has in common with what was read.
func TestStaleWriteOfWhatWasReadBeforeTheFirstSuggestion(t *testing.T) {
	s := newStaleNote(t, "p001 p002 p003 p004\n")
	s.takesNothingAway(s.open(), "")
}

// takesNothingAway has agents write, what one of them had read at last. The note begins with start.
func (s *staleNote) takesNothingAway(read *model.Version, start string) {
	s.t.Helper()
	s.saves(strings.Replace(s.open().Raw(), "p003 ", "", 1))
	s.write("carol", s.open(), start+"p001 c005 p004\n")
	s.write("alice", s.open(), start+"p001 a012 c005 p004\n")
	s.write("alice", read, start+"p001 a013 p003 p004\n")
	s.has("a012", "a013", "c005")
}

// The same holds of what was read before the note's document was in memory, and was dropped
// from there.
func TestStaleWriteOfWhatIsNotInMemory(t *testing.T) {
	src := bridgetest.NewSource(t)
	src.Person(t).Save("N.md", "p001 p002 p003 p004\n")
	src.Person(t).Save("Other.md", "")
	folders := []bridge.RootSource{{Name: "V", Source: src, Store: bridgetest.NewStore(t)}}
	run := func() *staleNote {
		return &staleNote{t, bridgetest.New(t, nil, func(o *bridge.Options) { o.CacheBytes, o.Roots = 1, folders }), src}
	}
	first := run()
	first.write("bob", first.open(), "b005\np001 p002 p003 p004\n")
	next := run()
	read := next.open()
	if _, err := next.f.Open(t.Context(), "V/Other.md"); err != nil {
		t.Fatal(err)
	}
	next.takesNothingAway(read, "b005\n")
}

// What was read, rejected and brought back is what was read: who deletes it then has deleted it.
func TestStaleWriteOfWhatCameBack(t *testing.T) {
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		s := newStaleNote(t, "one two three\n")
		if verdict == model.Rejected {
			s.write("alice", s.open(), "one more two three\n")
		} else {
			s.write("alice", s.open(), "one three\n")
		}
		read := s.open()
		s.saves(strings.Replace(read.Raw(), "three", "person three", 1))
		for range 2 {
			out, err := s.f.Decide(t.Context(), s.ids(), verdict, model.Author{Name: "person"})
			if err == nil {
				_, err = s.f.Undo(t.Context(), out.Batch, model.Author{Name: "person"})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		s.write("alice", read, "one\n")
		if raw := s.open().Raw(); strings.Contains(raw, "more") || !strings.Contains(raw, "person") || strings.Count(raw, "two") != 1 {
			t.Errorf("%s and brought back, then deleted: %q", verdict, raw)
		}
	}
}

// Nor has who read an agent's words read those that the agent has put in their place, although
// the agent's addition keeps the letters that both have.
func TestStaleWriteOfWordsThatAreOthersNow(t *testing.T) {
	s := newStaleNote(t, "one\n\ntwo\n")
	s.write("alice", s.open(), "one\n\na012 a013.\n\na014 a015\n\ntwo\n")
	read := s.open()
	s.write("alice", s.open(), "one\n\na012 a013.\n\na017 a018.\n\na019 a020\n\ntwo\n")
	s.write("alice", read, "one\n\na012 a013.\n\na015\n\ntwo\n")
	s.has("a012", "a013", "a017", "a018", "a019", "a020")
}

// Who deletes what a user typed inside of the writer's own deletion has deleted that, although
// the raw text stays as it is.
func TestDeleteWhatAPersonTypedInADeletion(t *testing.T) {
	for verdict, want := range map[model.Verdict]string{model.Accepted: "one\n", model.Rejected: "one two person three\n"} {
		s := newStaleNote(t, "one two three\n")
		s.write("alice", s.open(), "one\n")
		s.saves("one{-- two person three--}\n")
		s.write("alice", s.open(), "one\n")
		if got := s.open().Text(); got != "one\n" {
			t.Errorf("what was deleted is shown: %q", got)
		}
		if _, err := s.f.Decide(t.Context(), s.ids(), verdict, model.Author{Name: "person"}); err != nil {
			t.Fatal(err)
		}
		if got := s.open().Raw(); got != want {
			t.Errorf("%s: %q, want %q", verdict, got, want)
		}
	}
}

// A deletion that its author withdrew is not pending again when a user moves a delimiter of another deletion over its text.
func TestWithdrawnDeletionIsOver(t *testing.T) {
	s := newStaleNote(t, "one\ntwo\nthree\n")
	s.write("alice", s.open(), "one\nthree\n")
	s.write("alice", s.open(), "one\ntwo\nthree\n")
	s.write("bob", s.open(), "two\nthree\n")
	s.saves("{--one\ntwo\n--}three\n")
	if got := s.open().Text(); got != "two\nthree\n" {
		t.Errorf("the note reads %q", got)
	}
}

// A user's save replaces words as a whole, as a stale write does: letters that the old
// and the new word have in common are not text that was kept.
func TestSaveReplacesWholeWords(t *testing.T) {
	s := newStaleNote(t, "the p002 fox\n")
	s.write("alice", s.open(), "the p002 fox jumps\n")
	read := s.open()
	s.saves(strings.ReplaceAll(read.Raw(), "p002", "h012"))
	s.write("alice", read, "the fox jumps\n")
	s.has("h012 fox")
	s.saves(strings.ReplaceAll(s.open().Raw(), "jumps", "humps"))
	s.has("humps")
	if _, err := s.f.Decide(t.Context(), s.ids(), model.Rejected, model.Author{Name: "person"}); err != nil {
		t.Fatal(err)
	}
	s.has("humps")
}

func (s *staleNote) ids() (ids []string) {
	s.t.Helper()
	list, err := s.f.Suggestions(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, x := range list {
		ids = append(ids, x.ID)
	}
	return ids
}

// A writer that may not have read its base proposes again what a user has rejected. A writer that has read it does not.
// Both keep what the user wrote.
func TestStaleWriteAfterARejection(t *testing.T) {
	t.Parallel()
	ann := model.Author{Name: "ann"}
	for _, tt := range []struct{ name, before, after, personal, repeated string }{
		{"replaced", "one two\n", "one TWO\n", "one two\nmine\n", "one TWO\nmine\n"},
		{"added", "one\n", "one\ntwo\n", "mine\none\n", "mine\none\ntwo\n"},
		{"deleted", "one\ntwo\nthree\n", "one\nthree\n", "one\ntwo\nthree mine\n", "one\nthree mine\n"},
	} {
		for _, unread := range []bool{true, false} {
			f := bridgetest.New(t, map[string]string{"V/N.md": tt.before})
			base := write(t, f.Workspace, "V/N.md", bridge.Write{Text: tt.after, By: ann}).Version
			rejectAll(t, f.Workspace, "V/N.md")
			f.Person("V/N.md", tt.personal)
			want := tt.personal
			if unread {
				want = tt.repeated
			}
			res := write(t, f.Workspace, "V/N.md", bridge.Write{Base: base, Unread: unread, Text: tt.after, By: ann})
			v := res.Version
			if got := v.Text(); got != want {
				t.Errorf("%s, unread %v: got %q, want %q", tt.name, unread, got, want)
			}
			if got := v.Known().Original(v.Canonical()); got != tt.personal {
				t.Errorf("%s, unread %v: without suggestions %q, want %q", tt.name, unread, got, tt.personal)
			}
		}
	}
}

// A stale write gives the same text, whether relayfs has the note's document in memory or not.
func TestStaleWriteInAndOutOfMemory(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		const path = "V/N.md"
		var fixtures [2]*bridgetest.Fixture // the second one drops the note from memory after each step
		for i := range fixtures {
			files := map[string]string{path: "one two one two\none two\n", "V/Other.md": ""}
			fixtures[i] = bridgetest.New(t, files, func(o *bridge.Options) { o.CacheBytes = i }) // 0 is the default
		}
		each := func(do func(i int, f *bridgetest.Fixture)) {
			for i, f := range fixtures {
				do(i, f)
				if _, err := f.Open(t.Context(), "V/Other.md"); err != nil {
					t.Fatal(err)
				}
			}
		}
		var bases [3][2]*model.Version
		made := 0
		change := func(text string) string {
			made++
			words := strings.SplitAfter(text, " ")
			at := r.IntN(len(words))
			switch r.IntN(3) {
			case 0:
				words = slices.Delete(words, at, min(at+1+r.IntN(2), len(words)))
			case 1:
				words = slices.Insert(words, at, randomtest.Pick(r, "one ", "two ", fmt.Sprintf("w%03d ", made)))
			default:
				words[at] = fmt.Sprintf("w%03d\n", made)
			}
			return strings.Join(words, "")
		}
		for range 3 + r.IntN(8) {
			kind, who := r.IntN(6), r.IntN(3)
			switch {
			case kind == 0:
				verdict := randomtest.Pick(r, model.Accepted, model.Rejected)
				each(func(_ int, f *bridgetest.Fixture) {
					list, _ := f.Suggestions(t.Context(), "V")
					if len(list) > 0 {
						f.Decide(t.Context(), []string{list[0].ID}, verdict, model.Author{Name: "person"})
					}
				})
			case kind == 1:
				text := strings.Replace(fixtures[0].SourceText(path), "one ", "one p ", 1)
				each(func(_ int, f *bridgetest.Fixture) { f.Person(path, text) })
			case bases[who][0] == nil || kind == 2:
				each(func(i int, f *bridgetest.Fixture) { bases[who][i], _ = f.Open(t.Context(), path) })
			default:
				text := change(bases[who][0].Text())
				var errs [2]error
				each(func(i int, f *bridgetest.Fixture) {
					_, errs[i] = f.Write(t.Context(), path, bridge.Write{Base: bases[who][i], Text: text, By: model.Author{Name: fmt.Sprint("agent", who)}})
				})
				if (errs[0] == nil) != (errs[1] == nil) {
					t.Fatalf("%q becomes %q: %v, %v", bases[who][0].Text(), text, errs[0], errs[1])
				}
			}
			if a, b := fixtures[0].SourceText(path), fixtures[1].SourceText(path); a != b {
				t.Fatalf("in memory %q, else %q", a, b)
			}
		}
	})
}

// A user and an agent convert a note in the same way, and both change it.
func TestStaleWriteOfAConvertedNote(t *testing.T) {
	const read = "---\na: 1\n---\n# T\n\nalpha beta.\n\ngamma delta.\n"
	withCRLF := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	withMark := func(text string) string { return diffwrap.ByteOrderMark + text }
	for name, convert := range map[string]func(string) string{"CRLF": withCRLF, "byte order mark": withMark} {
		t.Run(name, func(t *testing.T) {
			s := newStaleNote(t, read)
			base := s.open()
			typed := convert(strings.NewReplacer("a: 1", "a: 1\nb: 2", "gamma", "typed gamma").Replace(read))
			s.saves(typed)
			s.write("alice", base, convert(strings.Replace(read, "beta", "BETA", 1)))
			if got, want := s.open().Raw(), strings.Replace(typed, "beta", "{--beta--}{++BETA++}", 1); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
