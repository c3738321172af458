//go:build linux

package mount

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/tests/internal/harness"
)

var (
	measure = flag.Bool("mount.measure", false, "measure; otherwise the test is skipped")
	memory  = flag.String("mount.memory", "/dev/shm", "directory in memory")
	notes   = flag.Int("mount.notes", 10_000, "number of notes to read")
	big     = flag.Int("mount.big", 100_000, "number of notes in a vault that is mounted but not read")
	million = flag.Int("mount.million", 1_000_000, "number of small notes in the largest vault")
	runs    = flag.Int("mount.runs", 5, "minimum runs of each reader")
	saves   = flag.Int("mount.saves", 200, "saves")
	peer    = flag.String("mount.serve", "", "only serve the first argument at the second, as loopback or floor (the test runs its own program with this flag)")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *peer == "" {
		harness.Main(m)
	} else if err := serve(*peer, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestMount prints one row per figure, with the values for a plain directory, for go-fuse's loopback mount of such a
// directory (the cost of FUSE alone), for the floor (floor_test.go: a mount that does only the work necessary for
// relayfs's guarantees), and for relayfs. Then it prints the ratio of relayfs to one of the other values, the same
// ratio of the floor, and the goal of the ratio: a goal below the ratio of the floor cannot be reached. -run selects
// steps: TestMount/save.
//
// CPU is the user and system time of the serving process for each save. It is more reliable than elapsed time while
// other programs are running.
//
// Notes to read are in memory (tmpfs), except relayfs's own vault, which is on the disk of TMPDIR. Notes to write are on
// that disk. The million notes are in memory, because creating them on a disk takes minutes. Most readers are real
// programs. Most figures are medians; "cold" is the first run on a fresh mount.
func TestMount(t *testing.T) {
	if !*measure {
		t.Skip("measures; run with -mount.measure")
	}
	b := &bench{Sandbox: harness.NewSandbox(t)}
	var err error
	b.memory, err = os.MkdirTemp(*memory, "relayfs-bench-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(b.memory) })
	dir, err := (disk.OS{}).OpenRoot(b.Dir)
	must(t, err)
	if !dir.OrdersNames() {
		fmt.Println("The disk does not order changes of names, so every save waits for it.")
	}
	dir.Close()
	printRow("", [ways]string{"plain", "loopback", "floor", "relayfs"}, "of peer", "floor is", "goal", false)
	for _, step := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"save", b.saving}, {"sed", b.editingAll}, {"writers", b.writers},
		{"read", b.reading}, {"read-only", b.readingOnly}, {"mcp", b.editingOverMCP},
		{"idle", b.idling}, {"big", b.mountingBig}, {"million", b.mountingMillion}, {"kept", b.mountingKept},
	} {
		t.Run(step.name, step.run)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mounted is a directory of notes that another process serves until the end of the test.
type mounted struct {
	notes string
	pid   int
	end   func()
}

func (b *bench) mount(t *testing.T, vault string, flags ...string) *mounted {
	t.Helper()
	m := b.Mount(t, vault, flags...)
	return &mounted{m.Path(""), m.Cmd.Process.Pid, func() { m.Stop(t) }}
}

// served mounts dir with the given peer: loopback, which measures the cost of FUSE alone, or floor.
func (b *bench) served(t *testing.T, peer, dir string) *mounted {
	t.Helper()
	harness.RequireFUSE(t)
	self, err := os.Executable()
	must(t, err)
	mnt := b.Mkdir(t, peer+"-"+filepath.Base(dir))
	log := harness.NewLog()
	cmd := exec.Command(self, "-mount.serve", peer, dir, mnt)
	cmd.Stderr = log
	must(t, cmd.Start())
	end := sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt) // the process may have ended
		_ = cmd.Wait()
	})
	t.Cleanup(end)
	if log.Says(t, ready+mnt); t.Failed() {
		t.FailNow()
	}
	return &mounted{mnt, cmd.Process.Pid, end}
}
