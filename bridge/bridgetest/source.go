package bridgetest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
)

// Source is an in-memory root. It implements model.Source, model.Structure and model.Files. The zero Source is empty.
type Source struct {
	feed feed

	mu      sync.Mutex // guards the fields below
	tree    tree
	offline bool
}

func fail(op, rel string, err error) error { return &fs.PathError{Op: op, Path: rel, Err: err} }

func (s *Source) locked(fn func(*tree) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fn(&s.tree)
}

// do runs fn on the tree unless the source is offline. Errors are *fs.PathError.
func (s *Source) do(op, rel string, fn func(*tree) error) error {
	err := s.locked(func(t *tree) error {
		if s.offline {
			return model.ErrOffline
		}
		return fn(t)
	})
	if err != nil {
		return fail(op, rel, err)
	}
	return nil
}

func (s *Source) Scan(ctx context.Context, found func(model.SourceEntry)) error {
	var entries []model.SourceEntry
	err := s.do("scan", "", func(t *tree) error {
		s.feed.open()
		for _, rel := range t.below("") {
			entries = append(entries, t.entries[rel].describe(rel))
		}
		return nil
	})
	for _, e := range entries {
		found(e)
	}
	return errors.Join(err, ctx.Err())
}

func (s *Source) Read(_ context.Context, rel string) (data []byte, stamp model.Stamp, err error) {
	err = s.do("read", rel, func(t *tree) error {
		e, err := t.find(rel)
		if err != nil {
			return err
		}
		if e.dir {
			return model.ErrIsDir
		}
		data, stamp = bytes.Clone(e.data), e.stamp
		return nil
	})
	return data, stamp, err
}

func (s *Source) Replace(_ context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	post := &entry{data: r.Data}
	err := s.do("write", rel, func(t *tree) error {
		t.stamp(post, r.ModTime)
		return nil
	})
	if err == nil {
		err = r.Prepare(post.stamp)
	}
	if err != nil {
		return model.Stamp{}, err
	}
	err = s.do("write", rel, func(t *tree) error {
		e, err := t.find(rel)
		if err != nil || e.stamp != r.IfMatch {
			return model.ErrConflict
		}
		e.data, e.stamp = bytes.Clone(r.Data), post.stamp
		return nil
	})
	if err != nil {
		r.Abort()
		return model.Stamp{}, err
	}
	r.Durable()
	return post.stamp, nil
}

func (s *Source) Create(_ context.Context, rel string, file model.NewFile) (model.Stamp, error) {
	e := &entry{mode: file.Mode.Perm(), data: bytes.Clone(file.Data)}
	var stamp model.Stamp
	err := s.do("create", rel, func(t *tree) error {
		if t.entries[rel] != nil {
			return fs.ErrExist
		}
		t.stamp(e, file.ModTime)
		stamp = e.stamp
		_, err := t.addFolders(dirOf(rel))
		return err
	})
	if err == nil {
		err = file.Prepare(stamp)
	}
	if err == nil {
		err = s.do("create", rel, func(t *tree) error { return t.add(rel, e) })
	}
	if err != nil {
		return model.Stamp{}, err
	}
	return stamp, nil
}

func (s *Source) Chmod(_ context.Context, rel string, mode fs.FileMode) (stamp model.Stamp, err error) {
	err = s.do("chmod", rel, func(t *tree) error {
		e, err := t.find(rel)
		if err == nil {
			e.mode, stamp = mode.Perm(), e.stamp
		}
		return err
	})
	return stamp, err
}

func (s *Source) Mkdir(_ context.Context, rel string) error {
	return s.do("mkdir", rel, func(t *tree) error { return t.add(rel, &entry{dir: true, mode: 0o755}) })
}

func (s *Source) Rename(_ context.Context, oldRel, newRel string, replace bool) error {
	return s.do("rename", oldRel, func(t *tree) error { return t.rename(oldRel, newRel, replace) })
}

func (s *Source) Retract(_ context.Context, rel string, stamp model.Stamp) error {
	return s.do("retract", rel, func(t *tree) error {
		e, err := t.find(rel)
		if err != nil {
			return err
		}
		if e.stamp != stamp {
			return model.ErrConflict
		}
		delete(t.entries, rel)
		return nil
	})
}

func (s *Source) Hidden(context.Context, string) ([]string, error) { return nil, nil }

func (s *Source) Remove(_ context.Context, rel string) error {
	return s.do("remove", rel, func(t *tree) error {
		switch below := t.below(rel); {
		case len(below) == 0:
			return fs.ErrNotExist
		case len(below) > 1:
			return model.ErrNotEmpty
		}
		delete(t.entries, rel)
		return nil
	})
}

func (s *Source) Run(ctx context.Context, changed func(model.SourceEvent)) error {
	s.feed.run(ctx, changed)
	return nil
}

// Settle waits until Run has reported all changes of users and its callback has returned.
func (s *Source) Settle(ctx context.Context) error { return s.feed.settle(ctx) }

// feed holds the events that Run has not reported yet.
type feed struct {
	mu        sync.Mutex // guards the fields below
	opened    bool
	events    []model.SourceEvent
	reporting int           // number of events that Run is reporting now
	wake      chan struct{} // closed by the next change
}

// open starts the feed. The feed does not report earlier changes.
func (f *feed) open() { f.change(func() { f.opened = true }) }

func (f *feed) add(ev model.SourceEvent) {
	f.change(func() {
		if f.opened {
			f.events = append(f.events, ev)
		}
	})
}

func (f *feed) change(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn()
	if f.wake != nil {
		close(f.wake)
		f.wake = nil
	}
}

// wait runs fn and returns a channel that the next change closes.
func (f *feed) wait(fn func()) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn()
	if f.wake == nil {
		f.wake = make(chan struct{})
	}
	return f.wake
}

func (f *feed) run(ctx context.Context, changed func(model.SourceEvent)) {
	for ctx.Err() == nil {
		var events []model.SourceEvent
		more := f.wait(func() {
			events, f.events = f.events, nil
			f.reporting += len(events)
		})
		for _, ev := range events {
			changed(ev)
		}
		if len(events) > 0 {
			f.change(func() { f.reporting -= len(events) })
			continue
		}
		select {
		case <-ctx.Done():
		case <-more:
		}
	}
}

func (f *feed) settle(ctx context.Context) error {
	for {
		done := false
		more := f.wait(func() { done = len(f.events)+f.reporting == 0 })
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-more:
		}
	}
}
