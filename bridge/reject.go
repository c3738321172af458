package bridge

import (
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// rejectAll rejects proposals of one folder together: what is shown elsewhere
// goes home. One whose home is taken by another proposal that is not rejected
// stays, and the map says so. names is held.
func (w *Workspace) rejectAll(f *folder, chosen []*proposal, d model.Decision) ([]model.Event, map[*proposal]error) {
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	failed := make(map[*proposal]error)
	homing := make(map[*node]*proposal) // what goes home
	for _, p := range chosen {
		if p.rec.Kind != model.ProposedFile {
			homing[p.node] = p
		}
	}
	for again := true; again; {
		again = false
		for n, p := range homing {
			if !n.canGoHome(homing) {
				failed[p] = inTheWay(f, n.rel())
				delete(homing, n)
				again = true
			}
		}
	}
	var change model.ProposalChange
	now := time.Now().UTC()
	for _, p := range chosen {
		if failed[p] == nil {
			rec := p.record()
			change.Drop = append(change.Drop, rec.ID)
			change.Journal = append(change.Journal, rec.Decided(d, now))
		}
	}
	if err := f.store.Propose(change); err != nil {
		for _, p := range chosen {
			failed[p] = err
		}
		return nil, failed
	}
	events := goHome(homing)
	for _, p := range chosen {
		if failed[p] != nil {
			continue
		}
		f.withdraw(p)
		if p.rec.Kind == model.ProposedFile {
			events = append(events, p.node.revert())
		}
	}
	return events, failed
}

// canGoHome says whether n can be shown at home once all of homing are: the name
// is free, and the folder is shown, and not in n.
func (n *node) canGoHome(homing map[*node]*proposal) bool {
	at := *n.home
	if guest := at.parent.children[at.name]; guest != nil && homing[guest] == nil {
		return false
	}
	passed := map[*node]bool{n: true}
	for d := at.parent; ; {
		if passed[d] {
			return false // it would be in itself, or in a circle of others
		}
		passed[d] = true
		up := d.parent
		if homing[d] != nil {
			up = d.home.parent
		}
		if up == nil {
			return d.folder == nil // the root; else a folder that is to be deleted
		}
		d = up
	}
}

// goHome shows nodes where the source has them.
func goHome(homing map[*node]*proposal) []model.Event {
	var events []model.Event
	if len(homing) == 1 {
		for n := range homing {
			if n.shown() {
				ev := model.Event{Kind: model.EventRenamed, OldPath: n.path(), Dir: n.kind == model.KindDir, ViewChanged: true}
				n.show(n.home.parent, n.home.name)
				ev.Path = n.path()
				return []model.Event{ev}
			}
		}
	}
	for n := range homing {
		if n.shown() {
			events = append(events, n.event(model.EventRemoved))
		}
	}
	for n := range homing {
		n.hide()
	}
	for n := range homing {
		n.show(n.home.parent, n.home.name)
	}
	for n := range homing {
		if !n.inOther(homing) {
			events = append(events, n.arrival()...)
		}
	}
	return events
}

// inOther says whether n is shown in another one of homing, whose arrival tells
// of it.
func (n *node) inOther(homing map[*node]*proposal) bool {
	for d := n.parent; d != nil; d = d.parent {
		if homing[d] != nil {
			return true
		}
	}
	return false
}

// revert shows the source's content of a file again, or nothing if it has none.
func (n *node) revert() model.Event {
	if !n.virtual() {
		return n.event(model.EventChanged)
	}
	ev := n.event(model.EventRemoved)
	n.forget()
	return ev
}
