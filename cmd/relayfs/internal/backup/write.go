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
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

const (
	// format is that of the backups that this package writes and reads.
	format = 1

	manifestName = "manifest.json"
	sumsName     = "SHA256SUMS" // in the form of sha256sum(1)
	storeName    = "store.db"
	attachments  = "attachments"
)

// Manifest describes a backup.
type Manifest struct {
	Format  int       `json:"format"`
	Version string    `json:"relayfs"` // that made it
	Made    time.Time `json:"made"`
	Folders []Folder  `json:"folders"`
	Bytes   int64     `json:"bytes"`
}

// Write makes a backup of what k keeps in dir, which must not be there yet. After an error it is not there.
// report is told how far it is.
func Write(ctx context.Context, k Keeper, dir, version string, report func(string)) (m Manifest, err error) {
	if _, err := os.Lstat(dir); err == nil {
		return m, cli.WithHint(fmt.Errorf("%q is there already", dir), "name a folder that is not there yet; a backup is never written over another one")
	}
	m = Manifest{Format: format, Version: version, Made: time.Now().UTC().Truncate(time.Second)}
	if m.Folders, err = k.Kept(ctx); err != nil {
		return m, err
	}
	for _, f := range m.Folders {
		if vault, err := source.ParseVault(f.Source); err == nil && vault.Shows(dir) {
			return m, cli.WithHint(fmt.Errorf("%q lies in %s: the backup would be served and synchronised with the notes", dir, f.Place), "name a folder outside of the vault")
		}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return m, err
	}
	partial, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".partial-")
	if err != nil {
		return m, err
	}
	w := &writer{ctx: ctx, dir: partial, report: report}
	err = w.folders(k, m.Folders)
	if m.Bytes = w.bytes; err == nil {
		err = w.finish(&m)
	}
	if err == nil {
		err = os.Rename(partial, dir)
	}
	if err != nil {
		return m, errors.Join(err, os.RemoveAll(partial))
	}
	return m, syncDir(filepath.Dir(dir))
}

// writer writes the files of a backup and their checksums.
type writer struct {
	ctx    context.Context
	dir    string
	report func(string)
	bytes  int64
	sums   []string
}

func (w *writer) folders(k Keeper, list []Folder) error {
	for _, f := range list {
		err := w.file(path.Join(f.Name, storeName), func(out io.Writer) error {
			return k.Copy(w.ctx, f.Name, out, func(n int64) { w.report(fmt.Sprintf("%s: %s", f.Name, Size(n))) })
		})
		if err == nil {
			err = w.attachments(f)
		}
		if err != nil {
			return fmt.Errorf("backup of %q: %w", f.Name, err)
		}
	}
	return nil
}

// attachments copies those of a server's folder. They are named by their hashes, and never change.
func (w *writer) attachments(f Folder) error {
	from := os.DirFS(filepath.Join(f.State, attachments))
	n := 0
	return fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == ".":
			return fs.SkipAll // a vault has none
		case err != nil || !e.Type().IsRegular() || strings.HasPrefix(e.Name(), "."):
			return err
		}
		n++
		w.report(fmt.Sprintf("%s: attachment %d", f.Name, n))
		return w.copy(path.Join(f.Name, attachments, name), from, name)
	})
}

func (w *writer) copy(to string, from fs.FS, name string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	return w.file(to, func(out io.Writer) error {
		_, err := io.Copy(interruptible{w.ctx, out}, in)
		return err
	})
}

// file writes one file durably.
func (w *writer) file(name string, fill func(io.Writer) error) error {
	at := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	err = fill(io.MultiWriter(f, sum))
	if info, statErr := f.Stat(); statErr == nil {
		w.bytes += info.Size()
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	w.sums = append(w.sums, hex.EncodeToString(sum.Sum(nil))+"  "+name+"\n")
	return nil
}

// finish writes the manifest and the checksums.
func (w *writer) finish(m *Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := w.file(manifestName, func(out io.Writer) error { _, err := out.Write(append(text, '\n')); return err }); err != nil {
		return err
	}
	slices.Sort(w.sums)
	if err := w.file(sumsName, func(out io.Writer) error { _, err := io.WriteString(out, strings.Join(w.sums, "")); return err }); err != nil {
		return err
	}
	return filepath.WalkDir(w.dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return syncDir(at)
	})
}

// syncDir makes the names in a folder durable, where a disk can.
func syncDir(at string) error {
	d, err := os.Open(at)
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}

// Size returns a number of bytes for people.
func Size(n int64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB"}
	v, i := float64(n), 0
	for ; v >= 1000 && i < len(units)-1; i++ {
		v /= 1000
	}
	if i == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}
