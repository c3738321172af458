package bridge_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
)

// What a user saved while the store failed leaves no identities that the store does not
// know: a writer who read the note before it is merged like any other.
func TestPersonsSaveThatIsNotKeptLeavesNoIdentities(t *testing.T) {
	var fails atomic.Bool
	f := bridgetest.New(t, map[string]string{plan: "one two three\nfour five six\n"}, func(o *bridge.Options) {
		o.Roots[0].Store = failingStore{o.Roots[0].Store, &fails}
	})
	mid := write(t, f.Workspace, plan, bridge.Write{Text: "one two three more\nfour five six\n", By: ann}).Version
	fails.Store(true)
	f.Person(plan, "typed\n"+f.SourceText(plan))
	if fails.Swap(false) {
		t.Fatal("the store did not fail")
	}
	pendingOf(t, f.Workspace)
	res := write(t, f.Workspace, plan, bridge.Write{Base: mid, Text: "one two three more\nfour 5 six\n", By: bob})
	if got, want := res.Version.Text(), "typed\none two three more\nfour 5 six\n"; got != want {
		t.Errorf("merged %q, want %q", got, want)
	}
}

// unreadable is a failingStore that cannot read documents either until the next Append.
type unreadable struct{ failingStore }

func (s unreadable) Load(id model.DocID) (model.History, error) {
	if s.fails.Load() {
		return model.History{}, errors.New("disk error")
	}
	return s.Store.Load(id)
}

// What a user saves while the store does not work stays, whoever writes then.
func TestPersonsSaveWhileTheStoreIsUnreadable(t *testing.T) {
	var fails atomic.Bool
	f := bridgetest.New(t, map[string]string{plan: "one\n"}, func(o *bridge.Options) {
		o.Roots[0].Store = unreadable{failingStore{o.Roots[0].Store, &fails}}
	})
	write(t, f.Workspace, plan, bridge.Write{Text: "one two\n", By: ann})
	fails.Store(true)
	f.Person(plan, "typed by a person\n"+f.SourceText(plan))
	if fails.Swap(false) {
		t.Fatal("the store did not fail")
	}
	f.Workspace.Update(t.Context(), plan, bob, nil, func(current *model.Version) (string, error) { return current.Text() + "more\n", nil })
	if got := f.SourceText(plan); !strings.Contains(got, "typed by a person") {
		t.Errorf("the person's save is gone: %q", got)
	}
}

// A copy that a user leaves where a note was before it was renamed is a user's.
func TestCopyAtAnOldName(t *testing.T) {
	const moved = "Notes/Moved.md"
	kept := realStore(t)
	f := bridgetest.New(t, map[string]string{plan: "one {++carol's++}\n"}, func(o *bridge.Options) { o.Roots[0].Store = kept })
	if len(pendingOf(t, f.Workspace)) != 1 {
		t.Fatal("no suggestion")
	}
	write(t, f.Workspace, plan, bridge.Write{Text: "one carol's\ntwo\n", By: ann})
	raw := f.SourceText(plan)
	f.Rename(plan, moved)
	f.Person(plan, raw)
	for _, s := range pendingOf(t, f.Workspace) {
		if s.Author != "" && strings.Contains(s.New, "carol") {
			t.Errorf("%+v", s)
		}
	}
}

func realStore(t *testing.T) model.Store {
	t.Helper()
	s, err := store.Open(t.TempDir()+"/store.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
