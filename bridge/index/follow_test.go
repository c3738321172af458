package index

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
)

// names is a derived thing that has the names, and a log that forgets.
type names struct {
	have map[model.Path]bool
	is   []model.Path
	log  []model.Event
	from uint64 // the number of the change before the first in the log
}

func (x *names) add(p model.Path)                                      { x.have[p] = true }
func (x *names) set(context.Context, model.Path, *model.Version) error { return nil }
func (x *names) remove(p model.Path) {
	maps.DeleteFunc(x.have, func(q model.Path, _ bool) bool { return p.Contains(q) })
}
func (x *names) rename(oldPath, newPath model.Path) []model.Path {
	x.remove(oldPath)
	x.add(newPath)
	return nil
}
func (x *names) Read(context.Context, model.Path) (*model.Version, error) { return nil, nil }
func (x *names) LeadsToFolder(model.Path) bool                            { return false }
func (x *names) EachName(_ context.Context, fn func(model.Path, model.NodeKind)) error {
	for _, p := range x.is {
		fn(p, model.KindNote)
	}
	return nil
}

func (x *names) Since(number uint64) ([]model.Event, uint64, bool) {
	last := x.from + uint64(len(x.log))
	if number < x.from || number > last {
		return x.log, last, false
	}
	return x.log[number-x.from:], last, true
}

// An index is right whether the log has what happened since it was last asked for, or has forgotten some of it.
func TestFollowerCatchesUp(t *testing.T) {
	x := &names{have: make(map[model.Path]bool), is: []model.Path{"N/a.md", "N/b.md"}, from: 7}
	f := NewFollower(x, slog.New(slog.DiscardHandler), x)
	check := func() {
		t.Helper()
		if err := f.Current(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(x.have)); !slices.Equal(got, x.is) {
			t.Errorf("the index has %q, there are %q", got, x.is)
		}
	}
	check()
	x.is = []model.Path{"N/b.md", "N/c.md"}
	x.log = append(x.log, model.Event{Kind: model.EventRenamed, OldPath: "N/a.md", Path: "N/c.md"})
	check()
	x.is = []model.Path{"N/d.md"}
	x.log, x.from = nil, 100
	check()
}
