package vault_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/tests/need"
)

func TestMain(m *testing.M) {
	need.Waiting()
	m.Run()
}

// person saves in place, as Obsidian does.
type person struct {
	t   testing.TB
	dir string
}

func (p person) path(rel string) string { return filepath.Join(p.dir, rel) }

func (p person) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p person) Save(rel, text string) {
	p.check(os.MkdirAll(filepath.Dir(p.path(rel)), 0o755))
	p.check(os.WriteFile(p.path(rel), []byte(text), 0o644))
}

func (p person) Mkdir(rel string)             { p.check(os.MkdirAll(p.path(rel), 0o755)) }
func (p person) Rename(oldRel, newRel string) { p.check(os.Rename(p.path(oldRel), p.path(newRel))) }
func (p person) Remove(rel string)            { p.check(os.RemoveAll(p.path(rel))) }

func (p person) Content(rel string) string {
	data, err := os.ReadFile(p.path(rel))
	p.check(err)
	return string(data)
}

// open makes a vault in a new directory, and a user who works in it.
func open(t testing.TB, o vault.Options) (*vault.Vault, person) {
	t.Helper()
	o.Swap = t.TempDir()
	return openDir(t, t.TempDir(), o)
}

func openDir(t testing.TB, dir string, o vault.Options) (*vault.Vault, person) {
	t.Helper()
	v, err := vault.New(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v, person{t, dir}
}

func TestSource(t *testing.T) {
	t.Run("vault", func(t *testing.T) {
		runSource(t, func(t *testing.T) sourceSubject {
			v, p := open(t, vault.Options{})
			return sourceSubject{Source: v, Person: p}
		})
	})
	t.Run("on a simulated disk", func(t *testing.T) {
		runSource(t, func(t *testing.T) sourceSubject {
			s := bridgetest.NewSource(t)
			return sourceSubject{Source: s, Person: s.Person(t)}
		})
	})
}
