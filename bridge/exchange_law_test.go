package bridge_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
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
