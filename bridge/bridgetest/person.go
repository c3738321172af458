package bridgetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// Person changes a Source like a user's programs do, so that Run reports the changes. Its methods fail the test on an
// error.
type Person struct {
	t testing.TB
	s *Source
}

func (s *Source) Person(t testing.TB) Person { return Person{t, s} }

func (p Person) do(what, rel string, fn func(*tree) error) {
	p.t.Helper()
	if err := p.s.locked(fn); err != nil {
		p.t.Fatalf("person cannot %s %q: %v", what, rel, err)
	}
}

func (p Person) report(kind model.EventKind, rel, oldRel string, e *entry) {
	p.s.feed.add(model.SourceEvent{Kind: kind, Rel: rel, OldRel: oldRel, Entry: e.describe(rel)})
}

// Save sets the content of rel to text. It creates the file and its folders if needed.
func (p Person) Save(rel, text string) {
	p.t.Helper()
	p.do("save", rel, func(t *tree) error {
		if e := t.entries[rel]; e != nil {
			e.data = []byte(text)
			t.touch(e, time.Now())
			p.report(model.EventChanged, rel, "", e)
			return nil
		}
		if err := p.mkdir(t, dirOf(rel)); err != nil {
			return err
		}
		e := &entry{mode: 0o644, data: []byte(text)}
		if err := t.add(rel, e); err != nil {
			return err
		}
		p.report(model.EventCreated, rel, "", e)
		return nil
	})
}

// Edit replaces the content of rel by the result of fn. No program saves rel in the meantime.
func (p Person) Edit(rel string, fn func(text string) string) {
	p.t.Helper()
	p.do("edit", rel, func(t *tree) error {
		e, err := t.find(rel)
		if err == nil {
			e.data = []byte(fn(string(e.data)))
			t.touch(e, time.Now())
			p.report(model.EventChanged, rel, "", e)
		}
		return err
	})
}

func (p Person) Mkdir(rel string) {
	p.t.Helper()
	p.do("make", rel, func(t *tree) error { return p.mkdir(t, rel) })
}

func (p Person) mkdir(t *tree, rel string) error {
	added, err := t.addFolders(rel)
	for _, dir := range added {
		p.report(model.EventCreated, dir, "", t.entries[dir])
	}
	return err
}

func (p Person) Rename(oldRel, newRel string) {
	p.t.Helper()
	p.do("rename", oldRel, func(t *tree) error {
		if err := p.mkdir(t, dirOf(newRel)); err != nil {
			return err
		}
		if err := t.rename(oldRel, newRel, false); err != nil {
			return err
		}
		p.report(model.EventRenamed, newRel, oldRel, t.entries[newRel])
		return nil
	})
}

func (p Person) Remove(rel string) {
	p.t.Helper()
	p.do("remove", rel, func(t *tree) error {
		_, err := t.find(rel)
		for _, deleted := range slices.Backward(t.below(rel)) {
			p.report(model.EventRemoved, deleted, "", &entry{dir: t.entries[deleted].dir})
			delete(t.entries, deleted)
		}
		return err
	})
}

func (p Person) Content(rel string) (text string) {
	p.t.Helper()
	p.do("read", rel, func(t *tree) error {
		e, err := t.find(rel)
		if err == nil {
			text = string(e.data)
		}
		return err
	})
	return text
}

// Names returns all paths, parents first.
func (p Person) Names() (names []string) {
	p.do("list", "", func(t *tree) error {
		names = t.below("")
		return nil
	})
	return names
}

func (p Person) SetOffline(offline bool) {
	p.do("detach", "", func(*tree) error {
		p.s.offline = offline
		kind := model.EventOnline
		if offline {
			kind = model.EventOffline
		}
		p.s.feed.add(model.SourceEvent{Kind: kind})
		return nil
	})
}

// Meddled is a Source that calls Before just before it executes Retract.
type Meddled struct {
	*Source
	Before func()
}

func (m Meddled) Retract(ctx context.Context, rel string, stamp model.Stamp) error {
	m.Before()
	return m.Source.Retract(ctx, rel, stamp)
}
