package index

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
)

// values has a value for each note, computed from its text, such as its properties.
type values[T any] struct {
	of    func(context.Context, model.Path, *model.Version) (value T, ok bool, err error) // ok is false for a note without a value
	moved func(T, model.Path) T                                                           // the value of a note that was renamed

	mu    sync.Mutex // guards the field below
	notes []valueOf[T]
}

type valueOf[T any] struct {
	path  model.Path // notes are sorted by path
	value T
}

func (x *values[T]) add(model.Path) {}

func (x *values[T]) set(ctx context.Context, p model.Path, v *model.Version) error {
	value, ok, err := x.of(ctx, p, v)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cut(p)
	if ok {
		x.put(p, value)
	}
	return nil
}

func (x *values[T]) remove(p model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cut(p)
}

func (x *values[T]) rename(oldPath, newPath model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range x.cut(oldPath) {
		to := newPath + n.path[len(oldPath):]
		x.put(to, x.moved(n.value, to))
	}
}

// below returns the values of the notes at a path or below it, sorted by path.
func (x *values[T]) below(under model.Path) []T {
	x.mu.Lock()
	defer x.mu.Unlock()
	from, to := x.span(under)
	list := make([]T, to-from)
	for i, n := range x.notes[from:to] {
		list[i] = n.value
	}
	return list
}

// The caller of the methods below holds mu.

func (x *values[T]) put(p model.Path, value T) {
	i, found := x.find(p)
	if !found {
		x.notes = slices.Insert(x.notes, i, valueOf[T]{})
	}
	x.notes[i] = valueOf[T]{p, value}
}

// cut removes the notes at a path or below it, and returns them.
func (x *values[T]) cut(under model.Path) []valueOf[T] {
	from, to := x.span(under)
	list := slices.Clone(x.notes[from:to])
	x.notes = slices.Delete(x.notes, from, to)
	return list
}

// span returns the range of the notes at a path or below it. A note has nothing below it.
func (x *values[T]) span(under model.Path) (from, to int) {
	if under == "" {
		return 0, len(x.notes)
	}
	if i, found := x.find(under); found {
		return i, i + 1
	}
	from, _ = x.find(under + "/")
	to, _ = x.find(under + "0") // 0 follows the slash in ASCII
	return from, to
}

func (x *values[T]) find(p model.Path) (i int, found bool) {
	return slices.BinarySearchFunc(x.notes, p, func(n valueOf[T], p model.Path) int { return cmp.Compare(n.path, p) })
}
