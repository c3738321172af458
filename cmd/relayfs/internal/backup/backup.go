// Package backup copies relayfs's own data of roots into one file (Write), and restores it (Open, Backup.Restore). The
// file is a zip archive: a Manifest, the store of each root, and the attachments of servers' folders. It contains no
// token, key or login.
// A backup is either complete or does not exist. Restore verifies the entries of all roots that it restores before it
// changes anything, and replaces each store in one step. Package bridge/store defines the content of a store.
package backup

import (
	"archive/zip"
	"compress/flate"
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
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

const (
	format = 2

	manifestName = "manifest.json"
	storeName    = "store"
	attachments  = "attachments"
)

type Manifest struct {
	Format  int       `json:"format"`
	Version string    `json:"relayfs"` // version of the relayfs that made the backup
	Made    time.Time `json:"made"`
	Folders []Folder  `json:"folders"`
}

type Folder struct {
	Name        string       `json:"name"`
	Location    string       `json:"place"`  // location of the vault or server, as text for users
	Source      string       `json:"source"` // argument that names the source on a command line
	State       owner.Folder `json:"state"`
	Notes       int          `json:"notes"`       // number of notes in the store
	Suggestions int          `json:"suggestions"` // pending suggestions and proposals
	Store       *store.Store `json:"-"`           // only set in the process that has the store open
}

func (f Folder) String() string {
	return fmt.Sprintf("%s  %s: notes %d, suggestions %d", f.Name, f.Location, f.Notes, f.Suggestions)
}

// Write writes a new backup. copyStore writes the current content of a root's store.
func Write(file, version string, folders []Folder, copyStore func(Folder, io.Writer) error) (m Manifest, err error) {
	if _, err := os.Lstat(file); err == nil {
		return m, cli.WithHint(fmt.Errorf("%q exists already", file), "name a new file; a backup never overwrites a file")
	}
	m = Manifest{Format: format, Version: version, Made: time.Now().UTC().Truncate(time.Second), Folders: folders}
	for _, f := range folders {
		if vault, err := source.ParseVault(f.Source); err == nil && vault.ShowsPath(file) {
			return m, cli.WithHint(fmt.Errorf("%q is inside %s: the backup would be served and synchronised with the notes", file, f.Location), "name a file outside of the vault")
		}
	}
	dir := owner.Folder(filepath.Dir(file))
	err = dir.Put(filepath.Base(file), func(out io.Writer) error {
		w := &writer{zip.NewWriter(out)}
		w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
		if err := w.all(&m, copyStore); err != nil {
			return err
		}
		return w.Close()
	})
	if cause, ok := errors.AsType[*fs.PathError](err); ok && filepath.Dir(cause.Path) == string(dir) {
		err = cli.WithHint(fmt.Errorf("%q cannot be written: %w", file, cause.Err), "name a file in a folder that exists, on a disk with free space; no backup was made")
	}
	return m, err
}

type writer struct{ *zip.Writer }

func (w *writer) all(m *Manifest, copyStore func(Folder, io.Writer) error) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = w.entry(manifestName, func(out io.Writer) error { _, err := out.Write(text); return err })
	}
	for _, f := range m.Folders {
		if err == nil {
			err = w.entry(path.Join(f.Name, storeName), func(out io.Writer) error { return copyStore(f, out) })
		}
		if err == nil {
			err = w.attachments(f)
		}
		if err != nil {
			return fmt.Errorf("backup of %q: %w", f.Name, err)
		}
	}
	return err
}

// attachments copies the attachments of a server's folder. The name of an attachment is a hash of its content, so an
// attachment never changes.
func (w *writer) attachments(f Folder) error {
	dir := f.State.Sub(attachments)
	entries, err := fs.ReadDir(dir.FS(), ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the folder is a vault, which has no attachments here
	}
	for _, e := range entries {
		if err != nil || strings.HasPrefix(e.Name(), owner.PartPrefix) {
			continue
		}
		var in *os.File
		if in, err = dir.Open(e.Name()); err == nil {
			err = w.entry(path.Join(f.Name, attachments, e.Name()), func(out io.Writer) error { _, err := io.Copy(out, in); return err })
			in.Close()
		}
	}
	return err
}

func (w *writer) entry(name string, fill func(io.Writer) error) error {
	out, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Now()})
	if err != nil {
		return err
	}
	return fill(out)
}
