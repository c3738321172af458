package semantic

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"
)

const (
	fileName   = "semantic.gob"
	fileFormat = 5
	saveEvery  = time.Minute
)

// indexFile is the content of the file in Dir: the vectors and the ID of their embedder.
type indexFile struct {
	Format  int
	ID      string
	Sums    []sum
	Numbers []byte
	Steps   []float32
}

func (x *Index) Run(ctx context.Context) error {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			x.save()
			return nil
		case <-tick.C:
			x.save()
		}
	}
}

func (x *Index) save() {
	if err := x.Save(); err != nil {
		x.log.Warn("cannot save the semantic index", "err", err)
	}
}

func (x *Index) Save() error {
	k := x.snapshot()
	if k == nil {
		return nil
	}
	err := x.o.Dir.Make()
	if err == nil {
		err = x.o.Dir.Put(fileName, func(w io.Writer) error { return gob.NewEncoder(w).Encode(k) })
	}
	if err != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.dirty = true
	}
	return err
}

// snapshot returns the data to save, or nil if there is nothing to save.
func (x *Index) snapshot() *indexFile {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.o.Dir == "" || !x.dirty {
		return nil
	}
	x.dirty = false
	k := &indexFile{Format: fileFormat, ID: x.embedder.ID()}
	for _, vectors := range slices.Concat(x.vectors, x.spare) {
		for s, v := range x.each(vectors) {
			step, numbers := parse(v)
			k.Sums, k.Numbers, k.Steps = append(k.Sums, s), append(k.Numbers, numbers...), append(k.Steps, step)
		}
	}
	return k
}

// load reads the file. It ignores an unreadable file, and the file of another embedder.
func (x *Index) load() {
	if x.o.Dir == "" {
		return
	}
	data, err := x.o.Dir.Read(fileName)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var k indexFile
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(&k)
	}
	if err == nil && !k.sound() {
		err = errors.New("the file has another format version")
	}
	if err != nil {
		x.log.Warn("semantic index starts empty", "err", err)
		return
	}
	if k.ID == x.embedder.ID() && len(k.Sums) > 0 {
		x.dims = len(k.Numbers) / len(k.Sums)
		for i, s := range k.Sums {
			x.spare = append(x.spare, newVector(s, k.Steps[i], k.Numbers[i*x.dims:][:x.dims]))
		}
	}
}

func (k *indexFile) sound() bool {
	n := len(k.Sums)
	return k.Format == fileFormat && len(k.Steps) == n && len(k.Numbers) >= n && len(k.Numbers)%max(n, 1) == 0
}
