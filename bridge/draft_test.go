package bridge_test

import (
	"context"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
)

// refusingSource refuses the next change, when everything is ready for it.
type refusingSource struct {
	*bridgetest.Source
	next error
}

func (s *refusingSource) Replace(ctx context.Context, rel string, r bridge.Replacement) (bridge.Stamp, error) {
	err := s.next
	if s.next = nil; err == nil {
		return s.Source.Replace(ctx, rel, r)
	}
	if err := r.Meanwhile(); err != nil {
		return bridge.Stamp{}, err
	}
	return bridge.Stamp{}, err
}

// refusingStore keeps nothing the next time.
type refusingStore struct {
	bridge.Store
	next error
}

func (s *refusingStore) Append(id bridge.DocID, p bridge.Path, records ...bridge.Record) (uint64, error) {
	err := s.next
	if s.next = nil; err != nil {
		return 0, err
	}
	return s.Store.Append(id, p, records...)
}

// A version that was shown before a decision failed is merged like any other: the
// first document of the note, whose identities it was given, is in no store.
func TestBaseOfDiscardedDraft(t *testing.T) {
	for name, refuse := range map[string]struct{ source, store error }{
		"somebody saved": {source: bridge.ErrConflict},
		"disk full":      {source: bridge.ErrNoSpace},
		"store full":     {store: bridge.ErrNoSpace},
	} {
		t.Run(name, func(t *testing.T) {
			f := bridgetest.New(t, map[string]string{plan: "one {++new++} two\nmiddle\nend of it\n"}, func(o *bridge.Options) {
				f := &o.Folders[0]
				f.Source = &refusingSource{f.Source.(*bridgetest.Source), refuse.source}
				f.Store = &refusingStore{f.Store, refuse.store}
			})
			base := open(t, f.Workspace, plan)
			if _, err := f.Decide(t.Context(), ids(pendingOf(t, f.Workspace)), bridge.Accepted, person); err != nil {
				t.Fatal(err)
			}
			f.Person(plan, "typed\none {++new++} two\nmiddle\nend of it\n")
			res := write(t, f.Workspace, plan, bridge.Write{Bases: []*bridge.Version{base}, Text: "one new two\nMIDDLE\nend of it\n", By: ann})
			if got, want := res.Version.Text(), "typed\none new two\nMIDDLE\nend of it\n"; got != want {
				t.Errorf("the note is %q, want %q", got, want)
			}
		})
	}
}
