package backup

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
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
	b.zip, err = zip.OpenReader(file)
	if cause, ok := errors.AsType[*fs.PathError](err); ok && cause.Op == "open" {
		return nil, cli.WithHint(err, "name a file that 'relayfs backup' made")
	}
	if err != nil {
		return nil, cli.WithHint(fmt.Errorf("%q is not a backup, or it is damaged: %w", file, err), "name a file that 'relayfs backup' made; nothing was changed")
	}
	if err := b.read(file); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Backup) read(file string) error {
	in, err := b.zip.Open(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.WithHint(fmt.Errorf("%q is not a backup: it has no %s", file, manifestName), "name a file that 'relayfs backup' made")
	}
	if err != nil {
		return damaged(manifestName, err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxManifest))
	if err == nil {
		err = json.Unmarshal(text, &b.Manifest)
	}
	if err != nil {
		return damaged(manifestName, err)
	}
	if b.Format != format {
		return cli.WithHint(fmt.Errorf("the backup has format %d, but this relayfs reads format %d", b.Format, format), "use the relayfs that made it: "+b.Version)
	}
	return nil
}

// maxManifest is the maximum size of a manifest in bytes. The size that a damaged archive names may be anything.
const maxManifest = 16 << 20

func damaged(entry string, err error) error {
	return cli.WithHint(fmt.Errorf("the backup is damaged: %s: %w", entry, err), "this folder's data was not changed; use another backup")
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

	attachments []*zip.File
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
			sum, err := verify(f)
			if err != nil {
				return nil, damaged(f.Name, err)
			}
			if f.Name == path.Join(src.Name, attachments, sum) {
				r.attachments = append(r.attachments, f)
			}
		}
	}
	return r, nil
}

// verify reads an entry to its end, because archive/zip checks the checksum there. It returns the SHA-256, which is the
// name of an attachment: the checksum does not cover names.
func verify(f *zip.File) (sum string, err error) {
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	defer in.Close() // has no error of its own
	_, err = io.Copy(h, in)
	return hex.EncodeToString(h.Sum(nil)), err
}

// restore copies the attachments first: if it fails there, the existing store is unchanged, because new attachments
// replace no files.
func (b *Backup) restore(r *Restored) error {
	if err := r.restoreAttachments(); err != nil {
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
	if errors.Is(err, store.ErrDamaged) {
		return damaged(entry, err)
	}
	return err
}

func (r *Restored) restoreAttachments() error {
	dir := r.State.Sub(attachments)
	for _, f := range r.attachments {
		name := path.Base(f.Name)
		if _, err := fs.Stat(dir.FS(), name); err == nil {
			continue
		}
		in, err := f.Open()
		if err == nil {
			err = errors.Join(dir.Make(), dir.Put(name, func(w io.Writer) error { _, err := io.Copy(w, in); return err }), in.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
