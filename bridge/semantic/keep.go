package semantic

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2/maybe"
)

const (
	fileName   = "semantic.gob"
	fileFormat = 2
	// saveEvery is how often Run saves.
	saveEvery = time.Minute
)

// kept is the contents of the file: the vectors, and the model of the notes if they come
// from one.
type kept struct {
	Format  int
	ID      string
	Model   *lsa
	Changed int
	Sums    []sum
	Dims    int
	Vectors []int8
	Steps   []float32
}

// Run saves vectors and rebuilds the model in the background until ctx ends. It logs
// errors and returns nil.
func (x *Index) Run(ctx context.Context) error {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			x.save()
			return nil
		case <-tick.C:
		case <-x.wake:
			if err := x.Rebuild(ctx); err != nil && ctx.Err() == nil {
				x.log.Warn("semantic model not rebuilt", "err", err)
			}
		}
		x.save()
	}
}

func (x *Index) save() {
	if err := x.Save(); err != nil {
		x.log.Warn("semantic index not saved", "err", err)
	}
}

// Rebuild builds a new model if the vectors come from one. Searches use the old model
// meanwhile.
func (x *Index) Rebuild(ctx context.Context) error {
	if x.o.Embedder != nil {
		return nil
	}
	notes, err := x.ws.Notes(ctx, "")
	if err != nil {
		return err
	}
	m, vs, err := x.model(ctx, notes)
	if err != nil || m == nil {
		return err
	}
	x.updating.Lock()
	x.adopt(m, vs)
	x.done = nil
	x.updating.Unlock()
	return x.Update(ctx)
}

// Save writes the index to Dir if it has changed.
func (x *Index) Save() error {
	k := x.snapshot()
	if k == nil {
		return nil
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(k); err != nil {
		return fmt.Errorf("semantic index: %w", err)
	}
	if err := os.MkdirAll(x.o.Dir, 0o700); err != nil {
		return err
	}
	return maybe.WriteFile(filepath.Join(x.o.Dir, fileName), b.Bytes(), 0o600)
}

// snapshot returns what to save, nil if the file is current. It leaves out vectors of
// passages that no note has any more.
func (x *Index) snapshot() *kept {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.o.Dir == "" || !x.dirty || x.embedder == nil {
		return nil
	}
	x.dirty = false
	k := &kept{Format: fileFormat, ID: x.embedder.ID(), Changed: x.changed}
	k.Model, _ = x.embedder.(*lsa)
	var used []int32
	for _, n := range x.notes {
		used = append(used, n.passages...)
	}
	slices.Sort(used)
	v, _ := x.vectors.only(used)
	k.Sums, k.Dims, k.Vectors, k.Steps = v.sums, v.dims, v.data, v.step
	return k
}

// load reads the file. It ignores one that it cannot read or that is of another embedder.
func (x *Index) load() {
	if x.o.Dir == "" {
		return
	}
	data, err := os.ReadFile(filepath.Join(x.o.Dir, fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var k kept
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(&k)
	}
	if err == nil && (k.Format != fileFormat || k.Dims < 0 || len(k.Vectors) != k.Dims*len(k.Sums) || len(k.Steps) != len(k.Sums) || !k.Model.sound()) {
		err = errors.New("the file is of another version")
	}
	if err != nil {
		x.log.Warn("semantic index starts anew", "err", err)
		return
	}
	switch {
	case x.o.Embedder != nil && x.o.Embedder.ID() != k.ID, x.o.Embedder == nil && k.Model == nil:
		return
	case x.o.Embedder == nil:
		x.embedder = k.Model
	}
	x.changed = k.Changed
	x.vectors.dims, x.vectors.data = k.Dims, k.Vectors
	for i, s := range k.Sums {
		x.vectors.add(s, k.Steps[i])
	}
}

// sound reports whether the parts of a model fit together.
func (m *lsa) sound() bool {
	return m == nil || m.Dims >= 0 && len(m.Terms) == len(m.IDF) && len(m.Basis) == m.Dims*len(m.IDF) && len(m.Step) == len(m.IDF)
}
