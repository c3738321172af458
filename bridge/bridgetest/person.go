package bridgetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// Run reports what persons do until ctx ends.
func (s *Source) Run(ctx context.Context, changed func(model.SourceEvent)) error {
	for ctx.Err() == nil {
		s.mu.Lock()
		events, more := s.events, s.wait()
		s.events = nil
		s.mu.Unlock()
		for _, ev := range events {
			changed(ev)
		}
		if len(events) > 0 {
			s.mu.Lock()
			s.delivered += len(events)
			s.signal()
			s.mu.Unlock()
			continue
		}
		select {
		case <-ctx.Done():
		case <-more:
		}
	}
	return nil
}

// wait is a channel that is closed by the next signal. mu is held.
func (s *Source) wait() <-chan struct{} {
	if s.wake == nil {
		s.wake = make(chan struct{})
	}
	return s.wake
}

// signal wakes who waits. mu is held.
func (s *Source) signal() {
	if s.wake != nil {
		close(s.wake)
		s.wake = nil
	}
}

// report queues events, unless nobody has listed the source yet. mu is held.
func (s *Source) report(events ...model.SourceEvent) {
	if s.scanned {
		s.events = append(s.events, events...)
		s.queued += len(events)
		s.signal()
	}
}

// Settle waits until everything that persons did has been reported to Run's
// callback, and that has returned.
func (s *Source) Settle(ctx context.Context) error {
	s.mu.Lock()
	until := s.queued
	for s.delivered < until {
		more := s.wait()
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-more:
		}
		s.mu.Lock()
	}
	s.mu.Unlock()
	return nil
}

// Person changes a Source as people's programs do: Run reports it. Its methods
// fail the test if they cannot.
type Person struct {
	t testing.TB
	s *Source
}

// Person is somebody who works on the source.
func (s *Source) Person(t testing.TB) Person { return Person{t, s} }

func (p Person) check(what, rel string, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("person cannot %s %q: %v", what, rel, err)
	}
}

// Save makes text the content of rel, a new file if need be, in new folders if
// need be.
func (p Person) Save(rel, text string) {
	p.t.Helper()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	e := p.s.entries[rel]
	if e == nil {
		p.mkdir(dirOf(rel))
		e = &entry{mode: 0o644, data: []byte(text)}
		p.check("create", rel, p.s.add(rel, e))
		p.s.report(model.SourceEvent{Kind: model.EventCreated, Rel: rel, Entry: e.describe(rel)})
		return
	}
	e.data = []byte(text)
	p.s.touch(e, time.Now())
	p.s.report(model.SourceEvent{Kind: model.EventChanged, Rel: rel, Entry: e.describe(rel)})
}

// Mkdir makes a folder and its parents.
func (p Person) Mkdir(rel string) {
	p.t.Helper()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.mkdir(rel)
}

func (p Person) mkdir(rel string) {
	p.t.Helper()
	made, err := p.s.addFolders(rel)
	p.check("make", rel, err)
	for _, dir := range made {
		p.s.report(model.SourceEvent{Kind: model.EventCreated, Rel: dir, Entry: p.s.entries[dir].describe(dir)})
	}
}

// Rename moves a file or a folder.
func (p Person) Rename(oldRel, newRel string) {
	p.t.Helper()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.mkdir(dirOf(newRel))
	p.check("rename", oldRel, p.s.rename(oldRel, newRel, false))
	e := p.s.entries[newRel].describe(newRel)
	p.s.report(model.SourceEvent{Kind: model.EventRenamed, Rel: newRel, OldRel: oldRel, Entry: e})
}

// Remove takes away a file, or a folder with all below it.
func (p Person) Remove(rel string) {
	p.t.Helper()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	_, err := p.s.find(rel)
	p.check("remove", rel, err)
	for _, gone := range slices.Backward(p.s.below(rel)) {
		e := model.SourceEntry{Rel: gone, Dir: p.s.entries[gone].dir}
		delete(p.s.entries, gone)
		p.s.report(model.SourceEvent{Kind: model.EventRemoved, Rel: gone, Entry: e})
	}
}

// Content is what rel holds, raw.
func (p Person) Content(rel string) string {
	p.t.Helper()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	e, err := p.s.find(rel)
	p.check("read", rel, err)
	return string(e.data)
}

// Names are the paths of everything that is there, parents first.
func (p Person) Names() []string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.s.below("")
}

// SetOffline takes the source away or brings it back, as a removable disk is.
func (p Person) SetOffline(offline bool) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.offline = offline
	kind := model.EventOnline
	if offline {
		kind = model.EventOffline
	}
	p.s.report(model.SourceEvent{Kind: kind})
}

// Meddled is a Source in which something happens just before a new file is taken
// away.
type Meddled struct {
	*Source
	Before func()
}

// Retract is Source.Retract, after Before.
func (m Meddled) Retract(ctx context.Context, rel string, stamp model.Stamp) error {
	m.Before()
	return m.Source.Retract(ctx, rel, stamp)
}
