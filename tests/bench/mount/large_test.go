//go:build linux

package mount

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

func (b *bench) mountingBig(t *testing.T) {
	vault := b.Path("Big")
	makeVault(t, vault, *big, 600)
	m := b.mountLarge(t, vault, *big, 300*time.Millisecond, 80<<20)
	must(t, rg(m.notes))
	memory := m.memory(t)
	limit("  after rg", megabytes(memory), "", false)
	const goal = 250 << 20
	start := time.Now()
	for ; time.Since(start) < quietPeriod && memory > goal; time.Sleep(time.Second) {
		memory = m.memory(t)
	}
	limit(fmt.Sprintf("  %v later", time.Since(start).Round(time.Second)), megabytes(memory), "250 MB", memory > goal)
}

// quietPeriod is the time within which an idle mount must release the memory of a search.
const quietPeriod = 3 * time.Minute

// mountingMillion mounts a vault of a million small notes, and immediately lists a folder and saves a note.
func (b *bench) mountingMillion(t *testing.T) {
	const perFolder = 1000
	vault := filepath.Join(b.memory, "Million")
	t.Cleanup(func() { os.RemoveAll(vault) })
	var made sync.WaitGroup
	errs := make([]error, runtime.GOMAXPROCS(0))
	for w := range errs {
		made.Go(func() {
			for i := w; i < *million/perFolder && errs[w] == nil; i += len(errs) {
				dir := filepath.Join(vault, fmt.Sprintf("folder %d", i))
				errs[w] = os.MkdirAll(dir, 0o755)
				for n := 0; n < perFolder && errs[w] == nil; n++ {
					errs[w] = os.WriteFile(filepath.Join(dir, noteName(n)), []byte("A small note.\n"), 0o644)
				}
			}
		})
	}
	made.Wait()
	must(t, errors.Join(errs...))
	m := b.mountLarge(t, vault, *million, 5*time.Second, 600<<20)
	var listed, saved [ways]time.Duration
	for way, dir := range map[int]string{plain: vault, relayfs: m.notes} {
		dir := filepath.Join(dir, "folder 0")
		listed[way] = timed(t, program("ls"), dir)
		saved[way] = timed(t, func(name string) error { return renameOver(name, []byte("A small note, saved.\n")) }, filepath.Join(dir, noteName(way)))
	}
	row("  ls of a folder of 1000 at once", listed, goal{})
	row("  write, fsync, rename at once", saved, goal{})
}

// mountLarge mounts a vault and prints the time until the mount is ready, and the memory of the mount's process at that
// time.
func (b *bench) mountLarge(t *testing.T, vault string, notes int, inTime time.Duration, inMemory int) *mounted {
	t.Helper()
	start := time.Now()
	m := b.mount(t, vault)
	took, memory := time.Since(start), m.memory(t)
	limit(fmt.Sprintf("%d notes, ready after", notes), took.Round(time.Millisecond).String(), inTime.String(), took > inTime)
	limit("  memory then", megabytes(memory), megabytes(inMemory), memory > inMemory)
	return m
}

func megabytes(n int) string { return fmt.Sprintf("%d MB", n>>20) }
