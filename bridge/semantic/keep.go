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

	"github.com/relayfs/relayfs/bridge/semantic/internal/rough"
)

const (
	fileName   = "semantic.gob"
	fileFormat = 3
	// saveEvery is how often Run saves.
	saveEvery = time.Minute
)

// kept is the contents of the file: the vectors of each space, and the model of the notes.
type kept struct {
	Format int
	Spaces []keptSpace
}

type keptSpace struct {
	ID      string // "" has no embedder yet
	Model   *lsa   // if it is the embedder
	Changed int
	Dims    int
	Sums    []sum
	Signs   []uint64
	Sizes   []uint8
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
	m, vs, err := x.model(ctx)
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
	if x.o.Dir == "" || !x.dirty {
		return nil
	}
	x.dirty = false
	k := &kept{Format: fileFormat}
	for _, s := range x.spaces {
		v, _ := s.vectors.only(x.used(s))
		one := keptSpace{Changed: s.changed, Dims: v.dims, Sums: v.sums, Signs: v.signs, Sizes: v.sizes, Steps: v.step}
		if s.embedder != nil {
			one.ID = s.embedder.ID()
			one.Model, _ = s.embedder.(*lsa)
		}
		k.Spaces = append(k.Spaces, one)
	}
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
	if err == nil && !k.sound() {
		err = errors.New("the file is of another version")
	}
	if err != nil {
		x.log.Warn("semantic index starts anew", "err", err)
		return
	}
	if len(k.Spaces) != len(x.spaces) {
		return
	}
	for i, one := range k.Spaces {
		s := x.spaces[i]
		if s.embedder == nil && one.Model != nil {
			s.embedder = one.Model
		}
		if s.embedder != nil && s.embedder.ID() == one.ID {
			s.changed = one.Changed
			s.vectors = &vectors{dims: one.Dims, signs: one.Signs, sizes: one.Sizes, step: one.Steps, sums: one.Sums}
		}
	}
}

// sound reports whether k is of this version, and its parts fit together.
func (k *kept) sound() bool {
	return k.Format == fileFormat && !slices.ContainsFunc(k.Spaces, func(s keptSpace) bool { return !s.sound() })
}

func (s *keptSpace) sound() bool {
	n := len(s.Sums)
	return s.Dims >= 0 && len(s.Steps) == n && len(s.Signs) == rough.SignWords(s.Dims)*n && len(s.Sizes) == rough.SizeBytes(s.Dims)*n && s.Model.sound()
}

// sound reports whether the parts of a model fit together.
func (m *lsa) sound() bool {
	return m == nil || m.Dims >= 0 && len(m.Terms) == len(m.IDF) && len(m.Basis) == m.Dims*len(m.IDF) && len(m.Step) == len(m.IDF)
}
