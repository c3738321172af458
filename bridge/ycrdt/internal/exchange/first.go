package exchange

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/edit"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// Most documents are loaded from one update, and most of these updates have only one writer. Such an update needs only
// one pass, because after an error the document can be emptied again. All other updates are checked in a separate pass
// first.

func (a *Updates) pristine() bool {
	return len(a.store.Clients) == 1 && len(a.store.Branches) == 1 && a.pending.size() == 0
}

// first reads the head of an update that has the structs of one client. ok is false for any other update, or if the
// store has ever had content.
func (a *Updates) first(update []byte) (section wire.StructReader, ok bool) {
	r := wire.StructReader{Reader: lib0.NewReader(update), Check: true}
	if !a.pristine() || r.Uint() != 1 || len(update) > structs.MaxArena {
		return r, false
	}
	r.Section()
	return r, r.Err() == nil
}

// applyFirst integrates an update whose head was read by first. After an error the store is empty again.
func (a *Updates) applyFirst(update []byte, section wire.StructReader) error {
	a.store.Reserve(min(int(section.Left), len(update)/8), len(update))
	p := newPlanner(a.store, a.tx)
	p.data, p.cursors = update, []cursor{{StructReader: section}}
	if err := a.takeFirst(&p); err != nil {
		*a.store = *ytypes.New()
		a.tx.Scan = edit.ConflictScan{}
		a.pending = pendingUpdates{}
		return err
	}
	a.store.Trim()
	return nil
}

func (a *Updates) takeFirst(p *planner) error {
	rest := p.drain()
	r := &p.cursors[0].Reader
	deletes := wire.ReadDeleteSet(r)
	if err := r.Err(); err != nil {
		return fmt.Errorf("update: %w: %w", wire.ErrMalformed, err)
	}
	deletes.Normalize()
	pending := &a.pending
	pending.addStructs(rest)
	if pending.deletes = a.tx.DeleteRanges(deletes); pending.size() > maxPending {
		return ErrPendingLimit
	}
	return nil
}
