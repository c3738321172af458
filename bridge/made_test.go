package bridge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// worker is an agent that works on a fixture; what it does must succeed.
type worker struct {
	*bridgetest.Fixture
	t  *testing.T
	by model.Author
}

func (a worker) as(author model.Author) worker { a.by = author; return a }

func (a worker) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a worker) mkdir(paths ...model.Path) {
	a.t.Helper()
	for _, p := range paths {
		a.must(a.Mkdir(a.t.Context(), p, bridge.ChangeRequest{Author: a.by}))
	}
}

func (a worker) create(p model.Path, text string) {
	a.t.Helper()
	_, err := a.Create(a.t.Context(), p, bridge.Write{Text: text, By: a.by})
	a.must(err)
}

func (a worker) move(from, to model.Path) {
	a.t.Helper()
	_, err := a.Workspace.Rename(a.t.Context(), from, to, bridge.ChangeRequest{Author: a.by})
	a.must(err)
}

func (a worker) remove(paths ...model.Path) {
	a.t.Helper()
	for _, p := range paths {
		_, err := a.Remove(a.t.Context(), p, bridge.ChangeRequest{Author: a.by})
		a.must(err)
	}
}

// sourceHas lists what people have in Notes.
func (a worker) sourceHas() string {
	a.t.Helper()
	return strings.Join(slices.Sorted(slices.Values(a.Source("Notes").Person(a.t).Names())), " ")
}

// An agent's folder takes the name of another folder, and a third folder takes its name. The undo of the acceptance
// restores the agent's folder as the agent's, so the rejection removes it.
func TestUndoKnowsTheAgentsFolder(t *testing.T) {
	a := worker{bridgetest.New(t, map[string]string{"Notes/d/N.md": "x\n", "Notes/d/e/E.md": "x\n"}), t, ann}
	before := a.sourceHas()
	a.mkdir("Notes/made")
	a.move("Notes/d/N.md", "Notes/made/N.md")
	a.move("Notes/d/e", "Notes/d/aside")
	a.move("Notes/made", "Notes/d/e")
	a.move("Notes/d", "Notes/made")
	list, err := a.Proposals(t.Context(), "")
	a.must(err)
	var all, folders []string
	for _, p := range list {
		if all = append(all, p.ID); p.Dir {
			folders = append(folders, p.ID)
		}
	}
	decide(t, a.Workspace, model.Accepted, folders...)
	out, err := a.Undo(t.Context(), "", person)
	if a.must(err); len(out.Failed) > 0 {
		t.Fatal(out.Failed)
	}
	decide(t, a.Workspace, model.Rejected, all...)
	if got := a.sourceHas(); got != before {
		t.Errorf("rejected: the source has %s, had %s", got, before)
	}
}

// What an author makes and takes away again leaves nothing, until somebody else has
// used it.
func TestWhatCancelsOut(t *testing.T) {
	bob := model.Author{Name: "bob"}
	tests := []struct {
		name     string
		do       func(worker)
		proposed string
		has      string // in the source beside A.md, sub and sub/b.md
	}{
		{name: "a folder", do: func(a worker) { a.mkdir("Notes/d"); a.remove("Notes/d") }},
		{name: "folders", do: func(a worker) {
			a.mkdir("Notes/d", "Notes/d/e")
			a.create("Notes/d/e/n.md", "text\n")
			a.remove("Notes/d/e/n.md", "Notes/d/e", "Notes/d")
		}},
		{name: "a folder that was renamed", do: func(a worker) {
			a.mkdir("Notes/d")
			a.create("Notes/d/n.md", "text\n")
			a.move("Notes/d", "Notes/e")
			a.remove("Notes/e/n.md", "Notes/e")
		}},
		{name: "a folder stays where its author moved it", do: func(a worker) { a.mkdir("Notes/d"); a.move("Notes/d", "Notes/sub/e") },
			has: "sub/e"},
		{name: "a folder in the place of one that was moved away", do: func(a worker) {
			a.move("Notes/sub", "Notes/s2")
			a.mkdir("Notes/sub")
			a.remove("Notes/sub")
			a.move("Notes/s2", "Notes/sub")
		}},
		{name: "a note was moved through a folder", do: func(a worker) {
			a.mkdir("Notes/d")
			a.move("Notes/A.md", "Notes/d/A.md")
			a.move("Notes/d/A.md", "Notes/A.md")
			a.remove("Notes/d")
		}},
		{name: "a note", do: func(a worker) { a.create("Notes/n.md", "text\n"); a.remove("Notes/n.md") }},
		{name: "an empty note", do: func(a worker) { a.create("Notes/n.md", ""); a.remove("Notes/n.md") }},
		{name: "a note with nothing but front matter", do: func(a worker) {
			a.create("Notes/n.md", "---\na: 1\n---\n")
			a.remove("Notes/n.md")
		}},
		{name: "there and back", do: func(a worker) { a.move("Notes/A.md", "Notes/B.md"); a.move("Notes/B.md", "Notes/A.md") }},
		{name: "a folder there and back", do: func(a worker) { a.move("Notes/sub", "Notes/s2"); a.move("Notes/s2", "Notes/sub") }},
		{name: "twice is once", do: func(a worker) { a.move("Notes/A.md", "Notes/B.md"); a.move("Notes/B.md", "Notes/C.md") },
			proposed: "rename Notes/A.md Notes/C.md"},

		{name: "another author's folder", do: func(a worker) { a.as(bob).mkdir("Notes/d"); a.remove("Notes/d") },
			proposed: "delete Notes/d", has: "d"},
		{name: "nobody's folder", do: func(a worker) { a.as(model.Author{}).mkdir("Notes/d"); a.as(model.Author{}).remove("Notes/d") },
			proposed: "delete Notes/d", has: "d"},
		{name: "a folder that another author has used", do: func(a worker) {
			a.mkdir("Notes/d", "Notes/d/e")
			a.as(bob).create("Notes/d/e/n.md", "text\n")
			a.as(bob).remove("Notes/d/e/n.md")
			a.remove("Notes/d/e", "Notes/d")
		}, proposed: "delete Notes/d/e, delete Notes/d", has: "d d/e"},
		{name: "a folder that a person has used", do: func(a worker) {
			a.mkdir("Notes/d")
			a.Person("Notes/d/p.md", "a person's\n")
			a.Delete("Notes/d/p.md")
			a.remove("Notes/d")
		}, proposed: "delete Notes/d", has: "d"},
		{name: "a folder with a note that a person typed in", do: func(a worker) {
			a.mkdir("Notes/d")
			a.create("Notes/d/n.md", "text\n")
			a.Person("Notes/d/n.md", a.SourceText("Notes/d/n.md")+"typed\n")
			a.remove("Notes/d/n.md", "Notes/d")
		}, proposed: "delete Notes/d/n.md, delete Notes/d", has: "d d/n.md"},
		{name: "a note that a person has typed in, unnoticed", do: func(a worker) {
			a.create("Notes/n.md", "text\n")
			a.Source("Notes").Person(a.t).Save("n.md", a.SourceText("Notes/n.md")+"typed\n")
			a.remove("Notes/n.md")
		}, proposed: "delete Notes/n.md", has: "n.md"},
		{name: "a folder that a person has moved", do: func(a worker) {
			a.mkdir("Notes/d")
			a.Fixture.Rename("Notes/d", "Notes/e")
			a.remove("Notes/e")
		}, proposed: "delete Notes/e", has: "e"},
		{name: "a folder with a person's note is moved", do: func(a worker) {
			a.mkdir("Notes/d")
			a.Person("Notes/d/p.md", "a person's\n")
			a.move("Notes/d", "Notes/e")
		}, proposed: "rename Notes/d Notes/e", has: "d d/p.md"},
		{name: "a folder that a person has accepted something in", do: func(a worker) {
			a.mkdir("Notes/d")
			a.move("Notes/A.md", "Notes/d/A.md")
			decideAll(a.t, a.Workspace, model.Accepted)
			a.move("Notes/d/A.md", "Notes/A.md")
			decideAll(a.t, a.Workspace, model.Accepted)
			a.remove("Notes/d")
		}, proposed: "delete Notes/d", has: "d"},
		{name: "front matter that a person typed in", do: func(a worker) {
			a.create("Notes/n.md", "---\na: 1\n---\n")
			a.Person("Notes/n.md", "---\na: 2\n---\n")
			a.Person("Notes/n.md", "---\na: \n---\n")
			a.remove("Notes/n.md")
		}, proposed: "delete Notes/n.md", has: "n.md"},
		{name: "an empty note that a person has emptied", do: func(a worker) {
			a.create("Notes/n.md", "")
			a.Person("Notes/n.md", "typed\n")
			write(a.t, a.Workspace, "Notes/n.md", bridge.Write{Text: "typed\nmore\n", By: a.by})
			a.Person("Notes/n.md", "")
			a.remove("Notes/n.md")
		}, proposed: "delete Notes/n.md", has: "n.md"},
		{name: "front matter beside what a person has accepted", do: func(a worker) {
			a.create("Notes/n.md", "---\na: 1\n---\ntext\n")
			decide(a.t, a.Workspace, model.Accepted, ids(pendingOf(a.t, a.Workspace))...)
			a.remove("Notes/n.md")
		}, proposed: "delete Notes/n.md", has: "n.md"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := worker{bridgetest.New(t, map[string]string{"Notes/A.md": "a\n", "Notes/sub/b.md": "b\n"}), t, ann}
			tt.do(a)
			if got := strings.Join(a.Proposed(), ", "); got != tt.proposed {
				t.Errorf("proposed: %q, want %q", got, tt.proposed)
			}
			has := append(strings.Fields(tt.has), "A.md", "sub", "sub/b.md")
			slices.Sort(has)
			if got, want := a.sourceHas(), strings.Join(has, " "); got != want {
				t.Errorf("people have %q, want %q", got, want)
			}
		})
	}
}
