package semantic

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
		m, vs, err := x.model(ctx)
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
	if x.sort(notes) {
		x.done = notes
	}
	return nil
}

// stale reports whether the model of the notes must be rebuilt now, and whether it should
// be in the background.
func (x *Index) stale() (now, later bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.ofNotes()
	if s == nil {
		return false, false
	}
	m, ok := s.embedder.(*lsa)
	if !ok {
		return len(x.notesIn(s)) > 0, false
	}
	later = s.changed > m.Made/driftSome
	return s.changed > m.Made || m.Made < small && later, later
}

// notesIn returns the notes that belong to a space, by path. mu is held.
func (x *Index) notesIn(s *space) []*noteindex.NoteInfo {
	var list []*noteindex.NoteInfo
	for _, n := range x.notes {
		if n.in == s {
			list = append(list, n.info)
		}
	}
	slices.SortFunc(list, func(a, b *noteindex.NoteInfo) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// texts returns the passages of a note for embedding, each after the note's name, which
// says most about its subject, and the space that it belongs to.
func (x *Index) texts(ctx context.Context, n *noteindex.NoteInfo) ([]string, *space, error) {
	v, err := x.ws.Open(ctx, n.Path)
	if err != nil {
		return nil, nil, err
	}
	name := strings.TrimSuffix(n.Path.Base(), model.NoteExt)
	parts := passages(v.Text())
	for i, p := range parts {
		parts[i] = name + "\n\n" + p
	}
	return parts, x.spaceOf(v.Text()), nil
}

// gone reports whether a note cannot be read now and is skipped.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, model.ErrOffline) || errors.Is(err, model.ErrNotNote)
}

// model builds a model of the notes that are embedded by one, and the vectors of their passages; nil if they hold
// no word.
func (x *Index) model(ctx context.Context) (*lsa, *vectors, error) {
	x.mu.RLock()
	notes := x.notesIn(x.ofNotes())
	x.mu.RUnlock()
	var all []string
	for _, n := range notes {
		parts, _, err := x.texts(ctx, n)
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

// adopt replaces the model. The notes that it embeds are indexed anew.
func (x *Index) adopt(m *lsa, vs *vectors) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.ofNotes()
	s.embedder, s.vectors, s.changed, x.dirty = m, vs, 0, true
	maps.DeleteFunc(x.notes, func(_ model.Path, n *indexed) bool { return n.in == s })
	x.sorted = nil
}

func (x *Index) embedChanged(ctx context.Context, notes []*noteindex.NoteInfo) error {
	changed := x.changedOf(notes)
	report := model.ProgressOf(ctx)
	batches := make(map[*space]*embedding)
	for _, s := range x.spaces {
		batches[s] = &embedding{in: s, embedder: x.embedderOf(s)}
	}
	for i, n := range changed {
		report(i, len(changed))
		parts, in, err := x.texts(ctx, n)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		batch := batches[in]
		batch.add(x, n, parts)
		if len(batch.texts) >= batchTexts {
			if err := batch.run(ctx, x); err != nil {
				return err
			}
		}
	}
	for _, s := range x.spaces {
		if err := batches[s].run(ctx, x); err != nil {
			return err
		}
	}
	return nil
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

// embedding is a batch of notes of one space, with the hashes of their passages, and of the passages without vectors.
type embedding struct {
	in       *space
	embedder Embedder // nil if there is none yet

	notes []*indexed
	parts [][]sum // of each note
	texts []string
	sums  []sum
}

func (b *embedding) add(x *Index, n *noteindex.NoteInfo, parts []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var sums []sum
	if b.embedder != nil {
		for _, text := range parts {
			s := sumOf(text)
			sums = append(sums, s)
			if _, known := b.in.vectors.rowOf(s); !known {
				b.texts, b.sums = append(b.texts, text), append(b.sums, s)
			}
		}
	}
	b.notes, b.parts = append(b.notes, &indexed{info: n, in: b.in}), append(b.parts, sums)
}

// run embeds the batch and empties it.
func (b *embedding) run(ctx context.Context, x *Index) error {
	var made [][]float32
	if len(b.texts) > 0 {
		var err error
		if made, err = b.embedder.Embed(ctx, b.texts); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, v := range made {
		if !b.in.vectors.put(b.sums[i], v) {
			return fmt.Errorf("%w: vectors of %d and of %d numbers", ErrEndpoint, b.in.vectors.dims, len(v))
		}
	}
	b.in.changed += len(made)
	x.dirty = x.dirty || len(made) > 0
	for i, n := range b.notes {
		n.passages = make([]int32, 0, len(b.parts[i]))
		for _, s := range b.parts[i] {
			row, _ := b.in.vectors.rowOf(s)
			n.passages = append(n.passages, row)
		}
		x.notes[n.info.Path] = n
	}
	*b = embedding{in: b.in, embedder: b.embedder}
	return nil
}

// sort lists what is indexed of notes, which are sorted. It reports whether that is all of them.
func (x *Index) sort(notes []*noteindex.NoteInfo) (all bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	all = true
	x.sorted = make([]*indexed, 0, len(notes))
	for _, info := range notes {
		if n := x.notes[info.Path]; n != nil && n.info == info {
			x.sorted = append(x.sorted, n)
		} else {
			all = false
		}
	}
	for _, s := range x.spaces {
		s.vectors.rest()
	}
	return all
}

// sweep forgets the vectors of passages that no note has any more, once they are most.
func (x *Index) sweep() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.spaces {
		used := x.used(s)
		if len(s.vectors.sums) <= 2*len(used) {
			continue
		}
		kept, places := s.vectors.only(used)
		for _, n := range x.notes {
			if n.in == s {
				for i, row := range n.passages {
					n.passages[i] = places[row]
				}
			}
		}
		s.vectors = kept
	}
}

// used returns the rows of the vectors of a space that notes have, in order. mu is held.
func (x *Index) used(s *space) []int32 {
	var rows []int32
	for _, n := range x.notes {
		if n.in == s {
			rows = append(rows, n.passages...)
		}
	}
	slices.Sort(rows)
	return rows
}
