//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
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
	limit("  after rg", "", megabytes(memory), "", false)
	const goal = 250 << 20
	start := time.Now()
	for ; time.Since(start) < quietPeriod && memory > goal; time.Sleep(time.Second) {
		if memory, err = m.memory(); err != nil {
			return err
		}
	}
	limit(fmt.Sprintf("  %v later", time.Since(start).Round(time.Second)), "", megabytes(memory), "250 MB", memory > goal)
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
// time. The floor is a process that holds the names and stamps of all files.
func (b *bench) mountLarge(vault string, notes int, inTime time.Duration, inMemory int) (*mounted, error) {
	scan := func() (*mounted, error) { return b.start(exec.Command(b.self, "-serve", "scan", vault), "") }
	mount := func() (*mounted, error) { return b.mount(vault, "") }
	var took [2]time.Duration
	var memory [2]int
	var m *mounted
	for i, begin := range []func() (*mounted, error){scan, mount} {
		start := time.Now()
		var err error
		if m, err = begin(); err != nil {
			return nil, err
		}
		took[i] = time.Since(start)
		if memory[i], err = m.memory(); err != nil {
			return nil, err
		}
		if i == 0 {
			m.end()
		}
	}
	rounded := func(t time.Duration) string { return t.Round(time.Millisecond).String() }
	limit(fmt.Sprintf("%d notes, ready after", notes), rounded(took[0]), rounded(took[1]), inTime.String(), took[1] > inTime)
	limit("  memory then", megabytes(memory[0]), megabytes(memory[1]), megabytes(inMemory), memory[1] > inMemory)
	return m, nil
}

func megabytes(n int) string { return fmt.Sprintf("%d MB", n>>20) }

type scannedFile struct {
	name                       string
	inode                      uint64
	size, modTime, changedTime int64
}

// serveScan reads the names and stamps of all files two levels below root, and then waits for a signal.
func serveScan(root string) error {
	folders, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	files := make([][]scannedFile, len(folders))
	errs := make([]error, len(folders))
	next := make(chan int)
	var scanned sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		scanned.Go(func() {
			for i := range next {
				files[i], errs[i] = scanFolder(filepath.Join(root, folders[i].Name()))
			}
		})
	}
	for i := range folders {
		next <- i
	}
	close(next)
	scanned.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	fmt.Fprintln(os.Stderr, ready+root)
	<-stop
	runtime.KeepAlive(files)
	return nil
}

func scanFolder(path string) ([]scannedFile, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	files := make([]scannedFile, 0, len(names))
	for _, name := range names {
		var st unix.Stat_t
		if err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, err
		}
		files = append(files, scannedFile{strings.Clone(name), st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano()})
	}
	return files, err
}
