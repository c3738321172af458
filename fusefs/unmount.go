//go:build !windows

package fusefs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// helper mounts and unmounts for users who are not root.
const helper = "fusermount3"

// Unmount takes away the relayfs mounted at dir, also one whose server is dead.
// Its server, if it lives, commits what is written and not yet closed. A mount
// that programs still use is left alone: the *SetupError names them.
func Unmount(dir string) error {
	fstype, err := mountedAt(dir)
	if err != nil {
		return &SetupError{Problem: fmt.Sprintf("%q cannot be looked up", dir), Hint: "give the directory of a mount", Err: err}
	}
	if fstype != mountType {
		return &SetupError{Problem: fmt.Sprintf("no relayfs is mounted at %q", dir), Hint: "list the mounts with `findmnt -t " + mountType + "`"}
	}
	switch err := probe(dir); {
	case errors.Is(err, syscall.ENOTCONN):
		return lazyUnmount(dir)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return silentMount(dir)
	}
	err = unmountOnce(dir, 0)
	if err == nil {
		return nil
	}
	if !errors.Is(err, syscall.EBUSY) {
		return &SetupError{Problem: fmt.Sprintf("%q is not unmounted", dir), Hint: "unmount as the user who mounted it", Err: err}
	}
	return &SetupError{
		Problem: fmt.Sprintf("%q is busy", dir) + usedBy(dir),
		Hint:    fmt.Sprintf("end them or leave the directory, then try again; or detach it with `fusermount3 -uz %s`", dir),
	}
}

// lazyUnmount detaches dir at once; who still uses it keeps it until done.
func lazyUnmount(dir string) error {
	if err := unmountOnce(dir, detachFlag); err != nil {
		return &SetupError{
			Problem: fmt.Sprintf("the mount at %q is not cleared", dir), Hint: fmt.Sprintf("try `fusermount3 -uz %s`", dir), Err: err,
		}
	}
	return nil
}

// unmountOnce unmounts dir by system call, or by the helper for those who may
// not. EBUSY if it is in use and flags has no detachFlag.
func unmountOnce(dir string, flags int) error {
	err := unix.Unmount(dir, flags|unmountFlags)
	if err == nil || !errors.Is(err, syscall.EPERM) {
		return err
	}
	args := []string{"-u", "-q", "--", dir}
	if flags&detachFlag != 0 {
		args[0] = "-uz"
	}
	out, err := exec.Command(helper, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	if flags&detachFlag == 0 {
		if fstype, tableErr := mountedAt(dir); tableErr == nil && fstype != "" && usedBy(dir) != "" {
			return syscall.EBUSY
		}
	}
	return fmt.Errorf("%s: %w: %s", helper, err, strings.TrimSpace(string(out)))
}

// usedBy names up to five processes that have their working directory or an
// open file below dir, " (used by 12 vim, 34 bash)", as far as /proc shows.
func usedBy(dir string) string {
	dir, err := realDir(dir)
	if err != nil {
		return ""
	}
	var users []string
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		if len(users) == 5 {
			break
		}
		if pid := filepath.Base(p); pid != strconv.Itoa(os.Getpid()) && uses(p, dir) {
			name, _ := os.ReadFile(p + "/comm")
			users = append(users, pid+" "+strings.TrimSpace(string(name)))
		}
	}
	if len(users) == 0 {
		return ""
	}
	return " (used by " + strings.Join(users, ", ") + ")"
}

// uses reads links only: a stat of one that leads into a mount could wait for it.
func uses(proc, dir string) bool {
	links, _ := filepath.Glob(proc + "/fd/*")
	links = append(links, proc+"/cwd", proc+"/root")
	return slices.ContainsFunc(links, func(link string) bool {
		to, err := os.Readlink(link)
		return err == nil && (to == dir || strings.HasPrefix(to, dir+"/"))
	})
}
