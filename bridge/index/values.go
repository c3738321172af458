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
	at    func(T) model.Path
	moved func(T, model.Path) T // the value of a note that was renamed; nil if the value depends on the path in other ways

	mu   sync.Mutex
	list []T // sorted by path; guarded by mu
}

func (x *values[T]) add(model.Path) {}

func (x *values[T]) set(ctx context.Context, p model.Path, v *model.Version) error {
	value, ok, err := x.of(ctx, p, v)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cut(p); ok {
		x.put(value)
	}
	return nil
}

func (x *values[T]) remove(p model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cut(p)
}

func (x *values[T]) rename(oldPath, newPath model.Path) (unread []model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range x.cut(oldPath) {
		p := newPath + x.at(n)[len(oldPath):]
		if x.moved == nil {
			unread = append(unread, p)
			continue
		}
		x.cut(p)
		x.put(x.moved(n, p))
	}
	return unread
}

// below returns the values of the notes at a path or below it, sorted by path.
func (x *values[T]) below(under model.Path) []T {
	x.mu.Lock()
	defer x.mu.Unlock()
	from, to := x.span(under)
	return slices.Clone(x.list[from:to])
}

// The caller of the methods below holds mu.

func (x *values[T]) put(value T) {
	i, _ := x.find(x.at(value))
	x.list = slices.Insert(x.list, i, value)
}

// cut removes the notes at a path or below it, and returns them.
func (x *values[T]) cut(under model.Path) []T {
	from, to := x.span(under)
	list := slices.Clone(x.list[from:to])
	x.list = slices.Delete(x.list, from, to)
	return list
}

// span returns the range of the notes at a path or below it. A note has nothing below it.
func (x *values[T]) span(under model.Path) (from, to int) {
	if under == "" {
		return 0, len(x.list)
	}
	if i, found := x.find(under); found {
		return i, i + 1
	}
	from, _ = x.find(under + "/")
	to, _ = x.find(under + "0") // 0 follows the slash in ASCII
	return from, to
}

func (x *values[T]) find(p model.Path) (i int, found bool) {
	return slices.BinarySearchFunc(x.list, p, func(n T, p model.Path) int { return cmp.Compare(x.at(n), p) })
}
