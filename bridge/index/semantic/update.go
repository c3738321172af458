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
	all, err := x.embedChanged(ctx, notes)
	if err != nil {
		return err
	}
	if x.sweep(notes); all {
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

// embedChanged embeds the notes whose present state is not indexed. It reports whether all notes could be read.
func (x *Index) embedChanged(ctx context.Context, notes []*index.NoteInfo) (all bool, err error) {
	var changed []*index.NoteInfo
	x.mu.RLock()
	for _, n := range notes {
		if _, ok := x.notes[n]; !ok {
			changed = append(changed, n)
		}
	}
	x.mu.RUnlock()
	report := model.ProgressOf(ctx)
	var batch embedding
	all = true
	for i, n := range changed {
		report(i, len(changed))
		parts, err := x.texts(ctx, n)
		if gone(err) {
			all = false
			continue
		}
		if err != nil {
			return false, err
		}
		batch.add(x, n, parts)
		if len(batch.texts) >= batchTexts {
			if err := batch.run(ctx, x); err != nil {
				return false, err
			}
		}
	}
	return all, batch.run(ctx, x)
}

type embedding struct {
	notes []*index.NoteInfo
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
		if x.vectors[s] == nil {
			b.texts, b.sums = append(b.texts, text), append(b.sums, s)
		}
	}
	b.notes, b.parts = append(b.notes, n), append(b.parts, sums)
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
		if !x.put(b.sums[i], v) {
			return fmt.Errorf("%w: vectors have different lengths, %d and %d", ErrEndpoint, x.dims, len(v))
		}
	}
	x.dirty = x.dirty || len(made) > 0
	for i, n := range b.notes {
		passages := make([]*vector, len(b.parts[i]))
		for k, s := range b.parts[i] {
			passages[k] = x.vectors[s]
		}
		x.notes[n] = passages
	}
	*b = embedding{}
	return nil
}

// sweep removes the indexed states of notes that are not in the list. It removes the vectors of passages that occur in
// no note once these are the majority.
func (x *Index) sweep(notes []*index.NoteInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	there := make(map[*index.NoteInfo][]*vector, len(notes))
	used := make(map[sum]*vector)
	for _, n := range notes {
		passages, ok := x.notes[n]
		if !ok {
			continue
		}
		there[n] = passages
		for _, v := range passages {
			used[v.sum] = v
		}
	}
	x.notes = there
	if len(x.vectors) > 2*len(used) {
		x.vectors = used
	}
}
