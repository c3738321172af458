//go:build linux

// Mount measures a relayfs mount against a plain directory, and against a loopback mount of such a directory, go-fuse's
// own: what FUSE alone costs on this machine. It prints one row per figure: the plain one, the loopback's, that of relayfs,
// its ratios to both, and the most that the first of these may be; a figure that misses it says so. A goal that the
// loopback misses, too, is out of reach here.
//
//	go run ./tests/bench/mount -relayfs ./relayfs
//
// CPU is what the process that serves the mount used, user and system, for each save.
// It tells more than time where other programs are at work, too.
//
// The notes lie in memory (tmpfs) for what is read and on the vault's own disk
// for what is written. Readers are the real programs. Figures are medians;
// "cold" is the first run on a fresh mount. Directories are made below -dir and
// -memory, and removed.
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

// options are the command line.
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
	flag.StringVar(&o.dir, "dir", os.TempDir(), "a directory on the disk to measure writes on")
	flag.StringVar(&o.memory, "memory", "/dev/shm", "a directory in memory")
	flag.IntVar(&o.notes, "notes", 10_000, "notes of the vault that is read")
	flag.IntVar(&o.big, "big", 100_000, "notes of the vault that is only mounted; 0 leaves it out")
	flag.IntVar(&o.runs, "runs", 5, "runs of each reader at least")
	flag.IntVar(&o.saves, "saves", 200, "saves")
	flag.StringVar(&o.steps, "steps", "", "what to measure, of read, read-only, save, sed, writers, idle, big and kept; all if empty")
	flag.StringVar(&o.loopback, "loopback", "", "serve this directory at the one that is the argument, and measure nothing: the bench calls itself so")
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
	go func() { // leave no mount and no 100,000 notes behind
		<-stop
		b.end()
		os.RemoveAll(b.work)
		os.RemoveAll(b.plain)
		os.Exit(1)
	}()
	defer b.end()
	if dir, err := (disk.OS{}).OpenRoot(b.work); err == nil {
		if !dir.OrdersNames() {
			fmt.Println("The disk does not keep changes of names in order, so every save waits for it.")
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
