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
	terms func(T) []string      // texts by which below finds the value, and "", which all values have

	mu     sync.Mutex
	byTerm map[string][]T // sorted by path; guarded by mu
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
		x.put(x.moved(n, p))
	}
	return unread
}

// below returns the values of the notes at a path or below it, sorted by path. It may omit values that have none of the
// terms of a list in wanted.
func (x *values[T]) below(under model.Path, wanted ...[]string) (list []T) {
	x.mu.Lock()
	defer x.mu.Unlock()
	rarest, least := []string{""}, len(x.byTerm[""])
	for _, terms := range wanted {
		n := 0
		for _, term := range terms {
			n += len(x.byTerm[term])
		}
		if n < least {
			rarest, least = terms, n
		}
	}
	for _, term := range rarest {
		from, to := x.span(term, under)
		list = append(list, x.byTerm[term][from:to]...)
	}
	if len(rarest) > 1 { // a value can have several of the terms
		slices.SortFunc(list, func(a, b T) int { return cmp.Compare(x.at(a), x.at(b)) })
		list = slices.CompactFunc(list, func(a, b T) bool { return x.at(a) == x.at(b) })
	}
	return list
}

// The caller of the methods below holds mu.

func (x *values[T]) put(value T) {
	x.cut(x.at(value))
	for _, term := range x.terms(value) {
		if i, found := x.find(term, x.at(value)); !found { // a note can have a term twice
			x.byTerm[term] = slices.Insert(x.byTerm[term], i, value)
		}
	}
}

// cut removes the notes at a path or below it, and returns them.
func (x *values[T]) cut(under model.Path) []T {
	from, to := x.span("", under)
	list := slices.Clone(x.byTerm[""][from:to])
	for _, n := range list {
		for _, term := range x.terms(n) {
			from, to := x.span(term, under)
			if x.byTerm[term] = slices.Delete(x.byTerm[term], from, to); len(x.byTerm[term]) == 0 {
				delete(x.byTerm, term)
			}
		}
	}
	return list
}

// span returns the range of the notes at a path or below it among those with a term. A note has nothing below it.
func (x *values[T]) span(term string, under model.Path) (from, to int) {
	if under == "" {
		return 0, len(x.byTerm[term])
	}
	if i, found := x.find(term, under); found {
		return i, i + 1
	}
	from, _ = x.find(term, under+"/")
	to, _ = x.find(term, under+"0") // 0 follows the slash in ASCII
	return from, to
}

func (x *values[T]) find(term string, p model.Path) (i int, found bool) {
	return slices.BinarySearchFunc(x.byTerm[term], p, func(n T, p model.Path) int { return cmp.Compare(x.at(n), p) })
}
