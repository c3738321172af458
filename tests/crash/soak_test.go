package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

const (
	soakReaders = 8
	soakWriters = 4
	// soakGrowth is how much more memory the mount may use at the end than after
	// a third of the time: caches that are still filling, not a leak.
	soakGrowth = 64 << 20
	// raceMemory is how many times as much memory a program takes, at least, with
	// the race detector; see "Runtime Overheads" in its manual.
	raceMemory = 5
)

// Eight read, four write and a person saves, for RELAYFS_SOAK (a duration, 5 s
// by default): no error, no lost change, and memory stays flat.
func TestSoak(t *testing.T) {
	t.Parallel()
	period := 5 * time.Second
	if env := os.Getenv("RELAYFS_SOAK"); env != "" {
		var err error
		if period, err = time.ParseDuration(env); err != nil {
			t.Fatalf("RELAYFS_SOAK: %v", err)
		}
	}
	rng := randomtest.New(t)
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for w := range soakWriters {
		for i := range 3 {
			files[soakNote(w, i)] = harness.TideTable
		}
	}
	m := s.Mount(t, s.Vault(t, "Vault", files))
	p := &person{vault: m.Vault, texts: make(map[string]string)}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range soakReaders {
		wg.Go(func() { readAround(t, m, stop) })
	}
	kept := make([]map[string]string, soakWriters)
	for w := range soakWriters {
		mine := rand.New(rand.NewPCG(rng.Uint64(), 0))
		wg.Go(func() { kept[w] = writeAround(t, m, mine, w, stop) })
	}
	wg.Go(func() { p.goOn(t, rng, stop) })
	time.Sleep(period / 3)
	early := residentMemory(t, m)
	time.Sleep(period * 2 / 3)
	late := residentMemory(t, m)
	close(stop)
	wg.Wait()
	growth := soakGrowth
	if os.Getenv("RELAYFS_RACE") == "1" {
		growth *= raceMemory
	}
	if late > early+growth {
		t.Errorf("the mount uses %d MB, %d MB after a third of the time", late>>20, early>>20)
	}
	for _, texts := range kept {
		for name, text := range texts {
			harness.CheckText(t, name+" on the mount", harness.ReadFile(t, m.Path(name)), text)
			raw := harness.ReadFile(t, m.VaultPath(name))
			harness.CheckText(t, "accepted view of "+name, diffwrap.Everything.Accepted(raw), text)
			harness.CheckText(t, "original view of "+name, diffwrap.Everything.Original(raw), harness.TideTable)
		}
	}
	for name, text := range p.texts {
		harness.Eventually(t, harness.StartTimeout, func() error {
			got, err := os.ReadFile(m.Path(name))
			if err == nil && string(got) != text {
				err = fmt.Errorf("%s on the mount is %q, want %q", name, got, text)
			}
			return err
		})
	}
}

func soakNote(writer, i int) string { return fmt.Sprintf("folder %d/note %d.md", i, writer) }

// readAround lists folders and reads notes until stop is closed. A note of a
// writer is never empty or missing.
func readAround(t *testing.T, m *harness.Mount, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		text, err := os.ReadFile(m.Path(soakNote(i%soakWriters, i%3)))
		if err != nil {
			t.Errorf("read: %v", err)
			return
		}
		if strings.ContainsRune(string(text), 0) {
			t.Errorf("a read holds NUL bytes: %q", text)
			return
		}
		entries, err := os.ReadDir(m.Path(fmt.Sprintf("folder %d", i%3)))
		if err != nil || len(entries) < soakWriters {
			t.Errorf("folder lists %d names, %v", len(entries), err)
			return
		}
		_, err = os.ReadFile(m.Path(fmt.Sprintf("folder %d/person %d.md", i%3, i%personNotes)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read of a person's note: %v", err)
			return
		}
	}
}

// writeAround saves the writer's notes until stop is closed, checks that each
// reads back, and returns what they hold then.
func writeAround(t *testing.T, m *harness.Mount, rng *rand.Rand, writer int, stop <-chan struct{}) map[string]string {
	texts := make(map[string]string)
	for i := range 3 {
		texts[soakNote(writer, i)] = harness.TideTable
	}
	for i := 0; ; i++ {
		select {
		case <-stop:
			return texts
		case <-time.After(time.Duration(rng.IntN(20)) * time.Millisecond):
		}
		name := soakNote(writer, i%3)
		text := randomEdit(rng, texts[name], i)
		if err := randomSave(rng, m.Path(name), text); err != nil {
			t.Errorf("save: %v", err)
			return texts
		}
		texts[name] = text
		if got, err := os.ReadFile(m.Path(name)); err != nil || string(got) != text {
			t.Errorf("%s reads %q, %v after writing %q", name, got, err, text)
			return texts
		}
	}
}

// residentMemory is what the mount's process has in memory, in bytes.
func residentMemory(t *testing.T, m *harness.Mount) int {
	t.Helper()
	fields := strings.Fields(harness.ReadFile(t, fmt.Sprintf("/proc/%d/statm", m.Cmd.Process.Pid)))
	pages, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
