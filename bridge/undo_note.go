package bridge

import (
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/planner"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// takeBack plans the undo of a journal entry and tells of it in d. The write lock is
// held.
func (n *note) takeBack(ctx context.Context, cur *model.Version, e model.JournalEntry, d *model.Decision) (planner.Plan, error) {
	if e.IsOld() {
		return planner.UndoOld(cur, e, d)
	}
	at := n.where()
	if n.live == nil {
		if err := n.prepare(at, cur.Raw()); err != nil {
			return planner.Plan{}, err
		}
	}
	if n.id != e.ID {
		return planner.Plan{}, planner.Refuse(planner.ErrHistoryLost)
	}
	h, err := at.store.Load(n.id)
	if err != nil {
		return planner.Plan{}, err
	}
	pieces, err := n.pieces(ctx, cur)
	if err != nil {
		return planner.Plan{}, err
	}
	return planner.Undo(cur, e, h.Records, pieces, d)
}

// pieces are the identities of the live document, deleted ones included; ErrConflict if
// it is not what cur says.
func (n *note) pieces(ctx context.Context, cur *model.Version) (pieces []ycrdt.Piece, err error) {
	if n.live == nil {
		return n.text.Pieces(), nil
	}
	err = n.live.View(ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		text := doc.Text(contentsName)
		if text.String() != cur.Raw() || !slices.Equal(text.Runs(), cur.Runs()) {
			return model.ErrConflict
		}
		pieces = text.Pieces()
		return nil
	})
	return pieces, err
}
