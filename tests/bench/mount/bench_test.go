//go:build linux

package mount

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

type bench struct {
	*harness.Sandbox
	memory string // work directory in memory
	plain  string // directory of the notes in memory; "" before makeNotes
	vault  string // directory of the notes on the disk
}

const folders = 300

func (b *bench) makeNotes(t *testing.T) {
	t.Helper()
	if b.plain != "" {
		return
	}
	b.vault, b.plain = b.Path("Vault"), filepath.Join(b.memory, "plain")
	makeVault(t, b.vault, *notes, 8192)
	makeVault(t, b.plain, *notes, 8192)
}

func makeVault(t *testing.T, dir string, n, size int) {
	t.Helper()
	for i := range min(n, folders) {
		must(t, os.MkdirAll(filepath.Join(dir, noteFolder(i)), 0o755))
	}
	for i := range n {
		must(t, os.WriteFile(filepath.Join(dir, noteFolder(i), noteName(i)), noteText(i, 1+size/8+i*977%(size*7/8)), 0o644))
	}
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

// clockTick is USER_HZ, the unit of times in /proc/PID/stat; it is constant on Linux.
const clockTick = 10 * time.Millisecond

func (m *mounted) cpu(t *testing.T) time.Duration {
	t.Helper()
	_, rest, _ := strings.Cut(harness.ReadFile(t, fmt.Sprintf("/proc/%d/stat", m.pid)), ") ")
	fields := strings.Fields(rest) // utime and stime are fields 14 and 15
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	must(t, errors.Join(err1, err2))
	return time.Duration(user+system) * clockTick
}

func (m *mounted) memory(t *testing.T) int {
	t.Helper()
	pages, err := strconv.Atoi(strings.Fields(harness.ReadFile(t, fmt.Sprintf("/proc/%d/statm", m.pid)))[1])
	must(t, err)
	return pages * os.Getpagesize()
}
