package bridge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

func canvasOf(files ...string) string {
	var nodes []string
	for i, file := range files {
		nodes = append(nodes, fmt.Sprintf(`{"id":"%d","type":"file","x":0,"y":0,"width":1,"height":1,"file":%q}`, i, file))
	}
	return `{ "nodes":[` + strings.Join(nodes, ", ") + `] }`
}

// A canvas names a file at its old path until the rename is accepted, at the new
// one from then on, and at the old one again when that is undone.
func TestCanvasesFollowARename(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "x\n")
	src.Person(t).Save("sub/Map.canvas", canvasOf("Plan.md", "Other.md"))
	src.Person(t).Save("Proposed.canvas", canvasOf("Plan.md"))
	src.Person(t).Save("none.canvas", "{")
	ws := process(t, src, store)
	propose(t, ws, "Notes/Proposed.canvas", canvasOf("Plan.md", "Plan.md"))
	res, err := ws.Rename(t.Context(), "Notes/Plan.md", "Notes/sub/Goal.md", bridge.ChangeRequest{Author: agent})
	if err != nil || res.Proposal == "" {
		t.Fatalf("%+v, %v", res, err)
	}
	ws = process(t, src, store)
	if got := readFile(t, ws, "Notes/sub/Map.canvas"); got != canvasOf("Plan.md", "Other.md") {
		t.Errorf("before the decision: %s", got)
	}
	out, err := ws.Decide(t.Context(), []string{res.Proposal}, model.Accepted, model.Author{Name: "person"})
	if err != nil || len(out.Failed) > 0 {
		t.Fatal(err, out)
	}
	check := func(when, name string) {
		t.Helper()
		if got := src.Person(t).Content("sub/Map.canvas"); got != canvasOf(name, "Other.md") {
			t.Errorf("%s: %s", when, got)
		}
		if got := src.Person(t).Content("Proposed.canvas"); got != canvasOf(name) {
			t.Errorf("%s, with a proposal: %s", when, got)
		}
		if got := readFile(t, ws, "Notes/Proposed.canvas"); got != canvasOf(name, name) {
			t.Errorf("%s, proposed: %s", when, got)
		}
	}
	check("accepted", "sub/Goal.md")
	ws = process(t, src, store)
	check("after a restart", "sub/Goal.md")
	if _, err := ws.Undo(t.Context(), "", model.Author{Name: "person"}); err != nil {
		t.Fatal(err)
	}
	check("undone", "Plan.md")
	// What is proposed for the canvas is not stale by that.
	list, err := ws.Proposals(t.Context(), "Notes/Proposed.canvas")
	if err != nil || len(list) != 1 || list[0].Stale {
		t.Fatalf("%+v, %v", list, err)
	}
	if out, err := ws.Decide(t.Context(), []string{list[0].ID}, model.Accepted, model.Author{Name: "person"}); err != nil || len(out.Failed) > 0 {
		t.Fatal(err, out)
	}
	if got := src.Person(t).Content("Proposed.canvas"); got != canvasOf("Plan.md", "Plan.md") {
		t.Errorf("the proposal accepted: %s", got)
	}
	if got := src.Person(t).Content("none.canvas"); got != "{" {
		t.Errorf("what is no canvas holds %q", got)
	}
}

// Where a folder is renamed at once, what canvases name in it follows at once, in
// canvases that move with it, too.
func TestCanvasesFollowAFolder(t *testing.T) {
	f := bridgetest.New(t, map[string]string{
		"Notes/dir/a.png": "", "Notes/dir/in.canvas": canvasOf("dir/a.png"), "Notes/out.canvas": canvasOf("dir/a.png", "dirt/a.png"),
	}, func(o *bridge.Options) { o.Mode, o.Structure = bridge.Direct, bridge.StructureDirect })
	if _, err := f.Workspace.Rename(t.Context(), "Notes/dir", "Notes/new", bridge.ChangeRequest{Author: agent}); err != nil {
		t.Fatal(err)
	}
	if got := f.SourceText("Notes/new/in.canvas"); got != canvasOf("new/a.png") {
		t.Errorf("the canvas in it: %s", got)
	}
	if got := f.SourceText("Notes/out.canvas"); got != canvasOf("new/a.png", "dirt/a.png") {
		t.Errorf("the other canvas: %s", got)
	}
	if info, err := f.Stat(t.Context(), "Notes/out.canvas"); err != nil || info.Size != int64(len(f.SourceText("Notes/out.canvas"))) {
		t.Errorf("%+v, %v", info, err)
	}
}

// A canvas may name a file that does not exist, and a rename may give a file that name. The undo of renames leaves all canvases as
// they were before, also if names were exchanged or a folder with canvases was renamed.
func TestUndoLeavesCanvasesAsTheyWere(t *testing.T) {
	randomtest.Check(t, 40, func(t testing.TB, r *rand.Rand) {
		names := []string{"A.md", "B.md", "d/C.md", "N1.md", "N2.md", "e/C.md", "e"}
		canvas := func() string {
			var files []string
			for range r.IntN(5) {
				files = append(files, randomtest.Pick(r, names...))
			}
			return canvasOf(files...)
		}
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		for _, rel := range names[:3] {
			src.Person(t).Save(rel, rel)
		}
		canvases := []string{"Map.canvas", "d/Map.canvas", "Proposed.canvas"}
		for _, rel := range canvases {
			src.Person(t).Save(rel, canvas())
		}
		ws := process(t, src, store)
		if r.IntN(2) == 0 {
			if _, err := ws.WriteFile(t.Context(), "Notes/Proposed.canvas", []byte(canvas()), bridge.ChangeRequest{Author: agent}); err != nil {
				t.Fatal(err)
			}
		}
		contents := func() (text string) {
			for _, rel := range canvases {
				text += src.Person(t).Content(rel) + "\n" + readFile(t, ws, "Notes/"+model.Path(rel)) + "\n"
			}
			return text
		}
		before := contents()
		renames := func(from, to model.Path) {
			if _, err := ws.Rename(t.Context(), from, to, bridge.ChangeRequest{Author: agent}); err != nil {
				t.Fatal(err)
			}
		}
		switch r.IntN(3) {
		case 0:
			renames("Notes/A.md", "Notes/N1.md")
			renames("Notes/B.md", "Notes/N2.md")
		case 1:
			if err := ws.Exchange(t.Context(), "Notes/A.md", "Notes/B.md", bridge.ChangeRequest{Author: agent}); err != nil {
				t.Fatal(err)
			}
		}
		if r.IntN(2) == 0 {
			renames("Notes/d", "Notes/e")
		}
		var ids []string
		list, err := ws.Proposals(t.Context(), "")
		for _, p := range list {
			if p.Kind == model.ProposedRename {
				ids = append(ids, p.ID)
			}
		}
		if err != nil || len(ids) == 0 {
			return
		}
		decide(t, ws, model.Accepted, ids...)
		if r.IntN(2) == 0 {
			ws = process(t, src, store)
		}
		if out, err := ws.Undo(t.Context(), "", person); err != nil || len(out.Failed) > 0 {
			t.Fatal(err, out.Failed)
		}
		decide(t, ws, model.Rejected, ids...)
		if got := contents(); got != before {
			t.Errorf("undone:\n%s\nbefore:\n%s", got, before)
		}
	})
}

// A process is killed while the canvases follow a rename that a user has accepted, or nodes that exchange their names. The
// next one knows that the user has accepted.
func TestAcceptanceOutlivesAKillBetweenCanvases(t *testing.T) {
	for _, exchange := range []bool{false, true} {
		src, store := newStuck(t, "b.canvas"), bridgetest.NewStore(t)
		for _, name := range []string{"a.canvas", "b.canvas"} {
			src.Person(t).Save(name, canvasOf("Plan.md", "Neu.md"))
		}
		src.Person(t).Save("Plan.md", "x\n")
		src.Person(t).Save("Neu.md", "y\n")
		v := &linkedVault{t: t, src: src.Source, store: store}
		v.restart()
		want := []string{"Drei.md", "Neu.md"}
		if exchange {
			v.exchange(ann, "Notes/Plan.md", "Notes/Neu.md")
			want = []string{"Neu.md", "Plan.md"}
		} else {
			v.renames(ann, "Notes/Plan.md", "Notes/Drei.md")
		}
		list, err := v.ws.Proposals(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		var renames []string
		for _, p := range list {
			renames = append(renames, p.ID)
		}
		killedIn(t, src, store, bridge.StructurePropose, func(ws *bridge.Workspace) {
			ws.Decide(context.Background(), renames, model.Accepted, person)
		})
		v.restart()
		has := func() (notes []string) {
			for _, name := range src.Person(t).Names() {
				if model.Path(name).IsNote() {
					notes = append(notes, name)
				}
			}
			return notes
		}
		if got := has(); !slices.Equal(got, want) || exchange && v.content("Neu.md") != "x\n" {
			t.Errorf("exchange %t: after the restart the vault has %q", exchange, got)
		}
		if list, err := v.ws.Proposals(t.Context(), ""); err != nil || len(list) > 0 {
			t.Errorf("exchange %t: still pending: %+v, %v", exchange, list, err)
		}
		follow := func(want string) {
			for _, name := range []string{"a.canvas", "b.canvas"} {
				if got := v.content(name); got != want && !exchange {
					t.Errorf("%s has %s, want %s", name, got, want)
				}
			}
		}
		follow(canvasOf("Drei.md", "Neu.md"))
		undo(t, v.ws, "")
		if got := has(); !slices.Equal(got, []string{"Neu.md", "Plan.md"}) || v.content("Plan.md") != "x\n" {
			t.Errorf("exchange %t: undone, the vault has %q", exchange, got)
		}
		follow(canvasOf("Plan.md", "Neu.md"))
	}
}
