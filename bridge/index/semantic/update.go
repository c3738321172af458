package semantic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/model"
)

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
	x.sweep()
	if x.sort(notes) {
		x.done = notes
	}
	return nil
}

// texts returns the passages of a note for embedding. Each begins with the note's name, because that is the best hint
// at the note's subject. It returns no passage for a note in a language without vectors.
func (x *Index) texts(ctx context.Context, n *index.NoteInfo) ([]string, error) {
	v, err := x.ws.Open(ctx, n.Path)
	if err != nil {
		return nil, err
	}
	text, _ := v.Decoded()
	if x.o.Embedder == nil && !isEnglish(text) {
		return nil, nil
	}
	name := strings.TrimSuffix(n.Path.Base(), model.NoteExt)
	parts := passages(text)
	for i, p := range parts {
		parts[i] = name + "\n\n" + p
	}
	return parts, nil
}

func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, model.ErrOffline) || errors.Is(err, model.ErrNotNote)
}

func (x *Index) embedChanged(ctx context.Context, notes []*index.NoteInfo) error {
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

// changedOf returns the notes whose present state is not indexed. It also removes from the index the notes that no
// longer exist.
func (x *Index) changedOf(notes []*index.NoteInfo) []*index.NoteInfo {
	x.mu.Lock()
	defer x.mu.Unlock()
	var changed []*index.NoteInfo
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

type embedding struct {
	notes []*indexed
	parts [][]sum // for each note, the hashes of its passages
	texts []string
	sums  []sum
}

func (b *embedding) add(x *Index, n *index.NoteInfo, parts []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var sums []sum
	for _, text := range parts {
		s := sumOf(text)
		sums = append(sums, s)
		if _, ok := x.vectors.rowOf(s); !ok {
			b.texts, b.sums = append(b.texts, text), append(b.sums, s)
		}
	}
	b.notes, b.parts = append(b.notes, &indexed{info: n}), append(b.parts, sums)
}

func (b *embedding) run(ctx context.Context, x *Index) error {
	var made [][]float32
	if len(b.texts) > 0 {
		var err error
		if made, err = x.embedder.Embed(ctx, b.texts); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, v := range made {
		if !x.vectors.put(b.sums[i], v) {
			return fmt.Errorf("%w: vectors have different lengths, %d and %d", ErrEndpoint, x.vectors.dims, len(v))
		}
	}
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

// sort sets x.sorted to the indexed states of notes, which must be sorted by path. It reports whether all notes are
// indexed.
func (x *Index) sort(notes []*index.NoteInfo) (all bool) {
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
	x.vectors.compact()
	return all
}

// sweep removes the vectors of passages that no longer occur in any note, once these are the majority.
func (x *Index) sweep() {
	x.mu.Lock()
	defer x.mu.Unlock()
	used := x.used()
	if len(x.vectors.sums) <= 2*len(used) {
		return
	}
	kept, places := x.vectors.only(used)
	for _, n := range x.notes {
		for i, row := range n.passages {
			n.passages[i] = places[row]
		}
	}
	x.vectors = kept
}

// used returns the rows of the vectors that notes have, in order. The caller must hold mu.
func (x *Index) used() []int32 {
	var rows []int32
	for _, n := range x.notes {
		rows = append(rows, n.passages...)
	}
	slices.Sort(rows)
	return rows
}
