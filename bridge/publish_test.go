package bridge_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/need"
)

// deed is something that a test does.
type deed func(a worker) error

// Whoever is told of a change may wait for somebody who changes names: no lock is held
// while subscribers run.
func TestEventsComeWithoutLocks(t *testing.T) {
	const note, other = model.Path("Team/Note.md"), model.Path("Team/Other.md")
	agent := bridge.ChangeRequest{Author: ann}
	create := func(p model.Path) deed { return func(a worker) error { a.create(p, "text\n"); return nil } }
	remove := func(o bridge.ChangeRequest) deed {
		return func(a worker) error {
			_, err := a.Remove(a.t.Context(), note, o)
			return err
		}
	}
	rename := func(o bridge.ChangeRequest) deed {
		return func(a worker) error {
			_, err := a.Workspace.Rename(a.t.Context(), note, other, o)
			return err
		}
	}
	decided := func(v model.Verdict) deed {
		return func(a worker) error { decideAll(a.t, a.Workspace, v); return nil }
	}
	personRenames := func(a worker) error { a.Fixture.Rename(string(note), string(other)); return nil }
	undone := func(a worker) error { undo(a.t, a.Workspace, ""); return nil }
	for name, steps := range map[string][]deed{
		"create":                            {create("Team/new/Note.md")},
		"create what is to be deleted":      {remove(agent), create(note)},
		"create at a name that was left":    {rename(agent), create(note)},
		"a person renames":                  {personRenames},
		"a person renames what is proposed": {rename(agent), personRenames},
		"a person removes":                  {func(a worker) error { a.Delete(string(note)); return nil }},
		"mkdir":                             {func(a worker) error { a.mkdir("Team/d"); return nil }},
		"rename":                            {rename(agent)},
		"rename is accepted":                {rename(agent), decided(model.Accepted)},
		"rename is rejected":                {rename(agent), decided(model.Rejected)},
		"deletion is accepted":              {remove(agent), decided(model.Accepted)},
		"accepted rename is taken back":     {rename(agent), decided(model.Accepted), undone},
		"accepted deletion is taken back":   {remove(agent), decided(model.Accepted), undone},
		"rejected deletion is taken back":   {remove(agent), decided(model.Rejected), undone},
	} {
		files := map[string]string{"Note.md": "note\n", "Links.md": "---\nup: \"[[Note]]\"\n---\nsee [[Note]]\n"}
		t.Run(name, func(t *testing.T) {
			f := bridgetest.New(t, map[string]string{"Team/Note.md": files["Note.md"], "Team/Links.md": files["Links.md"]})
			checkFree(worker{f, t, ann}, steps)
		})
		t.Run(name+", live", func(t *testing.T) {
			if strings.HasPrefix(name, "a person") {
				t.Skip("people have no files there")
			}
			f, _ := openLive(t, files)
			checkFree(worker{f, t, ann}, steps)
		})
	}
}

// checkFree takes the steps while a subscriber waits, for each event, for a change of
// names that another program makes.
func checkFree(a worker, steps []deed) {
	a.t.Helper()
	var waiting atomic.Bool
	var made atomic.Int64
	var all sync.WaitGroup
	defer all.Wait()
	defer a.Subscribe(func(ev model.Event) {
		if !waiting.CompareAndSwap(false, true) {
			return // of what is made here
		}
		defer waiting.Store(false)
		done := make(chan struct{})
		p := model.Path(fmt.Sprintf("Team/made %d", made.Add(1)))
		all.Go(func() {
			defer close(done)
			if err := a.Mkdir(a.t.Context(), p, bridge.ChangeRequest{}); err != nil {
				a.t.Error(err)
			}
		})
		select {
		case <-done:
		case <-time.After(need.Scaled(2 * time.Second)):
			a.t.Errorf("names are locked while somebody is told: %s %q", ev.Kind, ev.Path)
		}
	})()
	for _, s := range steps {
		a.must(s(a))
	}
	if made.Load() == 0 {
		a.t.Error("nobody was told of anything")
	}
}

// Proposals are listed, and opened, while others are decided on.
func TestListWhileDeciding(t *testing.T) {
	files := make(map[string]string)
	for i := range 40 {
		files[fmt.Sprintf("Team/n%d.md", i)] = "note\n"
		files[fmt.Sprintf("Team/c%d.canvas", i)] = "{}\n"
	}
	f := bridgetest.New(t, files)
	a := worker{f, t, ann}
	end := make(chan struct{})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				list, err := f.Proposals(t.Context(), "")
				if err != nil {
					t.Error(err)
					return
				}
				for _, p := range list {
					if len(p.Old)+len(p.New) > 100 {
						t.Errorf("proposal %+v", p)
					}
				}
				if file, err := f.OpenFile(t.Context(), "Team/c0.canvas", 0); err == nil {
					_ = file.Close()
				}
			}
		})
	}
	for range 3 {
		for i := range 40 {
			by := model.Author{Name: fmt.Sprintf("ann%d", i)} // no author reaches the limit of deletions
			_, err := f.Remove(t.Context(), model.Path(fmt.Sprintf("Team/n%d.md", i)), bridge.ChangeRequest{Author: by})
			a.must(err)
			_, err = f.WriteFile(t.Context(), model.Path(fmt.Sprintf("Team/c%d.canvas", i)), []byte("{\n}\n"), bridge.ChangeRequest{Author: ann})
			a.must(err)
		}
		for _, v := range []model.Verdict{model.Accepted, model.Rejected} {
			decideAll(t, f.Workspace, v)
			undo(t, f.Workspace, "")
		}
		decideAll(t, f.Workspace, model.Rejected)
	}
	close(end)
	all.Wait()
}
