//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

func (b *bench) mountingBig() error {
	if b.big == 0 {
		return nil
	}
	vault := filepath.Join(b.work, "Big")
	if err := makeVault(vault, b.big, 600); err != nil {
		return err
	}
	m, err := b.mountLarge(vault, b.big, 300*time.Millisecond, 80<<20)
	if err != nil {
		return err
	}
	defer m.end()
	if err := rg(m.notes); err != nil {
		return err
	}
	memory, err := m.memory()
	if err != nil {
		return err
	}
	limit("  after rg", megabytes(memory), "", false)
	const goal = 250 << 20
	start := time.Now()
	for ; time.Since(start) < quietPeriod && memory > goal; time.Sleep(time.Second) {
		if memory, err = m.memory(); err != nil {
			return err
		}
	}
	limit(fmt.Sprintf("  %v later", time.Since(start).Round(time.Second)), megabytes(memory), "250 MB", memory > goal)
	return nil
}

// quietPeriod is the time within which an idle mount must release the memory of a search.
const quietPeriod = 3 * time.Minute

// mountingMillion mounts a vault of a million small notes, and immediately lists a folder and saves a note.
func (b *bench) mountingMillion() error {
	if b.million == 0 {
		return nil
	}
	const perFolder = 1000
	vault := filepath.Join(b.memory, "Million")
	defer os.RemoveAll(vault)
	var made sync.WaitGroup
	errs := make([]error, runtime.GOMAXPROCS(0))
	for w := range errs {
		made.Go(func() {
			for i := w; i < b.million/perFolder && errs[w] == nil; i += len(errs) {
				dir := filepath.Join(vault, fmt.Sprintf("folder %d", i))
				errs[w] = os.MkdirAll(dir, 0o755)
				for n := 0; n < perFolder && errs[w] == nil; n++ {
					errs[w] = os.WriteFile(filepath.Join(dir, noteName(n)), []byte("A small note.\n"), 0o644)
				}
			}
		})
	}
	made.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	m, err := b.mountLarge(vault, b.million, 5*time.Second, 600<<20)
	if err != nil {
		return err
	}
	defer m.end()
	dirs := [ways]string{plain: vault, relayfs: m.notes}
	var listed, saved [ways]time.Duration
	for way, dir := range dirs {
		if dir == "" {
			continue
		}
		dir := filepath.Join(dir, "folder 0")
		if listed[way], err = timed(program("ls"), dir); err != nil {
			return err
		}
		saved[way], err = timed(func(name string) error { return renameOver(name, []byte("A small note, saved.\n")) }, filepath.Join(dir, noteName(way)))
		if err != nil {
			return err
		}
	}
	row("  ls of a folder of 1000 at once", listed, goal{})
	row("  write, fsync, rename at once", saved, goal{})
	return nil
}

// mountLarge mounts a vault and prints the time until the mount is ready, and the memory of the mount's process at that
// time.
func (b *bench) mountLarge(vault string, notes int, inTime time.Duration, inMemory int) (*mounted, error) {
	start := time.Now()
	m, err := b.mount(vault, "")
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	memory, err := m.memory()
	if err != nil {
		return nil, err
	}
	limit(fmt.Sprintf("%d notes, ready after", notes), took.Round(time.Millisecond).String(), inTime.String(), took > inTime)
	limit("  memory then", megabytes(memory), megabytes(inMemory), memory > inMemory)
	return m, nil
}

func megabytes(n int) string { return fmt.Sprintf("%d MB", n>>20) }
