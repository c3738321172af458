package bridge

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/links"
	"github.com/relayfs/relayfs/bridge/model"
)

// Canvases name the files that they show by their paths. A canvas takes no marks,
// and so, as with links in front matter, the names change when the source does:
// when a rename is done at once or accepted, and back when that is undone. What is
// proposed for a canvas as a whole follows, and is no more stale than before.

const canvasExt = ".canvas"

// canvasesFollow lets the canvases of f name what was at oldRel in the source at
// newRel. Its events come with the next settle. names is held.
func (w *Workspace) canvasesFollow(ctx context.Context, f *folder, oldRel, newRel string) {
	var canvases []*node
	w.treeMu.RLock()
	f.node.walkSource(func(n *node) {
		if n.kind == model.KindFile && n.size <= model.MaxNote && strings.EqualFold(path.Ext(n.place().name), canvasExt) {
			canvases = append(canvases, n)
		}
	})
	for _, p := range f.proposals {
		if p.node.virtual() && strings.EqualFold(path.Ext(p.node.name), canvasExt) {
			canvases = append(canvases, p.node)
		}
	}
	w.treeMu.RUnlock()
	for _, n := range canvases {
		if err := w.canvasFollows(context.WithoutCancel(ctx), f, n, oldRel, newRel); err != nil {
			w.log.Warn("a canvas names a renamed file as before", model.LogPath, n.rel(), model.LogErr, err)
		}
	}
}

func (w *Workspace) canvasFollows(ctx context.Context, f *folder, n *node, oldRel, newRel string) error {
	var before, after model.Stamp
	if !n.virtual() {
		var err error
		if before, after, err = rewriteCanvas(ctx, f, n.rel(), oldRel, newRel); err != nil {
			return err
		}
	}
	w.treeMu.Lock()
	if after != before {
		n.update(model.SourceEntry{Mode: n.mode, Stamp: after})
	}
	var change model.ProposalChange
	for _, p := range []*proposal{n.pending, n.content} {
		if p != nil && p.follow(before, after, oldRel, newRel) {
			p.kept = p.record()
			change.Put = append(change.Put, p.kept)
		}
	}
	if n.shown() && (after != before || len(change.Put) > 0) {
		f.shift.events = append(f.shift.events, n.event(model.EventChanged))
	}
	w.treeMu.Unlock()
	if len(change.Put) == 0 {
		return nil
	}
	return f.store.Propose(change)
}

// rewriteCanvas rewrites the canvas at rel, and returns how it was stamped before
// and is after.
func rewriteCanvas(ctx context.Context, f *folder, rel, oldRel, newRel string) (before, after model.Stamp, err error) {
	for range maxAttempts {
		data, stamp, err := f.source.Read(ctx, rel)
		if err != nil {
			return model.Stamp{}, model.Stamp{}, err
		}
		moved, named := links.RetargetCanvas(data, oldRel, newRel)
		if !named {
			return stamp, stamp, nil
		}
		after, err := f.source.Replace(ctx, rel, model.Replacement{Expect: stamp, Data: moved, ModTime: time.Now()})
		if !errors.Is(err, model.ErrConflict) {
			return stamp, after, err
		}
	}
	return model.Stamp{}, model.Stamp{}, model.ErrConflict
}

// follow lets a proposal about a canvas go with the canvas, whose stamp has
// changed. It says whether there was anything to change. treeMu is held.
func (p *proposal) follow(before, after model.Stamp, oldRel, newRel string) bool {
	changed := false
	if before != after && p.rec.Stamp.Size == before.Size && p.rec.Stamp.ModTime == before.ModTime {
		p.rec.Stamp, changed = model.Stamp{Size: after.Size, ModTime: after.ModTime}, true
	}
	if p.rec.Kind != model.ProposedFile {
		return changed
	}
	for _, data := range []*[]byte{&p.rec.Old, &p.rec.New} {
		if moved, named := links.RetargetCanvas(*data, oldRel, newRel); named {
			*data, changed = moved, true
		}
	}
	return changed
}
