package filereplace

import (
	"cmp"
	"crypto/rand"
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

type Options struct {
	Vault *vaultdir.Folder
	// Folder is a path outside of the vault for temp files of notes on the same disk. It is created if it is missing.
	// "" means no folder.
	Folder   string
	ReadOnly bool // do not change anything
	// SyncBefore syncs each new file before it gets the name of the note.
	SyncBefore bool
	// ID is part of the names of this process's temp files. "" means a random one.
	ID    string
	Syncs *vaultdir.Syncs
	// Read returns the content of the note at rel. It waits for a save in progress.
	Read func(rel string) ([]byte, model.Stamp, error)
	Log  *slog.Logger
}

// Swapper replaces the files of one vault. Its methods are safe for concurrent use.
type Swapper struct {
	o      Options
	prefix string // prefix of the names of this process's temp files
	temps  atomic.Uint64
	dir    swapDir
	swaps  sync.WaitGroup // counts the swaps that are staged and not closed
	syncer *syncer
	late   *watcher
	// noExchange is set once the disk has refused an exchange.
	noExchange atomic.Bool
	placed     sync.Map // newFiles whose pre-image a sweep has found, by the pre-image's inode
	unrenamed  sync.Map // newFiles that a sweep has found without the note's name
}

// New returns a Swapper. Without the swap folder it makes temp files next to the notes.
func New(o Options) *Swapper {
	s := &Swapper{o: o, prefix: vaultdir.TempPrefix + cmp.Or(o.ID, rand.Text()) + "-"}
	s.syncer = &syncer{syncs: o.Syncs, log: o.Log, slots: make(chan struct{}, max(1, min(maxUnsettled, disk.MaxFiles()/shareUnsettled)))}
	s.late = newWatcher(s)
	if o.Folder != "" && !o.ReadOnly {
		if err := s.dir.open(o.Vault.Disk, o.Folder); err != nil {
			o.Log.Warn("swap folder is not used: new files are made next to the notes", model.LogErr, err)
		}
	}
	return s
}

// Close waits until no displaced file is watched any more, and every committed swap has settled. A swap in progress can
// still be committed; it keeps the swap folder open until it has settled.
func (s *Swapper) Close() {
	s.late.stop()
	s.syncer.all.Wait()
	if s.dir.dir != nil {
		go func() {
			s.swaps.Wait()
			s.syncer.all.Wait()
			s.dir.dir.Close()
		}()
	}
}

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

// AwaitDurable returns when every committed swap at rel or below it has settled. Call it before a rename, because the
// next process looks for the swap's files at the old path. After an error the file must not be renamed, because a power
// cut could leave it torn, without its pre-image next to it.
func (s *Swapper) AwaitDurable(rel string) error { return s.syncer.syncAt(rel) }

func (s *Swapper) TempName() string {
	return fmt.Sprintf("%s%x%s", s.prefix, s.temps.Add(1), vaultdir.TempSuffix)
}

// TaggedName is a TempName with a tag (tag.go), from which the next process determines whether the file got its name.
func (s *Swapper) TaggedName(rel string, c Content) string {
	return fmt.Sprintf("%s%x-%v%s", s.prefix, s.temps.Add(1), tagOf(rel, c), vaultdir.TempSuffix)
}

func (s *Swapper) IsOwn(name string) bool { return strings.HasPrefix(name, s.prefix) }
