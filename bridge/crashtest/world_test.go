package crashtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/vault"
)

const (
	vaultDir  = "/vault"
	stateDir  = "/state"
	storePath = stateDir + "/store.db"
	swapDir   = stateDir + "/swap"
)

// TestMain does not count what is allocated, which takes a tenth of the time.
func TestMain(m *testing.M) {
	runtime.MemProfileRate = 0
	os.Exit(m.Run())
}

// world is what outlives a process: disks, and the store's checkpoint. That is a file of the real machine,
// as bbolt maps it; each of its transactions is one step, after which it is certain.
type world struct {
	disk *disktest.Disk

	mu         sync.Mutex // protects the following
	checkpoint []byte
	commits    int
}

// newWorld has files in the vault.
func newWorld(t testing.TB, volumes []disktest.Volume, files map[string]string) *world {
	t.Helper()
	w := &world{disk: disktest.New(time.Now, volumes...)}
	for rel, text := range files {
		path := filepath.Join(vaultDir, rel)
		dir, err := w.disk.MakeRoot(filepath.Dir(path))
		check(t, err)
		dir.Close()
		check(t, w.disk.Person().Save(path, text))
	}
	for _, path := range []string{vaultDir, stateDir, "/"} {
		dir, err := w.disk.MakeRoot(path)
		check(t, err)
		check(t, dir.Sync())
		dir.Close()
	}
	return w
}

// now is the world as a kill leaves it at this moment.
func (w *world) now() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &world{disk: w.disk.Killed(), checkpoint: w.checkpoint, commits: w.commits}
}

// notes are the files of the vault that people see, by their paths.
func (w *world) notes() map[string]string {
	notes := make(map[string]string)
	for path, text := range w.disk.Person().Files(vaultDir) {
		if rel := strings.TrimPrefix(path, vaultDir+"/"); !strings.Contains("/"+rel, "/.") {
			notes[rel] = text
		}
	}
	return notes
}

// modTimes are the modification times of the files in the vault's folder, by their names.
func (w *world) modTimes() map[string]int64 {
	dir, err := w.disk.Person().Open(vaultDir)
	if err != nil {
		return nil
	}
	defer dir.Close()
	times := make(map[string]int64)
	names, _ := dir.Names(-1)
	for _, name := range names {
		if info, err := dir.Stat(name); err == nil {
			times[name] = info.ModTime
		}
	}
	return times
}

// has says whether a file of the vault has a text.
func (w *world) has(text string) bool {
	for _, data := range w.disk.Person().Files(vaultDir) {
		if strings.Contains(data, text) {
			return true
		}
	}
	return false
}

// left are temp files, and after a kill what was moved to the trash because nobody knew what it
// was for, unless a person has typed in it. A power cut may tear a new file so that it is not told from a
// person's.
func (w *world) left(kill bool) (left []string) {
	files := w.disk.Person().Files(vaultDir)
	maps.Copy(files, w.disk.Person().Files(swapDir))
	for path, text := range files {
		name := filepath.Base(path)
		if strings.HasPrefix(name, ".relayfs-") || kill && strings.HasPrefix(name, "relayfs recovered") && !strings.Contains(text, hers) {
			left = append(left, fmt.Sprintf("%s (%q)", path, text))
		}
	}
	slices.Sort(left)
	return left
}

// process is a relayfs that serves a world.
type process struct {
	t     testing.TB
	w     *world
	store *store.Store
	vault *vault.Vault
	ws    *bridge.Workspace
	file  string // of the checkpoint
}

// source is the vault, which nobody follows: inotify knows nothing of a disk in memory.
type source struct{ *vault.Vault }

func (source) Run(ctx context.Context, _ func(model.SourceEvent)) error {
	<-ctx.Done()
	return nil
}

// start starts a process.
func start(t testing.TB, w *world, dir string) (*process, error) {
	p := &process{t: t, w: w, file: filepath.Join(dir, "store.db")}
	if w.checkpoint == nil {
		os.Remove(p.file)
	} else if err := os.WriteFile(p.file, w.checkpoint, 0o600); err != nil {
		return p, err
	}
	var err error
	p.store, err = store.Open(storePath, store.Options{
		Disk:        w.disk,
		SegmentSize: 16 << 10, // which is written, copied and compared for every state
		Committed:   p.committed,
		OpenFile:    func(_ string, flag int, perm fs.FileMode) (*os.File, error) { return os.OpenFile(p.file, flag, perm) },
	})
	if err != nil {
		return p, err
	}
	if p.vault, err = vault.New(vaultDir, vault.Options{Disk: w.disk, Swap: swapDir}); err != nil {
		return p, err
	}
	p.ws, err = bridge.New(bridge.Options{Roots: []bridge.RootSource{{Name: "Notes", Source: source{p.vault}, Store: p.store}}})
	if err != nil {
		return p, err
	}
	return p, p.ws.Start(t.Context())
}

// committed keeps the checkpoint, which has just changed.
func (p *process) committed() {
	data, err := os.ReadFile(p.file)
	check(p.t, err)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.checkpoint = data
	p.w.commits++
}

// settle waits until everything that a process does by itself is done.
func settle() { time.Sleep(4 * time.Second) }

// end ends a process well.
func (p *process) end() {
	p.t.Helper()
	check(p.t, p.stop())
}

func (p *process) stop() (err error) {
	if p.ws != nil {
		ctx, cancel := context.WithCancel(p.t.Context())
		cancel()
		err = p.ws.Run(ctx)
	}
	if p.vault != nil {
		err = errors.Join(err, p.vault.Close())
	}
	if p.store != nil {
		err = errors.Join(err, p.store.Close())
	}
	return err
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
