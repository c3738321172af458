package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
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
	src, store := new(bridgetest.Source), bridgetest.NewStore(t)
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
