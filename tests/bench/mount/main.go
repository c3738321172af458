//go:build linux

// Mount measures how fast programs are on a relayfs mount and over MCP. It prints one row per figure, with the values
// for a plain directory, for go-fuse's loopback mount of such a directory (the cost of FUSE alone), for the floor
// (floor.go: a mount that does only the work necessary for relayfs's guarantees), and for relayfs. Then it prints the
// ratio of relayfs to one of the other values, the same ratio of the floor, and the goal of the ratio: a goal below the
// ratio of the floor cannot be reached.
//
//	go run ./tests/bench/mount -relayfs ./relayfs
//
// CPU is the user and system time of the serving process for each save. It is more reliable than elapsed time while
// other programs are running.
//
// Notes to read are in memory (tmpfs), except relayfs's own vault, which is on a disk. Notes to write are on that disk.
// The million notes are in memory, because creating them on a disk takes minutes. Most readers are real programs. Most
// figures are medians; "cold" is the first run on a fresh mount. The program creates directories below -dir and
// -memory, and removes them.
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
	notes, big, million  int
	runs, saves          int
	steps                string
	serve                string
}

func main() {
	var o options
	flag.StringVar(&o.relayfs, "relayfs", "./relayfs", "the program")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "directory on the disk on which writes are measured")
	flag.StringVar(&o.memory, "memory", "/dev/shm", "directory in memory")
	flag.IntVar(&o.notes, "notes", 10_000, "number of notes to read")
	flag.IntVar(&o.big, "big", 100_000, "number of notes in a vault that is mounted but not read; 0 skips this measurement")
	flag.IntVar(&o.million, "million", 1_000_000, "number of small notes in the largest vault; 0 skips it")
	flag.IntVar(&o.runs, "runs", 5, "minimum runs of each reader")
	flag.IntVar(&o.saves, "saves", 200, "saves")
	flag.StringVar(&o.steps, "steps", "", "measurements to run, separated by commas; all if empty: "+strings.Join(stepNames(), ", "))
	flag.StringVar(&o.serve, "serve", "", "only serve the first argument at the second, as loopback or floor (the bench runs itself with this flag)")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "mount:", err)
		os.Exit(1)
	}
}

func run(o options) (err error) {
	if o.serve != "" {
		return serve(o.serve, flag.Arg(0), flag.Arg(1))
	}
	b := &bench{options: o}
	if b.relayfs, err = filepath.Abs(o.relayfs); err != nil {
		return err
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.work, err = os.MkdirTemp(o.dir, "relayfs-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	if b.memory, err = os.MkdirTemp(o.memory, "relayfs-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.memory)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() { // removes the mounts and directories after a signal
		<-stop
		b.end()
		os.RemoveAll(b.work)
		os.RemoveAll(b.memory)
		os.Exit(1)
	}()
	defer b.end()
	if dir, err := (disk.OS{}).OpenRoot(b.work); err == nil {
		if !dir.OrdersNames() {
			fmt.Println("The disk does not order changes of names, so every save waits for it.")
		}
		dir.Close()
	}
	printRow("", [ways]string{"plain", "loopback", "floor", "relayfs"}, "of peer", "floor is", "goal", false)
	for _, step := range steps {
		if o.steps != "" && !strings.Contains(","+o.steps+",", ","+step.name+",") {
			continue
		}
		if err := step.run(b); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		b.end()
	}
	return nil
}
