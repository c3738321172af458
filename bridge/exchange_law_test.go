package bridge_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// exchanged is a vault in which an agent has proposed to exchange the names of the notes of a circle.
type exchanged struct {
	*bridgetest.Fixture
	t     testing.TB
	index string // text of the note with the links
}

func newExchanged(t testing.TB, size int) *exchanged {
	files := make(map[string]string)
	x := &exchanged{t: t, index: "---\nkA: \"[[A]]\"\nkB: \"[[B]]\"\n---\n"}
	sentence := ""
	for i := range size {
		name := string(rune('A' + i))
		files["Notes/"+name+".md"] = "word " + name + "\n"
		sentence += fmt.Sprintf("\nk%s see [[%s]]\n", name, name)
		x.index += fmt.Sprintf("\nk%s [[%s]]\n", name, name)
	}
	files["Notes/Index.md"] = x.index
	x.Fixture = bridgetest.New(t, files)
	write(t, x.Workspace, "Notes/Index.md", bridge.Write{Text: x.index + sentence, By: ann})
	move := func(from, to string) {
		if _, err := x.Workspace.Rename(t.Context(), model.Path("Notes/"+from+".md"), model.Path("Notes/"+to+".md"), bridge.ChangeRequest{Author: ann}); err != nil {
			t.Fatal(err)
		}
	}
	move("A", "aside")
	for i := 1; i < size; i++ {
		move(string(rune('A'+i)), string(rune('A'+i-1)))
	}
	move("aside", string(rune('A'+size-1)))
	return x
}

func (x *exchanged) vault() map[string]string {
	files := make(map[string]string)
	for _, rel := range x.Source("Notes").Person(x.t).Names() {
		files[rel] = x.SourceText("Notes/" + rel)
	}
	return files
}

func (x *exchanged) proposals() (ids []string) {
	list, err := x.Proposals(x.t.Context(), "")
	if err != nil {
		x.t.Fatal(err)
	}
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}

// If a person has since removed or moved one of the notes whose names were exchanged, an undo changes nothing, and says why. The
// undo succeeds once the note is back.
func TestUndoOfAnExchangeIsWholeOrNothing(t *testing.T) {
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		for _, size := range []int{2, 3} {
			for i := range size {
				for _, removed := range []bool{false, true} {
					x := newExchanged(t, size)
					name := string(rune('A' + i))
					before := x.vault()
					decide(t, x.Workspace, verdict, x.proposals()...)
					if at := "Notes/" + name + ".md"; removed {
						x.Delete(at)
					} else {
						x.Fixture.Rename(at, "Notes/Moved.md")
					}
					vault := x.vault()
					out, err := x.Undo(t.Context(), "", person)
					what := fmt.Sprintf("%s, %d notes, %s removed: %v", verdict, size, name, removed)
					if err != nil || len(out.Failed) != size || out.Notes != 0 {
						t.Errorf("%s: %v, %+v", what, err, out.Failed)
					}
					for p, err := range out.Failed {
						if says := err.Error(); !strings.Contains(says, "put it back at") && !strings.Contains(says, "with which it exchanged names") {
							t.Errorf("%s: %s: %v", what, p, err)
						}
					}
					if got := x.vault(); !maps.Equal(got, vault) {
						t.Errorf("%s: the undo made\n%q of\n%q", what, got, vault)
					}
					if got := x.proposals(); len(got) > 0 {
						t.Errorf("%s: %d proposals", what, len(got))
					}
					if removed {
						continue
					}
					x.Fixture.Rename("Notes/Moved.md", "Notes/"+name+".md")
					if out, err := x.Undo(t.Context(), "", person); err != nil || len(out.Failed) > 0 {
						t.Errorf("%s: with the note back: %v, %v", what, err, out.Failed)
					}
					if got := x.vault(); !maps.Equal(got, before) {
						t.Errorf("%s: undone with the note back\n%q, want\n%q", what, got, before)
					}
				}
			}
		}
	}
}

// A person moves or removes notes of an exchange that waits, and rejects the rest. No link then leads to another note.
func TestRejectionOfTheRestOfAnExchange(t *testing.T) {
	randomtest.Check(t, 60, func(t testing.TB, r *rand.Rand) {
		size := 2 + r.IntN(2)
		x := newExchanged(t, size)
		name := func() string { return string(rune('A' + r.IntN(size))) }
		for range 1 + r.IntN(2) {
			name := name()
			at, to := "Notes/"+name+".md", "Notes/"+randomtest.Pick(r, "Moved", "f/"+name, string(rune('A'+r.IntN(size))))+".md"
			switch vault := x.vault(); {
			case vault[name+".md"] == "":
			case r.IntN(3) == 0:
				x.Delete(at)
			case vault[strings.TrimPrefix(to, "Notes/")] == "":
				x.Fixture.Rename(at, to)
			}
		}
		for ids := x.proposals(); len(ids) > 0; ids = x.proposals() { // one rename may need another one to be rejected with it
			if _, err := x.Decide(t.Context(), ids[r.IntN(len(ids)):], model.Rejected, person); err != nil {
				t.Fatal(err)
			}
		}
		names := make(map[string]string)
		for rel, text := range x.vault() {
			names["Notes/"+rel] = text
		}
		text := names["Notes/Index.md"]
		for _, l := range links.Extract(text) {
			line := text[strings.LastIndexByte(text[:l.Off], '\n')+1:]
			_, word, _ := strings.Cut(line, "k")
			untouched := resolveIn(names, "Notes/Index.md", links.Link{Target: word[:1]})
			if got := resolveIn(names, "Notes/Index.md", l); got != "" && got != untouched && got != "word "+word[:1]+"\n" {
				t.Errorf("a link to %s leads to %q:\n%q", word[:1], got, names)
			}
		}
	})
}

// brittle is a source whose disk fails every rename from the time of fail until it is mended.
type brittle struct {
	*bridgetest.Source
	left *int // number of renames until the disk fails; negative if it works
}

func (s brittle) Rename(ctx context.Context, oldRel, newRel string, replace bool) error {
	if *s.left == 0 {
		return &fs.PathError{Op: "rename", Path: oldRel, Err: syscall.EIO}
	}
	*s.left--
	return s.Source.Rename(ctx, oldRel, newRel, replace)
}

// A disk that fails in the middle of the acceptance of an exchange leaves a note at a third name. The next start or decision settles
// it, whatever the user then decides.
func TestExchangeOnAFailingDisk(t *testing.T) {
	for left := range 4 {
		for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
			for _, restart := range []bool{false, true} {
				works := -1
				src, store := brittle{bridgetest.NewSource(t), &works}, bridgetest.NewStore(t)
				src.Person(t).Save("A.md", "word A\n")
				src.Person(t).Save("B.md", "word B\n")
				ws := process(t, src, store)
				if err := ws.Exchange(t.Context(), "Notes/A.md", "Notes/B.md", bridge.ChangeRequest{Author: ann}); err != nil {
					t.Fatal(err)
				}
				list, err := ws.Proposals(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				ids := []string{list[0].ID, list[1].ID}
				works = left
				if _, err := ws.Decide(t.Context(), ids, model.Accepted, person); err != nil {
					t.Fatal(err)
				}
				works = -1
				if restart {
					ws = process(t, src, store)
				}
				if _, err := ws.Decide(t.Context(), ids, verdict, person); err != nil {
					t.Fatal(err)
				}
				a, b := "word A\n", "word B\n"
				if verdict == model.Accepted || src.Person(t).Content("A.md") == b { // the start has completed the acceptance
					a, b = b, a
				}
				person := src.Person(t)
				if names := person.Names(); !slices.Equal(names, []string{"A.md", "B.md"}) || person.Content("A.md") != a || person.Content("B.md") != b {
					t.Errorf("%d renames, then %s, restart %v: %q", left, verdict, restart, names)
				}
			}
		}
	}
}
