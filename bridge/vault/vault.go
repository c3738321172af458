package vault

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/filereplace"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

const (
	logVault  = "vault"
	logSysctl = "sysctl"
)

type Options struct {
	ReadOnly bool
	// MaxWatches is the maximum number of inotify watches; 0 means the kernel's limit, and a negative number no watches.
	// Folders beyond the maximum are polled. The user's editors and sync tools share the kernel's limit.
	MaxWatches int
	// Swap is a folder that only this vault uses. It is created if it is missing. If it is on the vault's disk, new
	// files are made in it before they are exchanged with notes. Without it they are made next to the notes, under
	// hidden names.
	Swap string
	// SyncBefore syncs each new file before the file gets the name of the note, even on a disk that makes renames
	// durable in order.
	SyncBefore bool
	Disk       disk.Disk    // disk of the vault and of Swap; nil is disk.OS{}
	Logger     *slog.Logger // nil discards the messages

	ID string // part of the names of this process's temp files; "" means a random ID
}

type Vault struct {
	o        Options
	log      *slog.Logger
	folder   *vaultdir.Folder
	syncs    *vaultdir.Syncs
	swaps    *filereplace.Swapper
	disk     *diskProblem
	tree     tree
	misnamed sync.Map // paths of files whose names are not UTF-8, by folder

	// The two fields below are the disk's last answer for ReadOnlyErr, and its time.
	diskReadOnly atomic.Bool
	diskLooked   atomic.Pointer[time.Time]
}

// New serves the directory dir, which must exist. It does not read the vault yet.
func New(dir string, o Options) (*Vault, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("vault %s: %w", dir, err)
	}
	if o.Disk == nil {
		o.Disk = disk.OS{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	v := &Vault{o: o, log: o.Logger.With(logVault, abs), tree: tree{byID: make(map[vaultdir.ID]*node), changing: make(map[string]int)}}
	if v.folder, err = vaultdir.Open(o.Disk, abs); err != nil {
		return nil, wrap("open", abs, err)
	}
	v.syncs = &vaultdir.Syncs{Log: v.log}
	v.disk = newDiskProblem(v)
	v.swaps = filereplace.New(filereplace.Options{
		Vault: v.folder, Folder: o.Swap, ReadOnly: o.ReadOnly, SyncBefore: o.SyncBefore, ID: o.ID,
		Syncs: v.syncs, Log: v.log,
		Read: func(rel string) ([]byte, model.Stamp, error) { return v.Read(context.Background(), rel) },
	})
	return v, nil
}

// Close waits until every save is durable, or its sync has failed. For programs that have a replaced note open, it
// waits until half a second after their last change. Later writes of such a program are lost and logged.
func (v *Vault) Close() error {
	v.swaps.Close()
	return nil
}

// readOnlyFor is the time for which an answer of the disk is reused, because every look at a file calls ReadOnlyErr.
const readOnlyFor = time.Second

// ReadOnlyErr returns model.ErrReadOnly if nothing can be written now, because of an option or because the disk is
// mounted read-only.
func (v *Vault) ReadOnlyErr() error {
	if v.o.ReadOnly {
		return model.ErrReadOnly
	}
	if looked := v.diskLooked.Load(); looked == nil || time.Since(*looked) >= readOnlyFor {
		v.diskReadOnly.Store(v.o.Disk.ReadOnly(v.folder.Path))
		v.diskLooked.Store(new(time.Now()))
	}
	if v.diskReadOnly.Load() {
		return errDiskReadOnly
	}
	return nil
}

// change calls do, which changes the paths rels. Run does not report this change.
func (v *Vault) change(op string, do func() error, rels ...string) error {
	if err := v.writable(op, rels...); err != nil {
		return err
	}
	defer v.tree.begin(rels...)()
	return wrap(op, rels[0], do())
}

// write is change for do, which writes the file or link at rel and returns its entry. size is the size of the content.
func (v *Vault) write(op, rel string, size int, do func() (model.SourceEntry, error)) (e model.SourceEntry, err error) {
	err = v.change(op, func() error {
		e, err = do()
		v.disk.record(size, err)
		if err == nil {
			v.tree.recordWritten(e)
		}
		return err
	}, rel)
	return e, err
}

func (v *Vault) writable(op string, rels ...string) error {
	for _, rel := range rels {
		if v.o.ReadOnly {
			return &fs.PathError{Op: op, Path: rel, Err: model.ErrReadOnly}
		}
		if vaultdir.Reserved(rel) {
			return &fs.PathError{Op: op, Path: rel, Err: model.ErrBadName}
		}
	}
	return nil
}
