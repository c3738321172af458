//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

type bench struct {
	options
	self   string // this program
	work   string // work directory on the disk
	memory string // work directory in memory
	plain  string // directory of the notes in memory; "" before makeNotes
	vault  string // directory of the notes on the disk

	mu      sync.Mutex // guards the fields below
	mounted []*mounted
}

const folders = 300

func (b *bench) makeNotes() error {
	if b.plain != "" {
		return nil
	}
	b.vault, b.plain = filepath.Join(b.work, "Vault"), filepath.Join(b.memory, "plain")
	return errors.Join(makeVault(b.vault, b.notes, 8192), makeVault(b.plain, b.notes, 8192))
}

func makeVault(dir string, n, size int) error {
	for i := range min(n, folders) {
		if err := os.MkdirAll(filepath.Join(dir, noteFolder(i)), 0o755); err != nil {
			return err
		}
	}
	for i := range n {
		name := filepath.Join(dir, noteFolder(i), noteName(i))
		if err := os.WriteFile(name, noteText(i, 1+size/8+i*977%(size*7/8)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func noteFolder(i int) string { return fmt.Sprintf("folder %d", i%folders) }
func noteName(i int) string   { return fmt.Sprintf("note %d.md", i) }

func noteText(i, size int) []byte {
	words := []string{"lantern", "harbour", "willow", "tide", "of", "the", "and", "garden", "slowly", "Süden", "Èze"}
	rng := rand.New(rand.NewPCG(uint64(i), 1))
	var text bytes.Buffer
	fmt.Fprintf(&text, "Note %d.\n", i)
	for text.Len() < size {
		text.WriteString(words[rng.IntN(len(words))])
		text.WriteByte(" \n"[min(1, rng.IntN(12)/11)])
	}
	return append(bytes.ToValidUTF8(text.Bytes()[:size-1], nil), '\n')
}

type mounted struct {
	cmd   *exec.Cmd
	notes string // directory of the notes
	once  sync.Once
}

func (b *bench) mount(vault, flag string) (*mounted, error) {
	dir, err := os.MkdirTemp(b.work, "mnt-")
	if err != nil {
		return nil, err
	}
	args := []string{"mount", vault, dir}
	if flag != "" {
		args = append(args, flag)
	}
	cmd := exec.Command(b.relayfs, args...)
	cmd.Env = append(os.Environ(), "RELAYFS_STATE="+filepath.Join(filepath.Dir(vault), "state of "+filepath.Base(vault)))
	return b.start(cmd, filepath.Join(dir, filepath.Base(vault)))
}

// ready begins the line that a mount prints when it can be used.
const ready = "mounted "

func (b *bench) start(cmd *exec.Cmd, notes string) (*mounted, error) {
	m := &mounted{cmd: cmd, notes: notes}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.mounted = append(b.mounted, m)
	b.mu.Unlock()
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), ready) {
			go func() {
				for lines.Scan() { // so that the program never waits until its output is read
					fmt.Fprintln(os.Stderr, lines.Text())
				}
			}()
			return m, nil
		}
		fmt.Fprintln(os.Stderr, lines.Text())
	}
	return nil, fmt.Errorf("the mount ended: %w", cmd.Wait())
}

func (m *mounted) end() {
	m.once.Do(func() {
		_ = m.cmd.Process.Signal(os.Interrupt) // the process may have ended
		_ = m.cmd.Wait()
	})
}

func (b *bench) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.mounted {
		m.end()
	}
	b.mounted = nil
}

// clockTick is USER_HZ, the unit of times in /proc/PID/stat; it is constant on Linux.
const clockTick = 10 * time.Millisecond

func (m *mounted) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest) // utime and stime are fields 14 and 15
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * clockTick, errors.Join(err1, err2)
}

func (m *mounted) memory() (int, error) {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", m.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	return pages * os.Getpagesize(), err
}
