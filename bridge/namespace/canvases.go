package namespace

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

// A canvas refers by path to the files that it shows. A canvas takes no marks, so its paths change when the source
// changes, like links in front matter: when a rename is applied without a proposal or accepted, and again when the
// rename is undone. A proposal for a whole canvas gets the new paths, too, and does not become stale because of them.

const canvasExt = ".canvas"

// CanvasesFollow replaces the source path oldRel with newRel in the canvases of the root.
func (l *Locked) CanvasesFollow(ctx context.Context, oldRel, newRel string) {
	canvases := l.Files(func(name string, size int64) bool {
		return size <= model.MaxNote && strings.EqualFold(path.Ext(name), canvasExt)
	})
	for _, n := range canvases {
		if err := l.canvasFollows(context.WithoutCancel(ctx), n, oldRel, newRel); err != nil {
			l.log.Warn("a canvas still has the old path of a renamed file", model.LogPath, n.Location().Rel, model.LogErr, err)
		}
	}
}

func (l *Locked) canvasFollows(ctx context.Context, n *tree.Node, oldRel, newRel string) error {
	var before, after model.Stamp
	st := n.State()
	if !st.Proposed {
		var err error
		before, after, err = l.Rewrite(ctx, n, time.Now(), func(have []byte) ([]byte, error) {
			if moved, named := links.RetargetCanvas(have, oldRel, newRel); named {
				return moved, nil
			}
			return have, nil
		})
		if err != nil {
			return err
		}
	}
	var change model.ProposalChange
	for _, p := range []*tree.Proposal{st.Pending, st.Content} {
		if p == nil {
			continue
		}
		changed := false
		p.Update(func(rec *model.ProposalRecord) { changed = follow(rec, before, after, oldRel, newRel) })
		if changed {
			change.Upserted = append(change.Upserted, p.MarkStored())
		}
	}
	if n.Location().Shown && (after != before || len(change.Upserted) > 0) {
		l.QueueEvents(model.Event{Kind: model.EventChanged, Path: st.Path, ViewChanged: true})
	}
	if len(change.Upserted) == 0 {
		return nil
	}
	return l.Store.Propose(change)
}

// follow updates a proposal about a canvas: the stamp of the file, and oldRel in the old and the proposed content. It
// reports whether it changed the proposal.
func follow(rec *model.ProposalRecord, before, after model.Stamp, oldRel, newRel string) bool {
	changed := false
	if before != after && rec.Stamp.Size == before.Size && rec.Stamp.ModTime == before.ModTime {
		rec.Stamp, changed = after, true
	}
	if rec.Kind != model.ProposedFile {
		return changed
	}
	for _, data := range []*[]byte{&rec.Old, &rec.New} {
		if moved, named := links.RetargetCanvas(*data, oldRel, newRel); named {
			*data, changed = moved, true
		}
	}
	return changed
}
