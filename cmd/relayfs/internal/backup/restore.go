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

// Backup is an open backup.
type Backup struct {
	Manifest
	zip *zip.ReadCloser
}

// Open opens a backup.
func Open(file string) (b *Backup, err error) {
	b = new(Backup)
	if b.zip, err = zip.OpenReader(file); errors.Is(err, zip.ErrFormat) {
		return nil, cli.WithHint(fmt.Errorf("%q is no backup, or was cut short", file), "name a file that 'relayfs backup' made; nothing was changed")
	}
	if err != nil {
		return nil, err
	}
	if err := b.read(file); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Backup) read(file string) error {
	text, err := fs.ReadFile(b.zip, manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.WithHint(fmt.Errorf("%q is no backup: it has no %s", file, manifestName), "name a file that 'relayfs backup' made")
	}
	if err == nil {
		err = json.Unmarshal(text, &b.Manifest)
	}
	if err == nil && b.Format != format {
		return cli.WithHint(fmt.Errorf("the backup has format %d, this relayfs reads format %d", b.Format, format), "use the relayfs that made it: "+b.Version)
	}
	return damaged(manifestName, err)
}

// damaged says so if an entry of a backup is not as it was written: each has a checksum.
func damaged(entry string, err error) error {
	causes := []error{zip.ErrChecksum, zip.ErrFormat, io.ErrUnexpectedEOF, store.ErrDamaged}
	if corrupt, ok := errors.AsType[flate.CorruptInputError](err); ok {
		causes = append(causes, corrupt)
	}
	for _, cause := range causes {
		if errors.Is(err, cause) {
			return cli.WithHint(fmt.Errorf("the backup is damaged: %s: %w", entry, cause), "what is kept of it is as it was; use another backup")
		}
	}
	return err
}

// Close closes the file.
func (b *Backup) Close() error { return b.zip.Close() }

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

// Restored is a Folder that was restored.
type Restored struct {
	Folder
	// Aside is the folder that has what was there before, "" if nothing was.
	Aside string `json:"aside,omitempty"`
}

// Restore puts what the backup has of sources, which are chosen by the names of their Folders, in the place of what
// is kept below the state folder base; what is kept is replaced only if replace says so. No process may serve them.
// All of the backup is read before anything is changed. Each Folder is restored whole or not at all.
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

// find reads what the backup has of a source.
func (b *Backup) find(src source.Source, state string, replace bool) (*Restored, error) {
	i := slices.IndexFunc(b.Folders, func(f Folder) bool { return f.Name == src.Name })
	if i < 0 {
		var names []string
		for _, f := range b.Folders {
			names = append(names, f.Name)
		}
		return nil, cli.WithHint(fmt.Errorf("the backup has no folder %q", src.Name), "it has "+strings.Join(names, ", ")+"; for a vault that is elsewhere now, NAME=DIR")
	}
	r := &Restored{Folder: b.Folders[i]}
	if ofServer := strings.Contains(r.Source, "://"); ofServer != (src.Server != nil) {
		return nil, fmt.Errorf("the backup of %q is of %s, which %s cannot take", src.Name, r.Place, src.Place())
	}
	r.Place, r.Source, r.State = src.Place(), src.String(), owner.Folder(state)
	if !replace && store.Holds(r.State.Path(storeName)) {
		return nil, cli.WithHint(fmt.Errorf("something is kept for %s already", r.Place), "with --replace it is set aside, and the backup takes its place")
	}
	for _, f := range b.zip.File {
		if strings.HasPrefix(f.Name, src.Name+"/") {
			if err := damaged(f.Name, verify(f)); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// verify reads an entry to its end, where its checksum is compared.
func verify(f *zip.File) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, in.Close())
}

// restore restores a Folder: attachments first, which change nothing that is there.
func (b *Backup) restore(r *Restored) error {
	if err := b.restoreAttachments(r); err != nil {
		return err
	}
	entry := path.Join(r.Name, storeName)
	in, err := b.zip.Open(entry)
	if err != nil {
		return damaged(entry, err)
	}
	defer in.Close()
	aside, err := store.Restore(r.State.Path(storeName), in, store.Options{})
	if aside != "" {
		r.Aside = r.State.Path(aside)
	}
	return damaged(entry, err)
}

// restoreAttachments copies those that are not there: their names are the hashes of what they hold.
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
			return damaged(f.Name, err)
		}
	}
	return nil
}
