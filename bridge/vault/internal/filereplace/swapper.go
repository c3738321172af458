package filereplace

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// Options are what a Swapper works with.
type Options struct {
	Vault *vaultdir.Folder
	// Folder is a path outside of the vault, made if it is missing, where temp files are
	// made if it is on the disk of the note. "" is none.
	Folder   string
	ReadOnly bool // nothing is ever changed
	// SyncBefore syncs each new file before it gets the name of the note.
	SyncBefore bool
	// ID is in the names of this process's temp files; "" is a random one.
	ID    string
	Syncs *vaultdir.Syncs
	// Late takes over a file that the note at rel has lost its name to; it held data when
	// its stamp was held.
	Late func(rel string, file disk.File, held model.Stamp, data []byte)
	Log  *slog.Logger
}

// Swapper replaces the files of one vault. Its methods may be called from several
// goroutines.
type Swapper struct {
	o       Options
	prefix  string // of the names of this process's temp files
	temps   atomic.Uint64
	dir     swapDir
	swaps   sync.WaitGroup // that were staged and not closed
	settler *syncer
	// noExchange is set once the disk has turned out not to know exchange.
	noExchange atomic.Bool
	ordered    sync.Map // by device: what OrdersNames says of it
	placed     sync.Map // newFiles of which a sweep has found the pre-image, by the inode of that
	unrenamed  sync.Map // newFiles that a sweep has found without their names
}

// New is a Swapper. Without the swap folder it does without.
func New(o Options) *Swapper {
	if o.ID == "" {
		var b [8]byte
		rand.Read(b[:])
		o.ID = hex.EncodeToString(b[:])
	}
	s := &Swapper{o: o, prefix: vaultdir.TempPrefix + o.ID + "-"}
	s.settler = newSettler(o.Syncs, o.Log)
	if o.Folder != "" && !o.ReadOnly {
		if err := s.dir.open(o.Vault.Disk, o.Folder); err != nil {
			o.Log.Warn("new files are made beside the notes", model.LogErr, err)
		}
	}
	return s
}

// Close waits until every swap that was committed has settled. A swap under way can still
// be committed, and has the swap folder until it has settled.
func (s *Swapper) Close() {
	s.settler.all.Wait()
	if s.dir.dir != nil {
		go func() {
			s.swaps.Wait()
			s.settler.all.Wait()
			s.dir.dir.Close()
		}()
	}
}

// Probe makes a temp file of size bytes on the vault's disk and removes it.
func (s *Swapper) Probe(size int) error {
	root, err := s.o.Vault.OpenDir("")
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Info()
	if err != nil {
		return err
	}
	dir, ok := s.dir.on(info.Device)
	if !ok {
		dir = root
	}
	t, err := s.NewFile(dir, s.TempName(), Content{Data: make([]byte, size), Mode: 0o600, ModTime: time.Now()})
	if err != nil {
		return err
	}
	t.Discard()
	return nil
}

// Settle returns when every swap at rel, or below it, that was committed has settled: before
// it is renamed, since the next process looks for it there. An error says that a file could not be synced:
// it is not to be renamed, or a power cut could leave it torn and far from its pre-image.
func (s *Swapper) Settle(rel string) error { return s.settler.settleAt(rel) }

// ordersNames is dir.OrdersNames, which one system call answers for all of a device.
func (s *Swapper) ordersNames(device uint64, dir disk.Dir) bool {
	ordered, found := s.ordered.Load(device)
	if !found {
		ordered = dir.OrdersNames()
		s.ordered.Store(device, ordered)
	}
	return ordered.(bool)
}

// TempName is a new name for a temp file.
func (s *Swapper) TempName() string {
	return fmt.Sprintf("%s%x%s", s.prefix, s.temps.Add(1), vaultdir.TempSuffix)
}

// TaggedName is a TempName that says for which note the file is and what it holds, so that
// the next process finds out whether it got its name.
func (s *Swapper) TaggedName(rel string, c Content) string {
	return fmt.Sprintf("%s%x-%v%s", s.prefix, s.temps.Add(1), tagOf(rel, c), vaultdir.TempSuffix)
}

// IsOwn says whether a name is that of a temp file of this process.
func (s *Swapper) IsOwn(name string) bool { return strings.HasPrefix(name, s.prefix) }

// KeepCopy makes a file with data in a folder, under a free name that says that it is a
// conflicted copy of name, and returns that.
func (s *Swapper) KeepCopy(dir disk.Dir, name string, data []byte) (string, error) {
	t, err := s.NewFile(dir, s.TempName(), Content{Data: data, Mode: 0o644, ModTime: time.Now()})
	if err != nil {
		return "", err
	}
	defer t.Discard()
	defer s.o.Syncs.SyncBestEffort(dir)
	return MoveAside(dir, t.Name, dir, conflictName(name))
}
