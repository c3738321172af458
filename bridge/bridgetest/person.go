package bridgetest

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// Person changes a Source like a user's programs do, so that Run reports the changes. Its methods fail the test on an
// error.
type Person struct {
	t testing.TB
	s *Source
}

func (s *Source) Person(t testing.TB) Person { return Person{t, s} }

// check fails the test on an error, and otherwise lets Run report the change.
func (p Person) check(what, rel string, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("person cannot %s %q: %v", what, rel, err)
	}
	p.s.update(func() { p.s.changed++ })
}

// in calls fn with the folder of rel and the name in it.
func (p Person) in(rel string, fn func(dir disk.Dir, name string) error) error {
	dir, err := p.s.disk.Person().Open(path.Join(vaultDir, path.Dir(rel)))
	if err != nil {
		return err
	}
	defer dir.Close()
	return fn(dir, path.Base(rel))
}

// Save sets the content of rel to text. It creates the file and its folders if needed.
func (p Person) Save(rel, text string) {
	p.t.Helper()
	p.mkdir(path.Dir(rel))
	p.Edit(rel, func(string) string { return text })
}

// Edit replaces the content of rel by the result of fn. No program saves rel in the meantime.
func (p Person) Edit(rel string, fn func(text string) string) {
	p.t.Helper()
	err := p.s.disk.Person().Edit(path.Join(vaultDir, rel), fn)
	for ; errors.Is(err, syscall.EAGAIN); err = p.s.disk.Person().Edit(path.Join(vaultDir, rel), fn) {
		time.Sleep(10 * time.Microsecond) // the vault replaces the file now
	}
	p.check("save", rel, err)
}

func (p Person) Mkdir(rel string) {
	p.t.Helper()
	p.mkdir(rel)
	p.check("make", rel, nil)
}

func (p Person) mkdir(rel string) {
	p.t.Helper()
	if rel == "." {
		return
	}
	p.mkdir(path.Dir(rel))
	if err := p.in(rel, disk.Dir.Mkdir); err != nil && !errors.Is(err, fs.ErrExist) {
		p.check("make", rel, err)
	}
}

func (p Person) Rename(oldRel, newRel string) {
	p.t.Helper()
	p.mkdir(path.Dir(newRel))
	p.check("rename", oldRel, p.in(oldRel, func(from disk.Dir, name string) error {
		return p.in(newRel, func(to disk.Dir, newName string) error { return from.Rename(name, to, newName) })
	}))
}

// Exchange exchanges the names of two files in one step.
func (p Person) Exchange(rel, otherRel string) {
	p.t.Helper()
	p.check("exchange", rel, p.in(rel, func(dir disk.Dir, name string) error {
		return p.in(otherRel, func(other disk.Dir, otherName string) error { return dir.Exchange(name, other, otherName) })
	}))
}

func (p Person) Remove(rel string) {
	p.t.Helper()
	p.check("remove", rel, p.in(rel, removeAll))
}

func removeAll(dir disk.Dir, name string) error {
	in, err := dir.OpenDir(name)
	if errors.Is(err, syscall.ENOTDIR) {
		return dir.Remove(name)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	names, err := in.Names(-1)
	for _, name := range names {
		err = errors.Join(err, removeAll(in, name))
	}
	return errors.Join(err, dir.Rmdir(name))
}

func (p Person) Content(rel string) string {
	p.t.Helper()
	text, err := p.s.disk.Person().Read(path.Join(vaultDir, rel))
	if err != nil {
		p.t.Fatalf("person cannot read %q: %v", rel, err)
	}
	return text
}

// Names returns all paths, parents first, except hidden ones.
func (p Person) Names() (all []string) {
	p.t.Helper()
	for left := []string{""}; len(left) > 0; left = left[1:] {
		if left[0] != "" {
			all = append(all, left[0])
		}
		dir, err := p.s.disk.Person().Open(path.Join(vaultDir, left[0]))
		if errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			p.t.Fatalf("person cannot list %q: %v", left[0], err)
		}
		names, err := dir.Names(-1)
		dir.Close()
		if err != nil {
			p.t.Fatalf("person cannot list %q: %v", left[0], err)
		}
		for _, name := range names {
			if !strings.HasPrefix(name, ".") {
				left = append(left, path.Join(left[0], name))
			}
		}
	}
	return all
}

// SetOffline moves the vault away or back, as the unmount of its disk does.
func (p Person) SetOffline(offline bool) {
	from, to := awayDir, vaultDir
	if offline {
		from, to = to, from
	}
	root, err := p.s.disk.Person().Open("/")
	if err == nil {
		err = root.Rename(path.Base(from), root, path.Base(to))
	}
	p.check("detach", "", err)
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
