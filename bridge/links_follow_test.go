package bridge_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// linkedVault is a workspace whose process can be replaced.
type linkedVault struct {
	t     testing.TB
	src   *bridgetest.Source
	store *bridgetest.Store
	ws    *bridge.Workspace
}

func newLinkedVault(t testing.TB, files map[string]string) *linkedVault {
	v := &linkedVault{t: t, src: bridgetest.NewSource(t), store: bridgetest.NewStore(t)}
	for name, text := range files {
		v.src.Person(t).Save(name, text)
	}
	v.restart()
	return v
}

func (v *linkedVault) restart() { v.ws = process(v.t, v.src, v.store) }

func (v *linkedVault) content(rel string) string { return v.src.Person(v.t).Content(rel) }

func (v *linkedVault) says(when, rel, want string) {
	v.t.Helper()
	if got := v.content(rel); got != want {
		v.t.Errorf("%s: %s is %q, want %q", when, rel, got, want)
	}
}

// edits lets an author change a note as shown.
func (v *linkedVault) edits(by model.Author, p model.Path, old, new string) {
	v.t.Helper()
	_, err := v.ws.Update(v.t.Context(), p, by, nil, func(current *model.Version) (string, error) {
		if !strings.Contains(current.Text(), old) {
			return "", fmt.Errorf("%s has no %q: %q", p, old, current.Text())
		}
		return strings.Replace(current.Text(), old, new, 1), nil
	})
	if err != nil {
		v.t.Fatal(err)
	}
}

func (v *linkedVault) renames(by model.Author, from, to model.Path) string {
	v.t.Helper()
	res, err := v.ws.Rename(v.t.Context(), from, to, bridge.ChangeRequest{Author: by})
	if err != nil {
		v.t.Fatalf("%s to %s: %v", from, to, err)
	}
	return res.Proposal
}

// renameOf returns the ID of the pending rename of what the vault has at p.
func (v *linkedVault) renameOf(p model.Path) string {
	v.t.Helper()
	list, err := v.ws.Proposals(v.t.Context(), p)
	if err != nil || len(list) != 1 {
		v.t.Fatalf("the rename of %s: %+v, %v", p, list, err)
	}
	return list[0].ID
}

func (v *linkedVault) pending() []model.Suggestion {
	v.t.Helper()
	list, err := v.ws.Suggestions(v.t.Context(), "")
	if err != nil {
		v.t.Fatal(err)
	}
	return list
}

func (v *linkedVault) decides(verdict model.Verdict, ids ...string) string {
	v.t.Helper()
	out, err := v.ws.Decide(v.t.Context(), ids, verdict, person)
	if err != nil || len(out.Failed)+len(out.Missing) > 0 {
		v.t.Fatalf("%s %v: %+v, %v", verdict, ids, out, err)
	}
	return out.Batch
}

// only returns the single suggestion of an author.
func (v *linkedVault) only(by model.Author) model.Suggestion {
	v.t.Helper()
	list := slices.DeleteFunc(v.pending(), func(s model.Suggestion) bool {
		return s.Author != by.Name || s.Session != by.Session || s.Proposal != ""
	})
	if len(list) != 1 {
		v.t.Fatalf("%s %s: %d suggestions, want one: %+v", by.Name, by.Session, len(list), v.pending())
	}
	return list[0]
}

// A decision on a rename concerns the links alone: an agent's sentence with a link stays pending as it is, and its link
// follows the accepted rename. Decisions can be made and undone in any order.
func TestSentenceWithALinkOutlivesTheRename(t *testing.T) {
	mover := model.Author{Name: "claude", Session: "mover"}
	for _, linked := range []string{"[[Plan]]", "[[Plan|the plan]]", "[[Plan#One|x]]", "![[Plan]]", "[p](Plan.md)", "[p](<Plan.md> \"t\")"} {
		for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
			for _, onSentence := range []model.Verdict{model.Accepted, model.Rejected} {
				for _, sentenceFirst := range []bool{true, false} {
					for _, restart := range []bool{true, false} {
						when := fmt.Sprintf("%s, rename %s, sentence %s, first %v, restart %v", linked, verdict, onSentence, sentenceFirst, restart)
						v := newLinkedVault(t, map[string]string{"Plan.md": "# One\n", "B.md": "Text and [[Plan]].\n"})
						v.edits(ann, "Notes/B.md", "Text", "Text. A sentence about "+linked+" and more")
						before := v.only(ann)
						rename := v.renames(mover, plan, "Notes/Neu.md")
						if restart {
							v.restart()
						}
						if s := v.only(ann); s.ID != before.ID || s.New != before.New || len(v.pending()) != 2 {
							t.Fatalf("%s: the sentence is %+v, was %+v", when, s, before)
						}
						link := map[model.Verdict]string{model.Accepted: strings.Replace(linked, "Plan", "Neu", 1), model.Rejected: linked}[verdict]
						name := map[model.Verdict]string{model.Accepted: "Neu", model.Rejected: "Plan"}[verdict]
						sentence := ". A sentence about " + linked + " and more"
						followed := strings.Replace(sentence, linked, link, 1)
						marked := v.content("B.md")
						var batches []string
						if sentenceFirst {
							batches = append(batches, v.decides(onSentence, before.ID))
							if restart {
								v.restart()
							}
							batches = append(batches, v.decides(verdict, rename))
						} else {
							batches = append(batches, v.decides(verdict, rename))
							v.says(when+", the rename", "B.md", "Text{++"+followed+"++} and [["+name+"]].\n")
							if s := v.only(ann); s.ID != before.ID || s.New != followed {
								t.Errorf("%s: the sentence is %+v, was %+v", when, s, before)
							}
							if restart {
								v.restart()
							}
							batches = append(batches, v.decides(onSentence, before.ID))
						}
						want := "Text" + map[model.Verdict]string{model.Accepted: followed}[onSentence] + " and [[" + name + "]].\n"
						v.says(when, "B.md", want)
						if restart {
							v.restart()
						}
						if restart {
							slices.Reverse(batches)
						}
						for _, b := range batches {
							if _, err := v.ws.Undo(t.Context(), b, person); err != nil {
								t.Errorf("%s: undo: %v", when, err)
							}
						}
						waits := marked
						if onSentence == model.Rejected && !sentenceFirst && !restart {
							waits = strings.Replace(marked, linked, link, 1) // it was deleted when the rename was undone
						}
						v.says(when+", undone", "B.md", waits)
						if s := v.only(ann); s.ID != before.ID {
							t.Errorf("%s, undone: the sentence is %+v, was %+v", when, s, before)
						}
						v.decides(verdict, rename)
						v.decides(model.Accepted, before.ID)
						v.says(when+", again", "B.md", "Text"+followed+" and [["+name+"]].\n")
					}
				}
			}
		}
	}
}

// An undo of the session that renamed, and the rejection of all renames, take nothing of the sentence.
func TestUndoOfARenameKeepsTheSentence(t *testing.T) {
	v := newLinkedVault(t, map[string]string{"Plan.md": "x\n", "B.md": "Text.\n"})
	v.edits(ann, "Notes/B.md", "Text.", "Text. See [[Plan]].")
	want := v.content("B.md")
	v.renames(model.Author{Name: "ann", Session: "mover"}, plan, "Notes/Neu.md")
	if _, err := v.ws.UndoSession(t.Context(), "mover", person); err != nil {
		t.Fatal(err)
	}
	v.says("the renaming session undone", "B.md", want)
	v.only(ann)
	list, err := v.ws.Proposals(t.Context(), "")
	if err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A new note with a link is not deleted with a rejected rename, and goes as a whole if it is rejected after an accepted one.
func TestNewNoteWithALinkOutlivesTheRename(t *testing.T) {
	for _, head := range []string{"", "---\nup: \"[[Plan]]\"\n---\n"} {
		for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
			v := newLinkedVault(t, map[string]string{"Plan.md": "x\n"})
			if _, err := v.ws.Create(t.Context(), "Notes/Summary.md", bridge.Write{Text: head + "A long note, see [[Plan]].\n", By: ann}); err != nil {
				t.Fatal(err)
			}
			rename := v.renames(ann, plan, "Notes/Neu.md")
			note := v.only(ann)
			v.decides(verdict, rename)
			if s := v.only(ann); s.ID != note.ID {
				t.Errorf("%s: %+v, was %+v", verdict, s, note)
			}
			name := map[model.Verdict]string{model.Accepted: "Neu", model.Rejected: "Plan"}[verdict]
			v.says(string(verdict), "Summary.md", strings.ReplaceAll(head, "Plan", name)+"{++A long note, see [["+name+"]].\n++}")
			v.decides(model.Rejected, note.ID)
			if names := v.src.Person(t).Names(); slices.Contains(names, "Summary.md") {
				t.Errorf("%s, then the note rejected: the vault has %q", verdict, names)
			}
		}
	}
}

// Links that are written with the old name while a rename waits follow when it is accepted: in people's text, in agents' suggestions,
// in the text that a suggestion deletes, and in front matter. An undo restores them. Those that lead to another file by then stay.
func TestLinksWrittenMeanwhileFollow(t *testing.T) {
	files := map[string]string{"Plan.md": "x\n", "B.md": "Text.\n", "C.md": "Old [[Plan]] text.\n\nother\n", "F.md": "x\n", "N.md": "none\n"}
	for _, taken := range []bool{false, true} {
		v := newLinkedVault(t, files)
		rename := v.renames(ann, plan, "Notes/Neu.md")
		v.decides(model.Rejected, v.pending()[0].ID) // the person keeps that link as it is
		v.src.Person(t).Save("B.md", "Text. Mine [[Plan]], not [[Planet]] `[[Plan]]`.\n")
		v.src.Person(t).Save("U.md", "[[Plan#x|y]] ![[Plan]] [r][r]\n\n[r]: <Plan.md> \"t\"\n")
		v.src.Person(t).Save("F.md", "---\nup: '[[Plan]]'\n---\nx\n")
		if taken {
			v.src.Person(t).Save("sub/Plan.md", "another\n")
		}
		v.restart()
		v.edits(bob, "Notes/N.md", "none", "none, see [[Plan]]")
		v.edits(bob, "Notes/B.md", "Mine [[Plan]], ", "")
		if taken {
			v.decides(model.Accepted, rename)
			v.says("the old name is taken", "U.md", "[[Plan#x|y]] ![[Plan]] [r][r]\n\n[r]: <Plan.md> \"t\"\n")
			v.says("the old name is taken", "N.md", "none{++, see [[Plan]]++}\n")
			continue
		}
		before := make(map[string]string)
		for _, name := range v.src.Person(t).Names() {
			before[name] = v.content(name)
		}
		batch := v.decides(model.Accepted, rename)
		v.says("accepted", "B.md", "Text. {--Mine [[Neu]], --}not [[Planet]] `[[Plan]]`.\n")
		v.says("accepted", "U.md", "[[Neu#x|y]] ![[Neu]] [r][r]\n\n[r]: <Neu.md> \"t\"\n")
		v.says("accepted", "F.md", "---\nup: '[[Neu]]'\n---\nx\n")
		v.says("accepted", "N.md", "none{++, see [[Neu]]++}\n")
		v.says("accepted", "C.md", "Old [[Plan]] text.\n\nother\n")
		if kept, err := v.store.Proposals(); err != nil || len(kept) > 0 {
			t.Errorf("the store has %+v, %v", kept, err)
		}
		v.restart()
		if _, err := v.ws.Undo(t.Context(), batch, person); err != nil {
			t.Fatal(err)
		}
		after := make(map[string]string)
		for _, name := range v.src.Person(t).Names() {
			after[name] = v.content(name)
		}
		if !maps.Equal(before, after) {
			t.Errorf("undone: %q, want %q", after, before)
		}
	}
}

// What pends with the new name gets the old one back if the rename is rejected or withdrawn.
func TestPendingLinksFollowARejectedRename(t *testing.T) {
	for _, withdrawn := range []bool{false, true} {
		v := newLinkedVault(t, map[string]string{"Plan.md": "x\n", "B.md": "Text.\n", "Mine.md": "[[Neu]] is mine.\n"})
		rename := v.renames(ann, plan, "Notes/Neu.md")
		v.edits(bob, "Notes/B.md", "Text.", "Text. See [[Neu]].")
		s := v.only(bob)
		if withdrawn {
			v.renames(ann, "Notes/Neu.md", plan)
			v.says("withdrawn", "B.md", "Text.{++ See [[Plan]].++}\n")
		} else {
			batch := v.decides(model.Rejected, rename)
			v.says("rejected", "B.md", "Text.{++ See [[Plan]].++}\n")
			if _, err := v.ws.Undo(t.Context(), batch, person); err != nil {
				t.Fatal(err)
			}
			v.says("rejection undone", "B.md", "Text.{++ See [[Neu]].++}\n")
			v.decides(model.Rejected, rename)
		}
		if now := v.only(bob); now.ID != s.ID {
			t.Errorf("the sentence is %+v, was %+v", now, s)
		}
		v.says("the person's own link", "Mine.md", "[[Neu]] is mine.\n")
		v.decides(model.Accepted, s.ID)
		v.says("accepted", "B.md", "Text. See [[Plan]].\n")
	}
}

// A note is proposed to be deleted, a link in it follows a rename that is proposed, accepted or rejected, and an agent creates a note
// of that name: it has the agent's text alone.
func TestCreatedNoteHasNoLinkOfTheDeletedNote(t *testing.T) {
	for _, verdict := range []model.Verdict{"", model.Accepted, model.Rejected} {
		v := newLinkedVault(t, map[string]string{"C.md": "---\na: \"[[B]]\"\n---\nOld [[B]] and [[A]].\n", "B.md": "b\n", "A.md": "a\n"})
		if _, err := v.ws.Remove(t.Context(), "Notes/C.md", bridge.ChangeRequest{Author: ann}); err != nil {
			t.Fatal(err)
		}
		if rename := v.renames(ann, "Notes/B.md", "Notes/F.md"); verdict != "" {
			v.decides(verdict, rename)
		}
		if _, err := v.ws.Create(t.Context(), "Notes/C.md", bridge.Write{Text: "New.\n", By: ann}); err != nil {
			t.Fatal(err)
		}
		if got := open(t, v.ws, "Notes/C.md").Text(); got != "New.\n" {
			t.Errorf("verdict %q: the note is %q", verdict, got)
		}
	}
}

// The acceptance of a rename rewrites a link in pending text, and is undone and becomes a rejection while the text is rejected: the
// link has the name in the vault when the text returns.
func TestUndoneTextFollowsARejectionAfterAnAcceptance(t *testing.T) {
	v := newLinkedVault(t, map[string]string{"Plan.md": "x\n", "B.md": "Text.\n"})
	v.edits(ann, "Notes/B.md", "Text.", "Text. See [[Plan]].")
	rename := v.renames(bob, plan, "Notes/Neu.md")
	accepted := v.decides(model.Accepted, rename)
	v.says("accepted", "B.md", "Text.{++ See [[Neu]].++}\n")
	rejected := v.decides(model.Rejected, v.only(ann).ID)
	if _, err := v.ws.Undo(t.Context(), accepted, person); err != nil {
		t.Fatal(err)
	}
	v.decides(model.Rejected, rename)
	if _, err := v.ws.Undo(t.Context(), rejected, person); err != nil {
		t.Fatal(err)
	}
	v.says("undone", "B.md", "Text.{++ See [[Plan]].++}\n")
}

// A text that an undo restores follows all renames that a user has decided on since.
func TestUndoneTextFollowsSeveralRenames(t *testing.T) {
	for _, first := range []model.Verdict{model.Accepted, model.Rejected} {
		for _, names := range [][]model.Path{
			{"Notes/d/Plan.md", "Notes/d/Zwei.md", "Notes/d/Drei.md", "Notes/d/Vier.md"}, {"Notes/d", "Notes/e", "Notes/f", "Notes/g"},
		} {
			v := newLinkedVault(t, map[string]string{"d/Plan.md": "x\n", "B.md": "Text.\n"})
			link := func(name model.Path) string {
				if !name.IsNote() {
					name = name.Join("Plan.md")
				}
				_, rel := name.Split()
				return "[[" + strings.TrimSuffix(rel, ".md") + "]]"
			}
			rename, written, now := "", names[0], names[0]
			if first == model.Rejected { // the text has the proposed name
				rename, written = v.renames(bob, names[0], names[1]), names[1]
			}
			v.edits(ann, "Notes/B.md", "Text.", "Text. See "+link(written)+".")
			batch := v.decides(model.Rejected, v.only(ann).ID)
			if first == model.Rejected {
				v.decides(model.Rejected, rename)
			}
			for _, next := range names[2:] {
				v.decides(model.Accepted, v.renames(bob, now, next))
				now = next
			}
			if _, err := v.ws.Undo(t.Context(), batch, person); err != nil {
				t.Fatal(err)
			}
			v.says("undone", "B.md", "Text.{++ See "+link(now)+".++}\n")
		}
	}
}

// A pending rename of a folder ends after another rename has moved a note into the folder: the suggestion of that rename,
// which is older than the folder's, gets the folder's name in the vault.
func TestSuggestedLinkIntoAFolderWhoseRenameEnds(t *testing.T) {
	for _, withdrawn := range []bool{false, true} {
		v := newLinkedVault(t, map[string]string{"d/C.md": "x\n", "f/G.md": "x\n", "B.md": "See [[d/C]].\n"})
		rename := v.renames(ann, "Notes/d/C.md", "Notes/f/N.md")
		folder := v.renames(bob, "Notes/d", "Notes/e")
		v.renames(ann, "Notes/f/N.md", "Notes/e/N.md")
		v.says("moved into the folder", "B.md", "See {--[[d/C]]--}{++[[e/N]]++}.\n")
		if withdrawn {
			v.renames(bob, "Notes/e", "Notes/d")
		} else {
			v.decides(model.Rejected, folder)
		}
		v.says("the folder has its name again", "B.md", "See {--[[d/C]]--}{++[[d/N]]++}.\n")
		v.decides(model.Accepted, rename)
		v.says("accepted", "B.md", "See [[d/N]].\n")
	}
}

// A text whose link follows an accepted rename only when an undo restores the text gets the name in the vault, also while
// another rename of the note is pending. That rename takes the link with it if it is accepted, and only then.
func TestUndoneTextFollowsTheAcceptedRenameOnly(t *testing.T) {
	for _, deletes := range []bool{false, true} {
		for _, next := range []model.Path{"Notes/d/Plan.md", "Notes/d/Drei.md"} {
			for _, end := range []string{"accepted", "rejected", "withdrawn"} {
				v := newLinkedVault(t, map[string]string{"d/Plan.md": "x\n", "B.md": "Text.\n", "C.md": "Text, [[Plan]].\n"})
				note, text, verdict := "B.md", "Text.{++ See [[%s]].++}\n", model.Rejected
				if deletes {
					note, text, verdict = "C.md", "Text{--, [[%s]]--}.\n", model.Accepted
					v.edits(ann, "Notes/C.md", ", [[Plan]]", "")
				} else {
					v.edits(ann, "Notes/B.md", "Text.", "Text. See [[Plan]].")
				}
				batch := v.decides(verdict, v.only(ann).ID)
				v.decides(model.Accepted, v.renames(bob, "Notes/d/Plan.md", "Notes/d/Neu.md"))
				rename := v.renames(bob, "Notes/d/Neu.md", next)
				if _, err := v.ws.Undo(t.Context(), batch, person); err != nil {
					t.Fatal(err)
				}
				when := fmt.Sprintf("deletes %t, the next name %s, ", deletes, next)
				v.says(when+"undone", note, fmt.Sprintf(text, "Neu"))
				name := "Neu"
				switch end {
				case "accepted":
					v.decides(model.Accepted, rename)
					name = strings.TrimSuffix(next.Base(), ".md")
				case "rejected":
					v.decides(model.Rejected, rename)
				case "withdrawn":
					v.renames(bob, next, "Notes/d/Neu.md")
				}
				v.says(when+end, note, fmt.Sprintf(text, name))
			}
		}
	}
}

// Two agents rename one note one after the other, a folder around it, and its case.
func TestLinksFollowSeveralRenames(t *testing.T) {
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		v := newLinkedVault(t, map[string]string{"d/Plan.md": "x\n", "B.md": "Text [[Plan]] and [[d/Plan|p]].\n"})
		v.edits(ann, "Notes/B.md", "Text", "Text, see [[d/Plan]],")
		v.renames(ann, "Notes/d/Plan.md", "Notes/d/Zwei.md")
		v.edits(bob, "Notes/B.md", " and", " or [[d/Zwei]] and")
		v.renames(bob, "Notes/d/Zwei.md", "Notes/d/Drei.md")
		v.restart()
		v.renames(bob, "Notes/d", "Notes/e")
		sentences := []string{v.only(ann).ID, v.only(bob).ID}
		var renames []string
		list, err := v.ws.Proposals(t.Context(), "")
		if err != nil || len(list) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		for _, p := range list {
			renames = append(renames, p.ID)
		}
		v.decides(verdict, renames...)
		if got := []string{v.only(ann).ID, v.only(bob).ID}; !slices.Equal(got, sentences) {
			t.Errorf("the sentences are %q, were %q", got, sentences)
		}
		v.decides(model.Accepted, sentences...)
		want := map[model.Verdict]string{
			model.Accepted: "Text, see [[e/Drei]], [[Drei]] or [[e/Drei]] and [[e/Drei|p]].\n",
			model.Rejected: "Text, see [[d/Plan]], [[Plan]] or [[d/Plan]] and [[d/Plan|p]].\n",
		}[verdict]
		v.says(string(verdict), "B.md", want)
	}
	v := newLinkedVault(t, map[string]string{"Plan.md": "x\n", "B.md": "Text.\n"})
	v.edits(ann, "Notes/B.md", "Text.", "Text. See [[Plan]].")
	v.decides(model.Accepted, v.renames(bob, plan, "Notes/plan.md"))
	if got := v.content("B.md"); !strings.EqualFold(got, "Text.{++ See [[plan]].++}\n") {
		t.Errorf("another case: %q", got)
	}
	v.only(ann)
}

// A process is killed while the links in text that waits, or that was written meanwhile, follow. The next one goes on.
func TestLinksInPlaceFollowAfterAKill(t *testing.T) {
	for _, at := range []string{"B.md", "C.md"} {
		src, store := newStuck(t, at), bridgetest.NewStore(t)
		for name, text := range map[string]string{"Plan.md": "x\n", "B.md": "Text.\n", "C.md": "Text.\n"} {
			src.Person(t).Save(name, text)
		}
		v := &linkedVault{t: t, src: src.Source, store: store}
		v.restart()
		v.edits(ann, "Notes/B.md", "Text.", "Text. See [[Plan]].")
		rename := v.renames(bob, plan, "Notes/Neu.md")
		src.Person(t).Save("C.md", "Text. Mine [[Plan]].\n")
		killedIn(t, src, store, bridge.StructurePropose, func(ws *bridge.Workspace) {
			ws.Decide(context.Background(), []string{rename}, model.Accepted, person)
		})
		v.restart()
		v.says("killed at "+at, "B.md", "Text.{++ See [[Neu]].++}\n")
		v.says("killed at "+at, "C.md", "Text. Mine [[Neu]].\n")
		v.only(ann)
		if _, err := v.ws.Undo(t.Context(), "", person); err != nil {
			t.Fatal(err)
		}
		v.says("killed at "+at+", undone", "B.md", "Text.{++ See [[Plan]].++}\n")
		v.says("killed at "+at+", undone", "C.md", "Text. Mine [[Plan]].\n")
	}
}

// Whatever agents, a person and decisions do to a note that is renamed and to links to it: no decision on a rename takes or accepts
// a sentence, and in the end every link leads to the note.
func TestLinksFollowWhateverIsDecided(t *testing.T) {
	randomtest.Check(t, 60, func(t testing.TB, r *rand.Rand) {
		var slots strings.Builder
		for i := range 20 {
			fmt.Fprintf(&slots, "\nSlot%d.\n", i)
		}
		v := newLinkedVault(t, map[string]string{"a/Plan.md": "x\n", "B.md": "One [[Plan]].\n\n[r]: a/Plan.md\n" + slots.String(), "C.md": "---\nup: \"[[Plan]]\"\n---\nThree ![[a/Plan]].\n\n[s]: <Plan.md> \"T\"\n" + slots.String()})
		agents := []model.Author{ann, bob}
		sentences := make(map[string]model.Author) // pending ones
		var batches, ofRenames []string
		n := 0
		wrote := func() { // an undo of a rename does not change the links that were written since
			n++
			batches = slices.DeleteFunc(batches, func(b string) bool { return slices.Contains(ofRenames, b) })
		}
		shown := func() (p model.Path, rename string) {
			list, err := v.ws.Proposals(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range v.src.Person(v.t).Names() {
				if name != "B.md" && name != "C.md" && strings.HasSuffix(name, ".md") {
					p = model.Path("Notes/" + name)
				}
			}
			if len(list) > 0 {
				return list[0].NewPath, list[0].ID
			}
			return p, ""
		}
		link := func() string { // with the name in the vault
			for _, name := range v.src.Person(v.t).Names() {
				if name != "B.md" && name != "C.md" && strings.HasSuffix(name, ".md") {
					target := strings.TrimSuffix(name, ".md")
					if r.IntN(2) == 0 {
						target = target[strings.LastIndexByte(target, '/')+1:]
					}
					return [...]string{"[[" + target + "]]", "[[" + target + "|alias]]", "[t](" + target + ".md)"}[r.IntN(3)]
				}
			}
			panic("the note is gone")
		}
		for range 4 + r.IntN(12) {
			note := randomtest.Pick(r, "B.md", "C.md")
			switch p, rename := shown(); r.IntN(8) {
			case 0, 1:
				by := randomtest.Pick(r, agents...)
				old := ids(v.pending())
				wrote()
				v.edits(by, model.Path("Notes/"+note), fmt.Sprintf("Slot%d.", n), fmt.Sprintf("Slot%d. Sentence %s", n, link()))
				for _, s := range v.pending() {
					if !slices.Contains(old, s.ID) {
						sentences[s.ID] = by
					}
				}
			case 2:
				wrote()
				v.src.Person(v.t).Save(note, strings.TrimSuffix(v.content(note), "\n")+fmt.Sprintf("\n\nPerson%d %s\n", n, link()))
				v.restart()
			case 3:
				to := randomtest.Pick(r, "Notes/a/Plan.md", "Notes/a/Neu.md", "Notes/Drei vier.md", "Notes/a/neu.md")
				if model.Path(to) != p {
					v.renames(randomtest.Pick(r, agents...), p, model.Path(to))
				}
			case 4:
				if rename != "" {
					batches = append(batches, v.decides(randomtest.Pick(r, model.Accepted, model.Rejected), rename))
					ofRenames = append(ofRenames, batches[len(batches)-1])
				}
			case 5:
				if list := slices.Sorted(maps.Keys(sentences)); len(list) > 0 {
					id := randomtest.Pick(r, list...)
					batches = append(batches, v.decides(randomtest.Pick(r, model.Accepted, model.Rejected), id))
					delete(sentences, id)
				}
			case 6:
				if len(batches) > 0 {
					i := r.IntN(len(batches))
					out, err := v.ws.Undo(t.Context(), batches[i], person)
					batches = slices.Delete(batches, i, i+1)
					for _, s := range out.Decided {
						if s.Proposal == "" {
							sentences[s.ID] = model.Author{Name: s.Author, Session: s.Session}
						}
					}
					if err != nil || len(out.Failed) > 0 {
						t.Logf("undo: %v, %v", err, out.Failed)
					}
				}
			case 7:
				v.restart()
			}
			waiting := make(map[string]model.Author)
			for _, s := range v.pending() {
				if s.Proposal == "" {
					waiting[s.ID] = model.Author{Name: s.Author, Session: s.Session}
				}
			}
			if !maps.Equal(waiting, sentences) {
				t.Fatalf("the pending sentences are %v, want %v: %q %q", waiting, sentences, v.content("B.md"), v.content("C.md"))
			}
		}
		if _, rename := shown(); rename != "" {
			v.decides(model.Accepted, rename)
		}
		if list := ids(v.pending()); len(list) > 0 {
			v.decides(model.Accepted, list...)
		}
		index := links.NewIndex()
		for _, name := range v.src.Person(v.t).Names() {
			index.AddFile("Notes/" + name)
		}
		for _, note := range []string{"B.md", "C.md"} {
			for _, l := range links.Extract(v.content(note)) {
				if _, ok := index.Resolve("Notes/"+note, l); !ok {
					t.Errorf("%s leads nowhere: %q, %q", l.Target, note, v.content(note))
				}
			}
		}
	})
}

// exchange lets each of the notes get the name of the next, through a free name.
func (v *linkedVault) exchange(by model.Author, circle ...model.Path) {
	v.t.Helper()
	aside := circle[0].Dir().Join("aside.md")
	v.renames(by, circle[0], aside)
	for i, p := range circle[1:] {
		v.renames(by, p, circle[i])
	}
	v.renames(by, aside, circle[len(circle)-1])
}

// A note gets the name of another for a while and then its own again, while that one is renamed. A person's link to it stays.
func TestLinkToAnExchangedNoteSurvivesTheWithdrawal(t *testing.T) {
	const text = "[[C]] [[f/F]]\n"
	v := newLinkedVault(t, map[string]string{"A.md": "a\n", "d/C.md": "c\n", "f/F.md": "f\n", "Index.md": text})
	v.exchange(ann, "Notes/f/F.md", "Notes/d/C.md")
	v.exchange(ann, "Notes/A.md", "Notes/d/C.md", "Notes/f/F.md")
	v.says("renamed", "Index.md", "[[C]] {--[[f/F]]--}{++[[A]]++}\n")
	out := decideAll(t, v.ws, model.Rejected)
	v.says("rejected", "Index.md", text)
	if _, err := v.ws.Undo(t.Context(), out.Batch, person); err != nil {
		t.Fatal(err)
	}
	v.says("undone", "Index.md", "[[C]] {--[[f/F]]--}{++[[A]]++}\n")
	decideAll(t, v.ws, model.Accepted)
	v.says("accepted", "Index.md", "[[C]] [[A]]\n")
}

// Names are exchanged or passed on, and a note has links to them in its text, in front matter and in pending text. Accepting
// the renames, at once or one rename at a time, lets each link follow its own note. An undo brings all back.
func TestEachLinkFollowsItsOwnRename(t *testing.T) {
	const all = "---\none: \"[[A]]\"\ntwo: \"[[B]]\"\nthree: \"[[C]]\"\n---\n[[A]] [[B]] [[C]].\n"
	links := func(a, b, c string) string {
		return strings.NewReplacer("[[A]]", "[["+a+"]]", "[[B]]", "[["+b+"]]", "[[C]]", "[["+c+"]]").Replace(all)
	}
	exchange := func(v *linkedVault) { v.exchange(ann, "Notes/A.md", "Notes/B.md") }
	for name, tc := range map[string]struct {
		renames func(*linkedVault)
		a, b, c string
		singly  bool // the renames can be decided one at a time
	}{
		"exchange": {exchange, "B", "A", "C", false},
		"circle":   {func(v *linkedVault) { v.exchange(ann, "Notes/A.md", "Notes/B.md", "Notes/C.md") }, "C", "A", "B", false},
		"chain": {func(v *linkedVault) {
			v.renames(ann, "Notes/C.md", "Notes/D.md")
			v.renames(ann, "Notes/B.md", "Notes/C.md")
			v.renames(ann, "Notes/A.md", "Notes/B.md")
		}, "B", "C", "D", true},
	} {
		for _, sentence := range []bool{false, true} {
			v := newLinkedVault(t, map[string]string{"A.md": "a\n", "B.md": "b\n", "C.md": "c\n", "Index.md": all})
			want := links(tc.a, tc.b, tc.c)
			if sentence {
				v.edits(ann, "Notes/Index.md", "[[C]].", "[[C]]. See [[A]] or [[B]].")
				want = strings.Replace(want, "]].", "]].{++ See [["+tc.a+"]] or [["+tc.b+"]].++}", 1)
			}
			tc.renames(v)
			before := v.content("Index.md")
			out := decideAll(t, v.ws, model.Accepted)
			v.says(name+", accepted", "Index.md", want)
			if _, err := v.ws.Undo(t.Context(), out.Batch, person); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			v.says(name+", undone", "Index.md", before)
			if !tc.singly {
				continue
			}
			list, err := v.ws.Proposals(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				v.decides(model.Accepted, p.ID)
			}
			decideAll(t, v.ws, model.Accepted)
			v.says(name+", accepted one at a time", "Index.md", want)
		}
	}
}

// An acceptance changes no link in text that a suggestion deletes if the link leads to a note whose rename waits.
func TestAcceptanceKeepsLinksOfPendingRenames(t *testing.T) {
	v := newLinkedVault(t, map[string]string{"x/B.md": "x\n", "y/yy/B.md": "y\n", "Index.md": "See [[B]].\n"})
	v.renames(ann, "Notes/x/B.md", "Notes/x/Q.md")
	v.decides(model.Accepted, v.renames(bob, "Notes/y/yy/B.md", "Notes/y/yy/Z.md"))
	v.says("the other note renamed", "Index.md", "See {--[[B]]--}{++[[Q]]++}.\n")
	decideAll(t, v.ws, model.Rejected)
	v.says("rejected", "Index.md", "See [[B]].\n")
}

// A sentence with the proposed name is accepted, and then the rename is rejected or withdrawn: its link follows, or is suggested to.
// A person's own link with that name stays.
func TestAcceptedLinksFollowARejectedRename(t *testing.T) {
	for _, withdrawn := range []bool{false, true} {
		v := newLinkedVault(t, map[string]string{"Plan.md": "x\n", "B.md": "Text.\n", "Old.md": "Text.\n", "Mine.md": "[[Neu]] is mine.\n"})
		v.edits(bob, "Notes/Old.md", "Text.", "Text. See [[Neu]].")
		v.decides(model.Accepted, v.only(bob).ID)
		rename := v.renames(ann, plan, "Notes/Neu.md")
		v.edits(bob, "Notes/B.md", "Text.", "Text. See [[Neu]].")
		v.decides(model.Accepted, v.only(bob).ID)
		if withdrawn {
			v.renames(ann, "Notes/Neu.md", plan)
			v.says("withdrawn", "B.md", "Text. See {--[[Neu]]--}{++[[Plan]]++}.\n")
		} else {
			batch := v.decides(model.Rejected, rename)
			v.says("rejected", "B.md", "Text. See [[Plan]].\n")
			if _, err := v.ws.Undo(t.Context(), batch, person); err != nil {
				t.Fatal(err)
			}
			v.says("rejection undone", "B.md", "Text. See [[Neu]].\n")
		}
		v.says("the person's own link", "Mine.md", "[[Neu]] is mine.\n")
		v.says("accepted before the rename", "Old.md", "Text. See [[Neu]].\n")
	}
}

// A person types a full path while a note and its folder wait for new names, and accepts or rejects both at once.
func TestFullPathsFollowSeveralDecisions(t *testing.T) {
	for _, folderFirst := range []bool{true, false} {
		v := newLinkedVault(t, map[string]string{"d/Plan.md": "x\n", "B.md": "Text.\n", "C.md": "Text.\n"})
		if folderFirst {
			v.renames(ann, "Notes/d", "Notes/e")
			v.renames(ann, "Notes/e/Plan.md", "Notes/e/Neu.md")
		} else {
			v.renames(ann, "Notes/d/Plan.md", "Notes/d/Neu.md")
			v.renames(ann, "Notes/d", "Notes/e")
		}
		v.src.Person(t).Save("B.md", "Mine [[d/Plan]].\n")
		v.restart()
		v.edits(bob, "Notes/C.md", "Text.", "Text. See [[e/Neu]].")
		out := decideAll(t, v.ws, model.Rejected)
		v.says("rejected", "B.md", "Mine [[d/Plan]].\n")
		v.says("rejected", "C.md", "Text.{++ See [[d/Plan]].++}\n")
		if _, err := v.ws.Undo(t.Context(), out.Batch, person); err != nil {
			t.Fatal(err)
		}
		decideAll(t, v.ws, model.Accepted)
		v.says("accepted", "B.md", "Mine [[e/Neu]].\n")
		v.says("accepted", "C.md", "Text.{++ See [[e/Neu]].++}\n")
	}
}

// Links follow renames in their own vault only, whatever names other vaults have.
func TestLinksIgnoreOtherVaults(t *testing.T) {
	f := bridgetest.New(t, map[string]string{
		"One/Plan.md": "x\n", "One/Log.md": "Log.\n", "One/Ref.md": "See [[Only]] and [[Plan]].\n", "Two/Plan.md": "y\n", "Two/Only.md": "z\n", "Two/B.md": "[[Only]] [[One/Plan]]\n",
	})
	moveTo(t, f.Workspace, "One/Plan.md", "One/Neu.md")
	f.Person("One/Log.md", "Late [[Plan]].\n")
	moveTo(t, f.Workspace, "Two/Only.md", "Two/Lonely.md")
	for p, want := range map[string]string{
		"One/Ref.md": "See [[Only]] and {--[[Plan]]--}{++[[Neu]]++}.\n", "Two/B.md": "{--[[Only]]--}{++[[Lonely]]++} [[One/Plan]]\n",
	} {
		if got := f.SourceText(p); got != want {
			t.Errorf("%s is %q, want %q", p, got, want)
		}
	}
	decideAll(t, f.Workspace, model.Accepted)
	if got, want := f.SourceText("One/Log.md"), "Late [[Neu]].\n"; got != want {
		t.Errorf("accepted: %q, want %q", got, want)
	}
}

// A link that is next to what its author has changed is a suggestion of its own.
func TestLinkBesideASuggestion(t *testing.T) {
	for _, by := range []model.Author{ann, {Name: ann.Name, Session: "other"}, bob} {
		for verdict, name := range map[model.Verdict]string{model.Accepted: "Neu", model.Rejected: "Plan"} {
			v := newLinkedVault(t, map[string]string{"Plan.md": "x\n", "Other.md": "x\n", "B.md": "One foo [[Plan]] [[Other]] two.\n"})
			v.edits(ann, "Notes/B.md", "foo", "bar baz")
			v.edits(ann, "Notes/B.md", " two", " and three")
			before := slices.Sorted(slices.Values(ids(v.pending())))
			rename, second := v.renames(by, plan, "Notes/Neu.md"), v.renames(by, "Notes/Other.md", "Notes/Zwei.md")
			v.decides(verdict, rename)
			v.decides(model.Rejected, second)
			if now := slices.Sorted(slices.Values(ids(v.pending()))); !slices.Equal(now, before) {
				t.Errorf("renamed by %v, %s: %q waits, before %q: %q", by, verdict, now, before, v.content("B.md"))
			}
			v.decides(model.Rejected, before...)
			v.says(string(verdict), "B.md", "One foo [["+name+"]] [[Other]] two.\n")
		}
	}
}

// A second rename gives a link its old text again, and the next write removes the suggestion, which changes nothing. The
// link is then plain text, and a third rename suggests its new text.
func TestLinkFollowsARenameWithItsOldText(t *testing.T) {
	v := newLinkedVault(t, map[string]string{"d/C.md": "x\n", "Other.md": "x\n", "B.md": "One [[C]].\n"})
	rename := v.renames(ann, "Notes/d/C.md", "Notes/D.md")
	v.renames(ann, "Notes/D.md", "Notes/C.md")
	v.edits(ann, "Notes/B.md", "One [[C]].\n", "One [[C]].\nMore.\n")
	v.says("written", "B.md", "One [[C]].{++\nMore.++}\n")
	v.renames(ann, "Notes/C.md", "Notes/E.md")
	v.says("renamed", "B.md", "One {--[[C]]--}{++[[E]]++}.{++\nMore.++}\n")
	v.decides(model.Rejected, rename)
	v.says("rejected", "B.md", "One [[C]].{++\nMore.++}\n")
}

// A sentence is accepted, its link is suggested to follow a rename, and the acceptance is undone: the sentence waits as a whole, and
// its link follows the decision on the rename.
func TestUndoneSentenceKeepsItsLink(t *testing.T) {
	for _, by := range []model.Author{ann, bob} {
		for verdict, name := range map[model.Verdict]string{model.Accepted: "Neu", model.Rejected: "Plan"} {
			v := newLinkedVault(t, map[string]string{"Plan.md": "x\n", "B.md": "One [[Plan]].\n\nText.\n"})
			v.edits(ann, "Notes/B.md", "Text.", "Text. A sentence [[Plan]] more.")
			s := v.only(ann)
			batch := v.decides(model.Accepted, s.ID)
			rename := v.renames(by, plan, "Notes/Neu.md")
			if _, err := v.ws.Undo(t.Context(), batch, person); err != nil {
				t.Fatal(err)
			}
			v.says("undone", "B.md", "One {--[[Plan]]--}{++[[Neu]]++}.\n\nText.{++ A sentence [[Plan]] more.++}\n")
			v.decides(verdict, rename)
			v.says(string(verdict), "B.md", "One [["+name+"]].\n\nText.{++ A sentence [["+name+"]] more.++}\n")
			if now := v.only(ann); now.ID != s.ID {
				t.Errorf("the sentence is %+v, was %+v", now, s)
			}
		}
	}
}

// Reference definitions are links: they count as backlinks, and follow a rename.
func TestDefinitionsFollowARename(t *testing.T) {
	const text = "See [r], [s] and [t].\n\n[r]: Plan.md \"a title\"\n[s]: <sub/My Note.md#One>\n> [t]: ./sub/My%20Note.md\n\n    [u]: Plan.md\n"
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		v := newLinkedVault(t, map[string]string{"Plan.md": "x\n", "sub/My Note.md": "# One\n", "B.md": text, "C.md": "Text.\n"})
		v.edits(ann, "Notes/C.md", "Text.", "Text, see [r].\n\n[r]: <Plan.md>")
		back, err := v.ws.Links(t.Context(), plan)
		if err != nil || !slices.Equal(back.Backlinks, []model.Path{"Notes/B.md"}) {
			t.Errorf("backlinks %v, %v", back.Backlinks, err)
		}
		renames := []string{v.renames(bob, plan, "Notes/One.md"), v.renames(bob, "Notes/sub/My Note.md", "Notes/sub/Your Note.md")}
		v.renames(bob, "Notes/One.md", "Notes/Neu.md") // its links follow again
		back, err = v.ws.Links(t.Context(), "Notes/Neu.md")
		if err != nil || !slices.Equal(back.Backlinks, []model.Path{"Notes/B.md"}) {
			t.Errorf("backlinks under the new name %v, %v", back.Backlinks, err)
		}
		v.decides(verdict, renames...)
		want, pending := text, "Text{++, see [r]++}.\n{++\n[r]: <Plan.md>\n++}"
		if verdict == model.Accepted {
			want = "See [r], [s] and [t].\n\n[r]: Neu.md \"a title\"\n[s]: <sub/Your Note.md#One>\n> [t]: ./sub/Your%20Note.md\n\n    [u]: Plan.md\n"
			pending = strings.Replace(pending, "Plan", "Neu", 1)
		}
		v.says(string(verdict), "B.md", want)
		v.says(string(verdict), "C.md", pending)
	}
}

// Links that several renames have rewritten come back as they were, with their marks.
func TestUndoOfLinksThatFollowedTwice(t *testing.T) {
	v := newLinkedVault(t, map[string]string{"A.md": "a\n", "B.md": "b\n", "d/D.md": "d\n", "Index.md": "See [r].\n\n[r]: A.md\n"})
	renames := []string{v.renames(bob, "Notes/A.md", "Notes/d/B.md"), v.renames(bob, "Notes/d", "Notes/aside")}
	raw := v.content("Index.md")
	v.decides(model.Accepted, renames...)
	v.says("accepted", "Index.md", "See [r].\n\n[r]: aside/B.md\n")
	undo(t, v.ws, "")
	v.says("undone", "Index.md", raw)

	v = newLinkedVault(t, map[string]string{"B.md": "b\n", "d/e/E.md": "e\n", "Index.md": "See [e](d/e/E.md).\n"})
	renames = []string{v.renames(bob, "Notes/B.md", "Notes/d/e/X.md"), v.renames(bob, "Notes/d/e/E.md", "Notes/X.md")}
	raw = v.content("Index.md")
	v.decides(model.Rejected, renames...)
	for _, id := range renames {
		if out, err := v.ws.Undo(t.Context(), "", person, id); err != nil || len(out.Failed) > 0 {
			t.Fatalf("undo of %s: %v, %v", id, err, out.Failed)
		}
	}
	v.says("undone one after the other", "Index.md", raw)
}

// An agent comments on the text of a link: the comment waits after the link, which is not replaced.
func TestCommentOnALink(t *testing.T) {
	for _, link := range []string{"[old](Plan.md)", "[[Plan|old]]", "![old](Plan.md)"} {
		for verdict, want := range map[model.Verdict]string{model.Accepted: "See " + link + "{>>why?<<} here.\n", model.Rejected: "See " + link + " here.\n"} {
			v := newLinkedVault(t, map[string]string{"Plan.md": "x\n", "B.md": "See " + link + " here.\n"})
			v.edits(ann, "Notes/B.md", "old", "old{>>why?<<}")
			s := v.only(ann)
			v.says("commented", "B.md", "See "+link+"{>>why?<<} here.\n")
			v.edits(bob, "Notes/B.md", "here", "there")
			v.decides(verdict, s.ID)
			v.says(string(verdict), "B.md", strings.Replace(want, "here", "{--here--}{++there++}", 1))
		}
	}
}

// On a server's folder, too, a sentence stays its author's when its link follows a rename.
func TestSentenceOutlivesTheRenameOnAServer(t *testing.T) {
	for verdict, name := range map[model.Verdict]string{model.Accepted: "Neu", model.Rejected: "Plan"} {
		f, _ := openLive(t, map[string]string{"Plan.md": "x\n", "B.md": "Text [[Plan]].\n"})
		write(t, f.Workspace, "Team/B.md", bridge.Write{Text: "Text. See [[Plan]]! [[Plan]].\n", By: ann})
		before := pendingOf(t, f.Workspace)
		res, err := f.Workspace.Rename(t.Context(), "Team/Plan.md", "Team/Neu.md", bridge.ChangeRequest{Author: bob})
		if err != nil {
			t.Fatal(err)
		}
		out := decide(t, f.Workspace, verdict, res.Proposal)
		if got, want := open(t, f.Workspace, "Team/B.md").Text(), "Text. See [["+name+"]]! [["+name+"]].\n"; got != want {
			t.Errorf("%s: %q, want %q", verdict, got, want)
		}
		after := pendingOf(t, f.Workspace)
		if len(before) != 1 || len(after) != 1 || after[0].ID != before[0].ID || after[0].Author != ann.Name || after[0].Session != ann.Session {
			t.Errorf("%s: %+v, was %+v", verdict, after, before)
		}
		undo(t, f.Workspace, out.Batch)
		decide(t, f.Workspace, model.Rejected, res.Proposal, before[0].ID)
		if got, want := open(t, f.Workspace, "Team/B.md").Raw(), "Text [[Plan]].\n"; got != want {
			t.Errorf("%s, undone and rejected: %q, want %q", verdict, got, want)
		}
	}
}

// Links with the old names of pending renames are known to follow.
func TestFormerNames(t *testing.T) {
	v := newLinkedVault(t, map[string]string{"d/Plan.md": "x\n", "d/Other.md": "x\n", "B.md": "x\n"})
	v.renames(ann, "Notes/d/Plan.md", "Notes/Neu.md")
	v.renames(ann, "Notes/d", "Notes/e")
	for target, want := range map[string]bool{"Plan": true, "d/Plan": true, "d/Other": true, "Other": true, "B": false, "Neu": false} {
		if _, ok := v.ws.FormerNames().Resolve("Notes/B.md", links.Link{Target: target}); ok != want {
			t.Errorf("[[%s]] follows: %v, want %v", target, ok, want)
		}
	}
}

// A renamed note is removed, or another note is moved over it: its rename ends, and so do the suggestions about links to it.
func TestLinksOfARenameThatEnds(t *testing.T) {
	for name, by := range map[string]func(*linkedVault) error{
		"removed": func(v *linkedVault) error {
			_, err := v.ws.Remove(v.t.Context(), "Notes/Neu.md", bridge.ChangeRequest{Author: ann})
			return err
		},
		"replaced": func(v *linkedVault) error {
			_, err := v.ws.Rename(v.t.Context(), "Notes/Other.md", "Notes/Neu.md", bridge.ChangeRequest{Author: ann, Replace: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := newLinkedVault(t, map[string]string{"Plan.md": "x\n", "Other.md": "y\n", "B.md": "Text [[Plan]].\n"})
			v.renames(ann, plan, "Notes/Neu.md")
			v.says("renamed", "B.md", "Text {--[[Plan]]--}{++[[Neu]]++}.\n")
			if err := by(v); err != nil {
				t.Fatal(err)
			}
			v.says("ended", "B.md", "Text [[Plan]].\n")
		})
	}
}
