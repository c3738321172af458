package semantic

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/noteindex"
)

// A model is rebuilt when the passages embedded since are more than a fifth of those that
// it was built from: in the background, but at once if it is small, or if the new passages
// outnumber the old ones.
const (
	driftSome = 5
	small     = 500 // passages
)

// Update embeds the notes that have changed since the last call.
func (x *Index) Update(ctx context.Context) error {
	x.updating.Lock()
	defer x.updating.Unlock()
	notes, err := x.ws.Notes(ctx, "")
	if err != nil {
		return err
	}
	if slices.Equal(notes, x.done) {
		return nil
	}
	x.done = nil
	if err := x.embedChanged(ctx, notes); err != nil {
		return err
	}
	if now, _ := x.stale(); now {
		m, vs, err := x.model(ctx, notes)
		if err != nil {
			return err
		}
		if m != nil {
			x.adopt(m, vs)
		}
		if err := x.embedChanged(ctx, notes); err != nil {
			return err
		}
	}
	if _, later := x.stale(); later {
		x.wake.Set()
	}
	x.sweep()
	if x.flatten(notes) {
		x.done = notes
	}
	return nil
}

// stale reports whether the model of the notes must be rebuilt now, and whether it should
// be in the background.
func (x *Index) stale() (now, later bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.o.Embedder != nil {
		return false, false
	}
	m, ok := x.embedder.(*lsa)
	if !ok {
		return true, false
	}
	later = x.changed > m.Made/driftSome
	return x.changed > m.Made || m.Made < small && later, later
}

// texts returns the passages of a note for embedding, each after the note's name, which
// says most about its subject.
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

// gone reports whether a note cannot be read now and is skipped.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, model.ErrOffline) || errors.Is(err, model.ErrNotNote)
}

// model builds a model of all notes, and the vectors of their passages; nil if they hold
// no word.
func (x *Index) model(ctx context.Context, notes []*noteindex.NoteInfo) (*lsa, *vectors, error) {
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
	m := fitLSA(all, rand.Text()[:12], func() bool { return ctx.Err() != nil })
	if m == nil {
		return nil, nil, ctx.Err()
	}
	vs := new(vectors)
	report := model.ProgressOf(ctx)
	for i, text := range all {
		report(i, len(all))
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		vs.put(sumOf(text), m.fold(text))
	}
	x.log.Info("semantic model built", "passages", len(all), "terms", len(m.IDF), "dimensions", m.Dims)
	return m, vs, nil
}

// adopt replaces the model. All notes are indexed anew.
func (x *Index) adopt(m *lsa, vs *vectors) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.embedder, x.vectors, x.changed, x.dirty = m, vs, 0, true
	x.notes, x.flat = make(map[model.Path]*indexed), nil
}

func (x *Index) embedChanged(ctx context.Context, notes []*noteindex.NoteInfo) error {
	embedder := x.current()
	if embedder == nil {
		return nil // there is not a word to build a model of
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
			if err := batch.run(ctx, x, embedder); err != nil {
				return err
			}
		}
	}
	return batch.run(ctx, x, embedder)
}

// changedOf returns the notes whose current state is not indexed, and forgets those that do
// not exist any more.
func (x *Index) changedOf(notes []*noteindex.NoteInfo) []*noteindex.NoteInfo {
	x.mu.Lock()
	defer x.mu.Unlock()
	var changed []*noteindex.NoteInfo
	there := make(map[model.Path]*indexed, len(notes))
	for _, n := range notes {
		have := x.notes[n.Path]
		if have != nil {
			there[n.Path] = have
		}
		if have == nil || have.info != n {
			changed = append(changed, n)
		}
	}
	x.notes = there
	return changed
}

// embedding is a batch of notes with the hashes of their passages, and of the passages without vectors.
type embedding struct {
	notes []*indexed
	parts [][]sum // of each note
	texts []string
	sums  []sum
}

func (b *embedding) add(x *Index, n *noteindex.NoteInfo, parts []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	sums := make([]sum, 0, len(parts))
	for _, text := range parts {
		s := sumOf(text)
		sums = append(sums, s)
		if _, known := x.vectors.rowOf(s); !known {
			b.texts, b.sums = append(b.texts, text), append(b.sums, s)
		}
	}
	b.notes, b.parts = append(b.notes, &indexed{info: n}), append(b.parts, sums)
}

// run embeds the batch and empties it.
func (b *embedding) run(ctx context.Context, x *Index, embedder Embedder) error {
	var made [][]float32
	if len(b.texts) > 0 {
		var err error
		if made, err = embedder.Embed(ctx, b.texts); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, v := range made {
		if !x.vectors.put(b.sums[i], v) {
			return fmt.Errorf("%w: vectors of %d and of %d numbers", ErrEndpoint, x.vectors.dims, len(v))
		}
	}
	x.changed += len(made)
	x.dirty = x.dirty || len(made) > 0
	for i, n := range b.notes {
		n.passages = make([]int32, 0, len(b.parts[i]))
		for _, s := range b.parts[i] {
			row, _ := x.vectors.rowOf(s)
			n.passages = append(n.passages, row)
		}
		x.notes[n.info.Path] = n
	}
	*b = embedding{}
	return nil
}

// flatten lists the passages of all notes. It reports whether no note was skipped.
func (x *Index) flatten(notes []*noteindex.NoteInfo) (all bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	all = true
	x.flat = nil
	for _, info := range notes {
		n := x.notes[info.Path]
		if n == nil || n.info != info {
			all = false
			continue
		}
		for i, row := range n.passages {
			x.flat = append(x.flat, passageOf{info, row, int32(i)})
		}
	}
	x.flat = slices.Clip(x.flat)
	x.vectors.rest()
	return all
}

// sweep forgets the vectors of passages that no note has any more, once they are most.
func (x *Index) sweep() {
	x.mu.Lock()
	defer x.mu.Unlock()
	var used []int32
	for _, n := range x.notes {
		used = append(used, n.passages...)
	}
	if len(x.vectors.sums) <= 2*len(used) {
		return
	}
	slices.Sort(used)
	kept, places := x.vectors.only(used)
	for _, n := range x.notes {
		for i, row := range n.passages {
			n.passages[i] = places[row]
		}
	}
	x.vectors = kept
}
