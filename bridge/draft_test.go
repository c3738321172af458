package bridge_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// refusingSource refuses the next change, when everything is ready for it.
type refusingSource struct {
	*bridgetest.Source
	next error
}

func (s *refusingSource) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	err := s.next
	if s.next = nil; err == nil {
		return s.Source.Replace(ctx, rel, r)
	}
	if err := r.BeforeRename(model.Stamp{}); err != nil {
		return model.Stamp{}, err
	}
	return model.Stamp{}, err
}

// A version that was shown before a decision failed is merged like any other: the
// first document of the note, whose identities it was given, is in no store.
func TestBaseOfDiscardedDraft(t *testing.T) {
	for name, refuse := range map[string]struct {
		source error
		store  bool // the store fails
	}{
		"somebody saved": {source: model.ErrConflict},
		"disk full":      {source: model.ErrNoSpace},
		"store full":     {store: true},
	} {
		t.Run(name, func(t *testing.T) {
			var fails atomic.Bool
			fails.Store(refuse.store)
			f := bridgetest.New(t, map[string]string{plan: "one {++new++} two\nmiddle\nend of it\n"}, func(o *bridge.Options) {
				f := &o.Roots[0]
				f.Source = &refusingSource{f.Source.(*bridgetest.Source), refuse.source}
				f.Store = failingStore{f.Store, &fails}
			})
			base := open(t, f.Workspace, plan)
			if _, err := f.Decide(t.Context(), ids(pendingOf(t, f.Workspace)), model.Accepted, person); err != nil {
				t.Fatal(err)
			}
			f.Person(plan, "typed\none {++new++} two\nmiddle\nend of it\n")
			res := write(t, f.Workspace, plan, bridge.Write{Base: base, Text: "one new two\nMIDDLE\nend of it\n", By: ann})
			if got, want := res.Version.Text(), "typed\none new two\nMIDDLE\nend of it\n"; got != want {
				t.Errorf("the note is %q, want %q", got, want)
			}
		})
	}
}
