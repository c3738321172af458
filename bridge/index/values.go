package index

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
)

// values has a value for each note, computed from its text, such as its properties.
type values[T any] struct {
	of    func(context.Context, model.Path, *model.Version) (value T, ok bool, err error) // ok is false for a note without a value
	moved func(T, model.Path) T                                                           // the value of a note that was renamed

	mu     sync.Mutex // guards the field below
	byPath map[model.Path]T
}

func (x *values[T]) add(model.Path) {}

func (x *values[T]) set(ctx context.Context, p model.Path, v *model.Version) error {
	value, ok, err := x.of(ctx, p, v)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if ok {
		x.byPath[p] = value
	} else {
		delete(x.byPath, p)
	}
	return nil
}

func (x *values[T]) remove(p model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, q := range x.paths(p) {
		delete(x.byPath, q)
	}
}

func (x *values[T]) rename(oldPath, newPath model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	moved := make(map[model.Path]T)
	for _, q := range x.paths(oldPath) {
		to := newPath + q[len(oldPath):]
		moved[to] = x.moved(x.byPath[q], to)
		delete(x.byPath, q)
	}
	maps.Copy(x.byPath, moved)
}

// below returns the values of the notes at a path or below it, sorted by path. It omits values for which keep returns
// false.
func (x *values[T]) below(under model.Path, keep func(T) bool) (list []T) {
	x.mu.Lock()
	defer x.mu.Unlock()
	paths := slices.DeleteFunc(x.paths(under), func(p model.Path) bool { return !keep(x.byPath[p]) })
	slices.Sort(paths)
	for _, p := range paths {
		list = append(list, x.byPath[p])
	}
	return list
}

// paths returns the paths of the notes with values, at a path or below it. The caller holds mu.
func (x *values[T]) paths(under model.Path) (list []model.Path) {
	if _, note := x.byPath[under]; note { // changes and lists concern mostly one note
		return []model.Path{under}
	}
	for p := range x.byPath {
		if under.Contains(p) {
			list = append(list, p)
		}
	}
	return list
}
