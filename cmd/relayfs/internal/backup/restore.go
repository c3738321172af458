package backup

import (
	"archive/zip"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

type Backup struct {
	Manifest
	zip *zip.ReadCloser
}

func Open(file string) (b *Backup, err error) {
	b = new(Backup)
	if b.zip, err = zip.OpenReader(file); errors.Is(err, zip.ErrFormat) {
		return nil, cli.WithHint(fmt.Errorf("%q is not a backup, or it is incomplete", file), "name a file that 'relayfs backup' made; nothing was changed")
	}
	if err != nil {
		return nil, cli.WithHint(err, "name a file that 'relayfs backup' made")
	}
	if err := b.read(file); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Backup) read(file string) error {
	text, err := fs.ReadFile(b.zip, manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.WithHint(fmt.Errorf("%q is not a backup: it has no %s", file, manifestName), "name a file that 'relayfs backup' made")
	}
	if err == nil {
		err = json.Unmarshal(text, &b.Manifest)
	}
	if err == nil && b.Format != format {
		return cli.WithHint(fmt.Errorf("the backup has format %d, but this relayfs reads format %d", b.Format, format), "use the relayfs that made it: "+b.Version)
	}
	return damagedErr(manifestName, err)
}

// damagedErr returns an error that reports a damaged backup if err is about a wrong checksum or format of an entry.
// Otherwise it returns err.
func damagedErr(entry string, err error) error {
	causes := []error{zip.ErrChecksum, zip.ErrFormat, io.ErrUnexpectedEOF, store.ErrDamaged}
	if corrupt, ok := errors.AsType[flate.CorruptInputError](err); ok {
		causes = append(causes, corrupt)
	}
	for _, cause := range causes {
		if errors.Is(err, cause) {
			return cli.WithHint(fmt.Errorf("the backup is damaged: %s: %w", entry, cause), "this folder's data was not changed; use another backup")
		}
	}
	return err
}

func (b *Backup) Close() error { return b.zip.Close() }

// Sources returns the given SOURCE arguments. If there are none, it returns the SOURCE arguments of all roots in the
// backup.
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

type Restored struct {
	Folder
	Aside string `json:"aside,omitempty"` // folder with the earlier data, or "" if there was none
}

// Restore restores the roots that have the names of sources. It writes their data below the state folder base. It
// replaces existing data only if replace is set. It fails if a process serves one of the sources.
func (b *Backup) Restore(sources []source.Source, base string, replace bool) (list []*Restored, err error) {
	var claims []owner.LockRequest
	for _, src := range sources {
		claims = append(claims, owner.LockRequest{Vault: src.Dir, Name: src.Place(), State: src.State(base)})
	}
	held, err := owner.Acquire(claims)
	if err != nil {
		return nil, err
	}
	for i, src := range sources {
		r, err := b.find(src, claims[i].State, replace)
		if err != nil {
			held.Forget()
			return nil, err
		}
		list = append(list, r)
	}
	defer held.Release()
	for i, r := range list {
		if err := b.restore(r); err != nil {
			return list[:i], err
		}
	}
	return list, nil
}

// find verifies the checksums of the entries of a source's root, and then returns the root.
func (b *Backup) find(src source.Source, state string, replace bool) (*Restored, error) {
	i := slices.IndexFunc(b.Folders, func(f Folder) bool { return f.Name == src.Name })
	if i < 0 {
		var names []string
		for _, f := range b.Folders {
			names = append(names, f.Name)
		}
		return nil, cli.WithHint(fmt.Errorf("the backup has no folder %q", src.Name), "it has "+strings.Join(names, ", ")+"; use NAME=DIR for a vault that has moved")
	}
	r := &Restored{Folder: b.Folders[i]}
	if ofServer := strings.Contains(r.Source, "://"); ofServer != (src.Server != nil) {
		return nil, fmt.Errorf("the backup of %q was made from %s and cannot be restored to %s", src.Name, r.Location, src.Place())
	}
	r.Location, r.Source, r.State = src.Place(), src.String(), owner.Folder(state)
	if !replace && store.Holds(r.State.Path(storeName)) {
		return nil, cli.WithHint(fmt.Errorf("there is already data for %s", r.Location), "use --replace to set it aside and restore the backup")
	}
	for _, f := range b.zip.File {
		if strings.HasPrefix(f.Name, src.Name+"/") {
			if err := damagedErr(f.Name, verify(f)); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// verify reads an entry to its end, because archive/zip checks the checksum there.
func verify(f *zip.File) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, in.Close())
}

// restore copies the attachments first: if it fails there, the existing store is unchanged, because new attachments
// replace no files.
func (b *Backup) restore(r *Restored) error {
	if err := b.restoreAttachments(r); err != nil {
		return err
	}
	entry := path.Join(r.Name, storeName)
	in, err := b.zip.Open(entry)
	if err != nil {
		return damagedErr(entry, err)
	}
	defer in.Close()
	aside, err := store.Restore(r.State.Path(storeName), in, store.Options{})
	if aside != "" {
		r.Aside = r.State.Path(aside)
	}
	return damagedErr(entry, err)
}

func (b *Backup) restoreAttachments(r *Restored) error {
	dir := r.State.Sub(attachments)
	for _, f := range b.zip.File {
		name, ok := strings.CutPrefix(f.Name, path.Join(r.Name, attachments)+"/")
		if !ok || !filepath.IsLocal(name) {
			continue
		}
		if _, err := fs.Stat(dir.FS(), name); err == nil {
			continue
		}
		in, err := f.Open()
		if err == nil {
			err = errors.Join(dir.Make(), dir.Put(name, func(w io.Writer) error { _, err := io.Copy(w, in); return err }), in.Close())
		}
		if err != nil {
			return damagedErr(f.Name, err)
		}
	}
	return nil
}
