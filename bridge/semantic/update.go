package semantic

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/noteindex"
)

// A model is made anew when more than a fifth as many passages came after it as it
// was made of: in the background, but at once where that takes no time, or where
// there are more new ones than old.
const (
	driftSome = 5
	small     = 500 // passages
)

// Update embeds what has changed since the last time.
func (x *Index) Update(ctx context.Context) error {
	x.updating.Lock()
	defer x.updating.Unlock()
	notes, err := x.ws.Notes(ctx, "")
	if err != nil {
		return err
	}
	x.forget(notes)
	if err := x.embedChanged(ctx, notes); err != nil {
		return err
	}
	if x.o.Embedder == nil && x.outgrown() {
		if err := x.remodel(ctx, notes); err != nil {
			return err
		}
		if err := x.embedChanged(ctx, notes); err != nil {
			return err
		}
	}
	if x.o.Embedder == nil && x.drifted() {
		x.poke()
	}
	return nil
}

// poke has Run look for something to do.
func (x *Index) poke() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// forget drops the notes that are not there any more.
func (x *Index) forget(notes []*noteindex.NoteInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.notes) == 0 {
		return
	}
	there := make(map[model.Path]bool, len(notes))
	for _, n := range notes {
		there[n.Path] = true
	}
	for p := range x.notes {
		if !there[p] {
			delete(x.notes, p)
		}
	}
}

// outgrown says that there is no model, or one that cannot wait for another.
func (x *Index) outgrown() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	m, ok := x.embedder.(*lsa)
	return !ok || x.changed > m.Made || m.Made < small && x.changed > m.Made/driftSome
}

func (x *Index) drifted() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	m, ok := x.embedder.(*lsa)
	return ok && x.changed > m.Made/driftSome
}

// texts are the passages of a note as they are embedded: each with the note's
// name, which says most about it.
func (x *Index) texts(ctx context.Context, n *noteindex.NoteInfo) ([]string, error) {
	v, err := x.ws.Open(ctx, n.Path)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(n.Path.Base(), model.NoteExt)
	parts := passages(v.Text())
	for i, p := range parts {
		parts[i] = name + "\n\n" + p
	}
	return parts, nil
}

// gone says that a note cannot be read now and is passed over.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, model.ErrOffline) || errors.Is(err, model.ErrNotNote)
}

// remodel makes a model of all notes and puts it in the place of the old one.
func (x *Index) remodel(ctx context.Context, notes []*noteindex.NoteInfo) error {
	m, vectors, err := x.model(ctx, notes)
	if err == nil && m != nil {
		x.adopt(m, vectors)
	}
	return err
}

// model makes a model of all notes, and the vectors of their passages; nil if
// they hold no word.
func (x *Index) model(ctx context.Context, notes []*noteindex.NoteInfo) (*lsa, map[sum][]float32, error) {
	var all []string
	for _, n := range notes {
		parts, err := x.texts(ctx, n)
		if err != nil && !gone(err) {
			return nil, nil, err
		}
		all = append(all, parts...)
	}
	if len(all) == 0 {
		return nil, nil, nil
	}
	m := fitLSA(all, newSeal(), func() bool { return ctx.Err() != nil })
	if m == nil {
		return nil, nil, ctx.Err()
	}
	vectors := make(map[sum][]float32, len(all))
	report := model.ProgressOf(ctx)
	for i, text := range all {
		report(i, len(all))
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		vectors[sumOf(text)] = m.fold(text)
	}
	x.log.Info("semantic model made", "passages", len(all), "terms", len(m.IDF), "dimensions", m.Dims)
	return m, vectors, nil
}

// adopt has searches use m from now on. The notes' passages are looked up again.
func (x *Index) adopt(m *lsa, vectors map[sum][]float32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.embedder, x.vectors, x.changed, x.dirty = m, vectors, 0, true
	x.notes = make(map[model.Path]*indexed)
}

// pendingNote is a note whose passages are being embedded.
type pendingNote struct {
	info     *noteindex.NoteInfo
	passages []sum
}

// embedChanged embeds the notes that changed, some at a time.
func (x *Index) embedChanged(ctx context.Context, notes []*noteindex.NoteInfo) error {
	if !x.ready() {
		return nil // there is not a word to make a model of
	}
	changed := x.changedOf(notes)
	report := model.ProgressOf(ctx)
	var batch embedding
	for i, n := range changed {
		report(i, len(changed))
		parts, err := x.texts(ctx, n)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		batch.add(x, n, parts)
		if len(batch.texts) >= batchTexts {
			if err := batch.run(ctx, x); err != nil {
				return err
			}
		}
	}
	return batch.run(ctx, x)
}

// ready says that there is something to embed with.
func (x *Index) ready() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.embedder != nil
}

// changedOf are the notes that are not indexed as they are.
func (x *Index) changedOf(notes []*noteindex.NoteInfo) []*noteindex.NoteInfo {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var changed []*noteindex.NoteInfo
	for _, n := range notes {
		if have := x.notes[n.Path]; have == nil || have.info != n {
			changed = append(changed, n)
		}
	}
	return changed
}

// embedding is a batch of notes, and their passages that have no vector yet.
type embedding struct {
	notes []pendingNote
	texts []string
	sums  []sum
}

func (b *embedding) add(x *Index, n *noteindex.NoteInfo, parts []string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	p := pendingNote{info: n}
	for _, text := range parts {
		s := sumOf(text)
		p.passages = append(p.passages, s)
		if _, known := x.vectors[s]; !known {
			b.texts, b.sums = append(b.texts, text), append(b.sums, s)
		}
	}
	b.notes = append(b.notes, p)
}

// run embeds the batch, and empties it.
func (b *embedding) run(ctx context.Context, x *Index) error {
	x.mu.RLock()
	embedder := x.embedder
	x.mu.RUnlock()
	var vectors [][]float32
	if len(b.texts) > 0 {
		var err error
		if vectors, err = embedder.Embed(ctx, b.texts); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, v := range vectors {
		x.vectors[b.sums[i]] = v
	}
	x.changed += len(vectors)
	x.dirty = x.dirty || len(vectors) > 0
	for _, n := range b.notes {
		x.notes[n.info.Path] = &indexed{info: n.info, passages: n.passages}
	}
	*b = embedding{}
	return nil
}
