package semantic

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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
	changed, lost := changesOf(x.notes, notes)
	if len(changed)+len(lost) == 0 {
		return nil
	}
	have := make(map[sum]string) // vectors that no indexed note has
	for _, v := range x.spare {
		maps.Insert(have, x.each(v))
	}
	for i, k := range pairs(x.notes, notes) {
		if i >= 0 && (k < 0 || x.notes[i] != notes[k]) {
			maps.Insert(have, x.each(x.vectors[i]))
		}
	}
	sums, err := x.embedNotes(ctx, changed, have)
	x.set(notes, sums, have, err == nil)
	return err
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

// embedNotes makes the vectors of the notes that are missing in have. It returns the sums of the passages of each note
// that could be read.
func (x *Index) embedNotes(ctx context.Context, notes []*index.NoteInfo, have map[sum]string) (map[*index.NoteInfo][]sum, error) {
	report := model.ProgressOf(ctx)
	all := make(map[*index.NoteInfo][]sum)
	var texts []string
	var sums []sum
	for i, n := range notes {
		report(i, len(notes))
		parts, err := x.texts(ctx, n)
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		if err != nil { // one unreadable note does not hide the others
			continue
		}
		all[n] = nil
		for _, text := range parts {
			s := sumOf(text)
			all[n] = append(all[n], s)
			if have[s] == "" {
				texts, sums = append(texts, text), append(sums, s)
			}
		}
		if len(texts) >= batchTexts {
			if err := x.embed(ctx, texts, sums, have); err != nil {
				return all, err
			}
			texts, sums = nil, nil
		}
	}
	return all, x.embed(ctx, texts, sums, have)
}

func (x *Index) embed(ctx context.Context, texts []string, sums []sum, have map[sum]string) error {
	if len(texts) == 0 {
		return nil
	}
	made, err := x.embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.dirty, x.dims = true, cmp.Or(x.dims, len(made[0]))
	for i, v := range made {
		if len(v) != x.dims {
			return fmt.Errorf("%w: vectors have different lengths, %d and %d", ErrEndpoint, x.dims, len(v))
		}
		numbers, step := inSteps(v)
		have[sums[i]] = newVector(sums[i], step, numbers)
		x.spare = append(x.spare, have[sums[i]]) // for Save
	}
	return nil
}

// set replaces the indexed notes. sums has the passages of the changed notes. set leaves out those that are not in sums,
// or have a passage without a vector. It removes the vectors that no note has if all notes were read and these vectors
// are the majority.
func (x *Index) set(notes []*index.NoteInfo, sums map[*index.NoteInfo][]sum, have map[sum]string, all bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var indexed []*index.NoteInfo
	var vectors []string
	size := 0
	for i, k := range pairs(x.notes, notes) {
		if k < 0 {
			continue
		}
		joined, ok := "", i >= 0 && x.notes[i] == notes[k]
		if ok {
			joined = x.vectors[i]
		} else if parts, read := sums[notes[k]]; read {
			joined, ok = join(parts, have)
		}
		if ok {
			indexed, vectors = append(indexed, notes[k]), append(vectors, joined)
			size += len(joined)
		}
	}
	for _, n := range indexed {
		for _, s := range sums[n] {
			delete(have, s)
		}
	}
	x.notes, x.vectors, x.spare = indexed, vectors, nil
	if spare := strings.Join(slices.Collect(maps.Values(have)), ""); !all || len(spare) <= size {
		x.spare = []string{spare}
	}
}

func join(sums []sum, have map[sum]string) (string, bool) {
	list := make([]string, len(sums))
	for i, s := range sums {
		list[i] = have[s]
	}
	return strings.Join(list, ""), !slices.Contains(list, "")
}
