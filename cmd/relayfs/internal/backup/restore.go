package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// Backup is one that was read and whose files are as they were written.
type Backup struct {
	Manifest
	dir   string
	files []string
}

// Open reads a backup and compares every file with its checksum.
func Open(dir string, report func(string)) (*Backup, error) {
	sums, err := os.ReadFile(filepath.Join(dir, sumsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.WithHint(fmt.Errorf("%q is no backup: it has no %s", dir, sumsName), "name a folder that 'relayfs backup' made")
	}
	if err != nil {
		return nil, err
	}
	b := &Backup{dir: dir}
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, damaged(fmt.Errorf("%s has a line that is none of its own", sumsName))
		}
		report(name)
		if err := compare(filepath.Join(dir, filepath.FromSlash(name)), sum); err != nil {
			return nil, damaged(err)
		}
		b.files = append(b.files, name)
	}
	return b, b.readManifest()
}

func damaged(err error) error {
	return cli.WithHint(fmt.Errorf("the backup is damaged: %w", err), "nothing was changed; use another backup")
}

func compare(at, want string) error {
	f, err := os.Open(at)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("%q is not as it was written", at)
	}
	return nil
}

func (b *Backup) readManifest() error {
	text, err := os.ReadFile(filepath.Join(b.dir, manifestName))
	if err == nil {
		err = json.Unmarshal(text, &b.Manifest)
	}
	switch {
	case err != nil:
		return damaged(err)
	case b.Format != format:
		return cli.WithHint(fmt.Errorf("the backup has format %d, this relayfs reads format %d", b.Format, format), "use the relayfs that made it: "+b.Version)
	}
	listed := make(map[string]bool)
	for _, name := range append(b.files, manifestName) {
		listed[name] = true
	}
	for _, f := range b.Folders {
		if !filepath.IsLocal(f.Name) || !listed[path.Join(f.Name, storeName)] {
			return damaged(fmt.Errorf("the store of %q is missing", f.Name))
		}
	}
	return nil
}

// Sources are the SOURCE arguments of the Folders that a restore is for: those given, or all of the backup.
func (b *Backup) Sources(given []string) []string {
	if len(given) > 0 {
		return given
	}
	var list []string
	for _, f := range b.Folders {
		list = append(list, f.Source)
	}
	return list
}

// Restored is what was done for one Folder.
type Restored struct {
	Name    string    `json:"name"`
	Place   string    `json:"place"`
	Changed time.Time `json:"changed,omitzero"` // when what was restored changed last
	// Aside is where that is which was there before, "" if there was nothing: a backup, unless it was damaged.
	Aside   string `json:"aside,omitempty"`
	Damaged string `json:"damaged,omitempty"` // why nobody knows what was there
}

// Options say how to restore.
type Options struct {
	Base    string // the state folder of all vaults
	Replace bool   // what is newer
}

// target is the state of a source, and what is to take its place.
type target struct {
	source source.Source
	state  string
	store  *store.Restore
}

// Restore puts what the backup has of sources, which are chosen by the names of their Folders, in the place of what
// is kept. No process may serve them. Everything is checked before anything is changed.
func (b *Backup) Restore(sources []source.Source, o Options) (list []Restored, err error) {
	var targets []*target
	var claims []owner.Claim
	for _, src := range sources {
		t := &target{source: src, state: src.State(o.Base)}
		targets = append(targets, t)
		claims = append(claims, owner.Claim{Vault: src.Dir, Name: src.Place(), State: t.state})
	}
	held, err := owner.Acquire(claims)
	if err != nil {
		return nil, err
	}
	if err := b.prepare(targets, o); err != nil {
		for _, t := range targets {
			if t.store != nil {
				err = errors.Join(err, t.store.Discard())
			}
		}
		held.Forget()
		return nil, err
	}
	defer held.Release()
	aside := "replaced-" + time.Now().UTC().Format("20060102T150405.000Z")
	for i, t := range targets {
		if err := b.commit(t, aside); err != nil {
			for _, left := range targets[i+1:] {
				err = errors.Join(err, left.store.Discard())
			}
			return list, err
		}
		r := Restored{Name: t.source.Name, Place: t.source.Place(), Changed: t.store.Copied}
		if at := filepath.Join(t.state, aside); isThere(at) {
			r.Aside = at
			if t.store.Damaged != nil {
				r.Damaged = t.store.Damaged.Error()
			} else if err := b.asBackup(t, at); err != nil {
				return list, fmt.Errorf("what was restored is in its place; what was there before is in %q: %w", at, err)
			}
		}
		list = append(list, r)
	}
	return list, nil
}

// prepare checks everything, and writes what can be written beside what is there.
func (b *Backup) prepare(targets []*target, o Options) error {
	for _, t := range targets {
		if err := b.stage(t); err != nil {
			return err
		}
		r := t.store
		if r.Kept.After(r.Copied) && !o.Replace {
			const layout = "2006-01-02 15:04:05"
			return cli.WithHint(
				fmt.Errorf("what is kept for %s is newer than the backup: it changed at %s, and what is in the backup at %s", t.source.Place(), r.Kept.Local().Format(layout), r.Copied.Local().Format(layout)),
				"with --replace it is set aside, and the backup takes its place")
		}
	}
	return nil
}

func (b *Backup) stage(t *target) error {
	name := t.source.Name
	f, err := os.Open(filepath.Join(b.dir, name, storeName))
	if errors.Is(err, fs.ErrNotExist) {
		return cli.WithHint(fmt.Errorf("the backup has no folder %q", name), "it has "+strings.Join(b.names(), ", ")+"; for a vault that is elsewhere now, NAME=DIR")
	}
	if err != nil {
		return err
	}
	defer f.Close()
	t.store, err = store.PrepareRestore(filepath.Join(t.state, storeName), f, store.Options{})
	return err
}

func (b *Backup) names() (names []string) {
	for _, f := range b.Folders {
		names = append(names, f.Name)
	}
	return names
}

// commit restores one Folder: first the attachments, which change nothing that is there.
func (b *Backup) commit(t *target, aside string) error {
	prefix := path.Join(t.source.Name, attachments) + "/"
	for _, name := range b.files {
		rel, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if err := copyNew(filepath.Join(b.dir, filepath.FromSlash(name)), filepath.Join(t.state, attachments, filepath.FromSlash(rel))); err != nil {
			return err
		}
	}
	return t.store.Commit(aside)
}

// copyNew copies a file, unless it is there: its name is the hash of what it holds.
func copyNew(from, to string) error {
	if isThere(to) {
		return nil
	}
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = secret.Replace(to, data)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// asBackup makes a backup of a folder that has nothing but the store that was there before.
func (b *Backup) asBackup(t *target, dir string) error {
	w := &writer{ctx: context.Background(), dir: dir, report: func(string) {}}
	if err := w.copy(path.Join(t.source.Name, storeName), os.DirFS(dir), storeName); err != nil {
		return err
	}
	m := Manifest{Format: format, Version: b.Version, Made: time.Now().UTC().Truncate(time.Second), Bytes: w.bytes}
	m.Folders = []Folder{{Name: t.source.Name, Place: t.source.Place(), Source: t.source.String(), State: t.state}}
	return errors.Join(w.finish(&m), os.Remove(filepath.Join(dir, storeName)))
}

func isThere(at string) bool {
	_, err := os.Stat(at)
	return err == nil
}
