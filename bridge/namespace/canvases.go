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
// rename is undone. The undo leaves the nodes that had the new path before the rename. A proposal for a whole canvas gets
// the new paths, too, and does not become stale because of them.

const canvasExt = ".canvas"

// CanvasesFollow replaces the source path oldRel with newRel in the canvases of the root, except in the given nodes. It
// returns the nodes that had newRel before, with the paths that the canvases had before the rename.
func (l *Locked) CanvasesFollow(ctx context.Context, oldRel, newRel string, except []model.CanvasNodes) (had []model.CanvasNodes) {
	canvases := l.Files(func(name string, size int64) bool {
		return size <= model.MaxNote && strings.EqualFold(path.Ext(name), canvasExt)
	})
	for _, n := range canvases {
		r := canvasRename{rel: n.Location().Rel, old: oldRel, new: newRel, except: except}
		if err := l.canvasFollows(context.WithoutCancel(ctx), n, &r); err != nil {
			l.log.Warn("a canvas still has the old path of a renamed file", model.LogPath, r.rel, model.LogErr, err)
		}
		had = append(had, r.had...)
	}
	return had
}

// canvasRename is a rename in the canvas at rel. See CanvasesFollow.
type canvasRename struct {
	rel, old, new string
	except, had   []model.CanvasNodes
}

func (r *canvasRename) apply(have []byte, proposed bool) ([]byte, bool) {
	var except []string
	for _, x := range r.except {
		if x.Rel == r.rel && x.Proposed == proposed {
			except = append(except, x.IDs...)
		}
	}
	if ids := links.CanvasNodes(have, r.new); len(ids) > 0 {
		r.had = append(r.had, model.CanvasNodes{Rel: model.Rebased(r.rel, r.new, r.old), Proposed: proposed, IDs: ids})
	}
	return links.RetargetCanvas(have, r.old, r.new, except)
}

func (l *Locked) canvasFollows(ctx context.Context, n *tree.Node, r *canvasRename) error {
	var before, after model.Stamp
	st := n.State()
	if !st.Proposed {
		var err error
		before, after, err = l.Rewrite(ctx, n, time.Now(), func(have []byte) ([]byte, error) {
			moved, _ := r.apply(have, false)
			return moved, nil
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
		p.Update(func(rec *model.ProposalRecord) { changed = r.follow(rec) })
		if changed {
			change.Upserted = append(change.Upserted, p.MarkStored())
		}
	}
	change.Upserted = append(change.Upserted, l.Changed()...)
	if n.Location().Shown && (after != before || len(change.Upserted) > 0) {
		l.QueueEvents(model.Event{Kind: model.EventChanged, Path: st.Path, ViewChanged: true})
	}
	if len(change.Upserted) == 0 {
		return nil
	}
	return l.Store.Propose(change)
}

// follow updates the path in the old and the proposed content of a canvas. It reports whether it changed the proposal.
func (r *canvasRename) follow(rec *model.ProposalRecord) (changed bool) {
	if rec.Kind != model.ProposedFile {
		return false
	}
	for i, data := range []*[]byte{&rec.Old, &rec.New} {
		if moved, named := r.apply(*data, i == 1); named {
			*data, changed = moved, true
		}
	}
	return changed
}
