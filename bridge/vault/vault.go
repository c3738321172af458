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
)

// The keys of this package's log attributes that bridge does not have.
const (
	logVault  = "vault"
	logSysctl = "sysctl"
	logCopy   = "copy"
)

// Options configure a Vault. The zero value serves it for reading and writing.
type Options struct {
	// ReadOnly refuses every change with model.ErrReadOnly.
	ReadOnly bool
	// MaxWatches bounds the inotify watches that Run takes, which a user shares
	// with editors and sync tools; 0 leaves the bound to the kernel. Folders
	// beyond it are looked at every few seconds instead.
	MaxWatches int
	// Swap is a folder of this vault's own, made if it is missing, in which new files are
	// made before they are exchanged with notes, if it is on the vault's disk. "" is none:
	// then they are made beside the notes, under hidden names.
	Swap   string
	Disk   disk.Disk    // of the vault and of Swap; nil is disk.OS{}
	Logger *slog.Logger // nil discards
}

// Vault is a folder of notes on a local disk.
type Vault struct {
	dir  string // absolute
	disk disk.Disk
	o    Options
	log  *slog.Logger
	// tempPrefix begins the names of this process's temp files.
	tempPrefix string

	// noExchange is set once the disk has turned out not to know RENAME_EXCHANGE.
	noExchange atomic.Bool

	// What ReadOnly found, and when (Unix nanoseconds).
	diskReadOnly atomic.Bool
	diskLooked   atomic.Int64
	late         *lateWriters
	syncs        dirSyncs
	settler      *settler
	swaps        swapDir

	unplaced stamps // temp files that the last process has filled and not given their names

	mu    sync.Mutex     // protects the following
	root  fileID         // the directory that was there at the last scan
	away  bool           // vanished, or empty after it was not
	known tree           // what Scan and Run have reported, and what was written here
	busy  map[string]int // paths that a method of this Vault is changing right now
}

// New serves the directory dir, which must exist. It reads nothing yet.
func New(dir string, o Options) (*Vault, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("vault %s: %w", dir, err)
	}
	v := &Vault{
		dir: abs, disk: o.Disk, o: o, log: o.Logger, tempPrefix: tempPrefix + randomName() + "-",
		busy: make(map[string]int),
	}
	if v.disk == nil {
		v.disk = disk.OS{}
	}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	v.log = v.log.With(logVault, abs)
	v.late = newLateWriters(v)
	v.settler = newSettler(v.syncDir, func(s *settlement, err error) {
		v.syncs.remember(s.dir, err)
		v.log.Warn("note is not synced: a power cut may bring back what it held", model.LogPath, s.rel, model.LogErr, err)
	})
	root, err := v.disk.OpenRoot(abs)
	if err != nil {
		return nil, wrap("open", abs, err)
	}
	defer root.Close()
	st, err := root.Info()
	if err != nil {
		return nil, wrap("open", abs, err)
	}
	v.root = idOf(&st)
	if o.Swap != "" && !o.ReadOnly {
		if err := v.swaps.open(v.disk, o.Swap); err != nil {
			v.log.Warn("new files are made beside the notes", model.LogErr, err)
		}
	}
	return v, nil
}

// Close waits until what was displaced by a Replace is hardly written to any more,
// at most closeGrace after it was last. What a program writes to it later, because
// it has had it open since before the Replace, is lost, and the log says so.
func (v *Vault) Close() error {
	v.late.end()
	v.settler.all.Wait()
	return v.swaps.close()
}

// readOnlyFor is how long an answer of Locked is good for: it is asked for
// with every look at a file, and disks are not remounted that often.
const readOnlyFor = time.Second

// Locked is model.ErrReadOnly if nothing can be written now: by option, or
// because the disk is mounted read-only.
func (v *Vault) Locked() error {
	if v.o.ReadOnly {
		return model.ErrReadOnly
	}
	now := time.Now().UnixNano()
	if now-v.diskLooked.Load() >= int64(readOnlyFor) {
		v.diskReadOnly.Store(v.disk.ReadOnly(v.dir))
		v.diskLooked.Store(now)
	}
	if v.diskReadOnly.Load() {
		return model.ErrReadOnly
	}
	return nil
}

// openRoot opens the vault's directory; model.ErrOffline if it is not the one
// that was scanned. It is opened anew for each operation: a descriptor kept open
// would hold a removable disk busy and would hide that it went away.
func (v *Vault) openRoot() (disk.Dir, error) {
	root, id, err := v.openAnyRoot()
	if err != nil {
		return nil, err
	}
	if !v.isRoot(id) {
		root.Close()
		return nil, model.ErrOffline
	}
	return root, nil
}

// isRoot says whether id is the directory that was scanned.
func (v *Vault) isRoot(id fileID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return id == v.root && !v.away
}

// openAnyRoot opens whatever directory is there.
func (v *Vault) openAnyRoot() (disk.Dir, fileID, error) {
	root, err := v.disk.OpenRoot(v.dir)
	if err != nil {
		return nil, fileID{}, fmt.Errorf("%w: %v", model.ErrOffline, err)
	}
	st, err := root.Info()
	if err != nil {
		root.Close()
		return nil, fileID{}, fmt.Errorf("%w: %v", model.ErrOffline, err)
	}
	return root, idOf(&st), nil
}

// begin marks paths as being changed by this process, so that Run does not take
// the change for a person's before it is known whose it is. end undoes it.
func (v *Vault) begin(rels ...string) (end func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, rel := range rels {
		v.busy[rel]++
	}
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, rel := range rels {
			if v.busy[rel]--; v.busy[rel] == 0 {
				delete(v.busy, rel)
			}
		}
	}
}

// wrote notes an entry that this process made: it is not news to anybody.
func (v *Vault) wrote(e model.SourceEntry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known.put(e).own = true
}

// writable checks what every changing method needs first.
func (v *Vault) writable(op string, rels ...string) error {
	for _, rel := range rels {
		if v.o.ReadOnly {
			return &fs.PathError{Op: op, Path: rel, Err: model.ErrReadOnly}
		}
		if reserved(rel) {
			return &fs.PathError{Op: op, Path: rel, Err: model.ErrBadName}
		}
	}
	return nil
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
