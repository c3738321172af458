//go:build !windows

package fusefs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Check says whether dir can be mounted: FUSE is there and usable, and dir is an
// existing directory, empty unless nonEmpty is set, on which nothing of ours is
// mounted. A dead mount that relayfs left there is cleared away. What is missing
// comes as a *SetupError.
func Check(dir string, nonEmpty bool) error {
	if err := checkDevice(); err != nil {
		return err
	}
	if err := checkHelper(); err != nil {
		return err
	}
	if err := clearDeadMount(dir); err != nil {
		return err
	}
	return checkMountpoint(dir, nonEmpty)
}

// probe asks the server of a mount whether it lives: ENOTCONN if it does not,
// os.ErrDeadlineExceeded if it keeps silent. A stat would not do, because the kernel
// answers it from its cache. A question that the server's end interrupts is put again.
func probe(dir string) error {
	answer := make(chan error, 1)
	go func() {
		var st syscall.Statfs_t
		err := syscall.Statfs(dir, &st)
		if errors.Is(err, syscall.ECONNABORTED) {
			err = syscall.Statfs(dir, &st)
		}
		answer <- err
	}()
	select {
	case err := <-answer:
		return err
	case <-time.After(probePatience):
		return os.ErrDeadlineExceeded
	}
}

// probePatience is how long the server of a mount may keep silent: one that is
// suspended does for ever.
const probePatience = 5 * time.Second

// silentMount says that the server of a mount does not answer.
func silentMount(dir string) *SetupError {
	return &SetupError{
		Problem: fmt.Sprintf("the process that serves %q does not answer", dir),
		Hint:    fmt.Sprintf("it may be stopped (Ctrl-Z): continue it with `kill -CONT`, or detach the mount with `fusermount3 -uz %s`", dir),
	}
}

// clearDeadMount takes away a mount whose server is gone, if it was one of ours:
// the kernel refuses to mount over it.
func clearDeadMount(dir string) error {
	err := probe(dir)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return silentMount(dir)
	}
	if !errors.Is(err, syscall.ENOTCONN) {
		return nil
	}
	fstype, tableErr := mountedAt(dir)
	if tableErr != nil || fstype != mountType {
		return &SetupError{
			Problem: fmt.Sprintf("mountpoint %q is a dead mount of something else", dir),
			Hint:    fmt.Sprintf("clear it with `fusermount3 -uz %s`", dir),
			Err:     err,
		}
	}
	return lazyUnmount(dir)
}

func checkMountpoint(dir string, nonEmpty bool) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &SetupError{
			Problem: fmt.Sprintf("mountpoint %q does not exist", dir), Hint: fmt.Sprintf("make it with `mkdir -p %s`", dir),
		}
	case err != nil:
		return &SetupError{Problem: fmt.Sprintf("mountpoint %q cannot be used", dir), Hint: "choose a directory of your own", Err: err}
	case !info.IsDir():
		return &SetupError{Problem: fmt.Sprintf("mountpoint %q is not a directory", dir), Hint: "give an empty directory"}
	}
	if fstype, err := mountedAt(dir); err == nil && fstype == mountType {
		return &SetupError{
			Problem: fmt.Sprintf("a relayfs is mounted at %q already", dir), Hint: fmt.Sprintf("unmount it with `relayfs unmount %s`", dir),
		}
	}
	if nonEmpty {
		return nil
	}
	return checkEmpty(dir)
}

func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &SetupError{Problem: fmt.Sprintf("mountpoint %q cannot be listed", dir), Hint: "choose a directory of your own", Err: err}
	}
	if len(entries) > 0 {
		return &SetupError{
			Problem: fmt.Sprintf("mountpoint %q is not empty: the mount would hide %q", dir, entries[0].Name()),
			Hint:    "give an empty directory, or hide its files with --nonempty",
		}
	}
	return nil
}
