package semantic

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2/maybe"
)

const (
	fileName   = "semantic.gob"
	fileFormat = 1
	// saveEvery is how often Run keeps what has changed.
	saveEvery = time.Minute
)

// kept is what is in the file: the vectors, what made them, and the model if that
// was made here.
type kept struct {
	Format  int
	ID      string
	Model   *lsa
	Changed int
	Sums    []sum
	Dims    int
	Vectors []byte // float32, little endian
}

// Run keeps vectors and makes new models in the background until ctx ends. It
// reports nothing but what went wrong, in the log.
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
				x.log.Warn("semantic index not made anew", "err", err)
			}
		}
		x.save()
	}
}

func (x *Index) save() {
	if err := x.Save(); err != nil {
		x.log.Warn("semantic index not kept", "err", err)
	}
}

// Rebuild makes a new model, if the vectors come from one. Searches go on with
// the old one meanwhile.
func (x *Index) Rebuild(ctx context.Context) error {
	if x.o.Embedder != nil {
		return nil
	}
	notes, err := x.ws.Notes(ctx, "")
	if err != nil {
		return err
	}
	m, vectors, err := x.model(ctx, notes)
	if err != nil || m == nil {
		return err
	}
	x.updating.Lock()
	x.adopt(m, vectors)
	x.updating.Unlock()
	return x.Update(ctx)
}

// Save writes what has changed into Dir.
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

// snapshot is what is to be kept, nil if that is in the file already. Vectors of
// passages that no note has any more are left out.
func (x *Index) snapshot() *kept {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.o.Dir == "" || !x.dirty || x.embedder == nil {
		return nil
	}
	x.dirty = false
	k := &kept{Format: fileFormat, ID: x.embedder.ID(), Changed: x.changed}
	k.Model, _ = x.embedder.(*lsa)
	used := make(map[sum]bool)
	for _, n := range x.notes {
		for _, s := range n.passages {
			if v := x.vectors[s]; !used[s] && v != nil {
				used[s] = true
				k.Sums, k.Dims, k.Vectors = append(k.Sums, s), len(v), appendVector(k.Vectors, v)
			}
		}
	}
	return k
}

func appendVector(b []byte, v []float32) []byte {
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// load reads what was kept. What cannot be read, or is of another embedder, is
// made again.
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
	if err == nil && (k.Format != fileFormat || k.Dims < 0 || len(k.Vectors) != 4*k.Dims*len(k.Sums) || !k.Model.sound()) {
		err = errors.New("it is not of this version")
	}
	if err != nil {
		x.log.Warn("semantic index is made anew", "err", err)
		return
	}
	x.take(&k)
}

// sound says that a model fits together.
func (m *lsa) sound() bool {
	return m == nil || m.Dims >= 0 && len(m.Terms) == len(m.IDF) && len(m.Basis) == m.Dims*len(m.IDF)
}

func (x *Index) take(k *kept) {
	switch {
	case x.o.Embedder != nil && x.o.Embedder.ID() != k.ID, x.o.Embedder == nil && k.Model == nil:
		return
	case x.o.Embedder == nil:
		x.embedder = k.Model
	}
	x.changed = k.Changed
	for i, s := range k.Sums {
		v := make([]float32, k.Dims)
		for j := range v {
			v[j] = math.Float32frombits(binary.LittleEndian.Uint32(k.Vectors[4*(i*k.Dims+j):]))
		}
		x.vectors[s] = v
	}
}
