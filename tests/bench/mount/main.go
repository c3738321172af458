//go:build linux

// Mount compares a relayfs mount with a plain directory, and with go-fuse's loopback mount of such a directory, which
// shows the cost of FUSE alone on this machine. It prints one row per figure: the value of the plain directory, the
// loopback's, relayfs's, the ratios of relayfs to both, and the maximum of the first ratio. It reports figures above the
// maximum. A goal that the loopback also misses cannot be reached on this machine.
//
//	go run ./tests/bench/mount -relayfs ./relayfs
//
// CPU is the user and system time of the serving process for each save. It is more reliable than elapsed time if other
// programs are running.
//
// Notes to read are in memory (tmpfs), notes to write on the vault's own disk. Readers are the real programs. Figures
// are medians; "cold" is the first run on a fresh mount. Directories are created below -dir and -memory, and removed.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/relayfs/relayfs/bridge/disk"
)

type options struct {
	relayfs, dir, memory string
	notes, big, runs     int
	saves                int
	steps                string
	loopback             string
}

func main() {
	var o options
	flag.StringVar(&o.relayfs, "relayfs", "./relayfs", "the program")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "directory on the disk on which writes are measured")
	flag.StringVar(&o.memory, "memory", "/dev/shm", "directory in memory")
	flag.IntVar(&o.notes, "notes", 10_000, "number of notes to read")
	flag.IntVar(&o.big, "big", 100_000, "number of notes in the vault that is only mounted; 0 skips it")
	flag.IntVar(&o.runs, "runs", 5, "minimum runs of each reader")
	flag.IntVar(&o.saves, "saves", 200, "saves")
	flag.StringVar(&o.steps, "steps", "", "measurements to run: read, read-only, save, sed, writers, idle, big, kept; all if empty")
	flag.StringVar(&o.loopback, "loopback", "", "only serve this directory at the directory in the argument (the bench runs itself with this flag)")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "mount:", err)
		os.Exit(1)
	}
}

func run(o options) (err error) {
	if o.loopback != "" {
		return serveLoopback(o.loopback, flag.Arg(0))
	}
	program, err := filepath.Abs(o.relayfs)
	if err != nil {
		return err
	}
	b := &bench{options: o}
	b.relayfs = program
	if b.work, err = os.MkdirTemp(o.dir, "relayfs-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	if b.plain, err = os.MkdirTemp(o.memory, "relayfs-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.plain)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() { // remove mounts and the 100,000 notes at the end
		<-stop
		b.end()
		os.RemoveAll(b.work)
		os.RemoveAll(b.plain)
		os.Exit(1)
	}()
	defer b.end()
	if dir, err := (disk.OS{}).OpenRoot(b.work); err == nil {
		if !dir.OrdersNames() {
			fmt.Println("The disk does not order changes of names, so every save waits for it.")
		}
		dir.Close()
	}
	line("", [3]string{"plain", "loopback", "relayfs"}, "/plain", "/loopback", "at most", false)
	if err := b.makeNotes(); err != nil {
		return err
	}
	for _, step := range b.measurements() {
		if o.steps != "" && !strings.Contains(","+o.steps+",", ","+step.name+",") {
			continue
		}
		if err := step.run(); err != nil {
			return err
		}
	}
	return nil
}
