//go:build !windows

package fusefs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/owner"
)

const (
	fsName    = "relayfs"        // prefix of the mount's source
	mountType = "fuse." + fsName // the mount's type in the table of mounts
	helper    = "fusermount3"    // mounts and unmounts for users who are not root
)

type mountEntry struct {
	dir, fstype string
	source      string // source in the table of mounts; for a mount of relayfs it is the result of sourceOf
	minor       string // minor device number; for FUSE it is the connection's name
}

// sourceOf returns the mount's source. It includes the PID of the serving process, because a process that hangs cannot
// answer a request for its PID.
func sourceOf(pid int) string { return fmt.Sprintf("%s-%d", fsName, pid) }

// server returns the ID of the process that serves a mount of relayfs, or 0 for other mounts.
func (m mountEntry) server() int {
	number, ok := strings.CutPrefix(m.source, fsName+"-")
	pid, err := strconv.Atoi(number)
	if m.fstype != mountType || !ok || err != nil {
		return 0
	}
	return pid
}

// isServerKilled reports whether the serving process was killed and has not ended. Such a process does not answer any
// more, and may wait in the kernel until its mount is freed.
func (m mountEntry) isServerKilled() bool { return m.server() > 0 && killed(m.server()) }

// ServerPID returns the PID of the process that serves the relayfs at dir, or that served it if the mount is dead. It
// returns 0 for other mounts, and if the process with that PID does not serve FUSE, for example because the server runs
// in a container.
func ServerPID(dir string) int {
	m, err := mountOf(dir)
	pid := m.server()
	if err != nil || pid == 0 || !servesFUSE(pid) {
		return 0
	}
	return pid
}

// free ends a mount whose process was killed, and so ends that process. Programs that wait for the mount get an error.
func (m mountEntry) free() error {
	if err := abort(m); err != nil {
		return &SetupError{
			Problem: fmt.Sprintf("the process that served %q was killed and cannot end: programs that use the mount hang", m.dir),
			Hint:    fmt.Sprintf("run `umount -f %[1]s` as root; `fusermount3 -uz %[1]s` frees the directory, but not the programs", owner.ShellWord(m.dir)),
			Err:     err,
		}
	}
	for end := time.Now().Add(killedTimeout); m.isServerKilled() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if now, err := mountOf(m.dir); err == nil && now.minor != m.minor {
		return nil // the abort has already detached the mount
	}
	return lazyUnmount(m.dir)
}

// killedTimeout is the maximum wait for the end of a killed process after its mount was freed.
const killedTimeout = time.Second

// FreeKilled unmounts the relayfs at dir if its process was killed and has not ended. The process ends, and programs
// that wait for the mount get an error. FreeKilled does not change other mounts. The error is a *SetupError.
func FreeKilled(dir string) error {
	if m, err := mountOf(dir); err == nil && m.isServerKilled() {
		return m.free()
	}
	return nil
}

// mountOf returns the mount at dir, or the zero mountEntry. It reads the kernel's table and never
// touches dir, which may be a dead mount.
func mountOf(dir string) (mountEntry, error) {
	dir, err := realDir(dir)
	if err != nil {
		return mountEntry{}, err
	}
	mounts, err := mountTable()
	return topmost(mounts, dir), err
}

func topmost(mounts []mountEntry, dir string) (found mountEntry) {
	for _, m := range mounts {
		if m.dir == dir {
			found = m
		}
	}
	return found
}

// realDir resolves the symbolic links in dir's parent, but does not resolve dir itself.
func realDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	return filepath.Join(parent, filepath.Base(dir)), err
}

// Mountable returns a *SetupError if nothing can be mounted on this system, at any mountpoint.
func Mountable() error { return cmp.Or(checkDevice(), checkHelper()) }

// Check returns an error if nothing can be mounted at dir. FUSE must be available and usable. dir must be an existing
// empty directory without a mounted relayfs. Check clears a dead mount that relayfs left
// there. The error is a *SetupError that describes what is missing.
func Check(dir string) error {
	if err := Mountable(); err != nil {
		return err
	}
	clear, err := deadMount(dir) // the kernel refuses to mount over a dead mount
	if err == nil && clear != nil {
		err = clear()
	}
	if err != nil {
		return err
	}
	return checkMountpoint(dir)
}

// probe asks the server of a mount whether it is alive. It returns ENOTCONN if the server is dead, and
// os.ErrDeadlineExceeded if the server does not answer. A stat is not enough, because the kernel answers it from its
// cache. If the end of the server interrupts the request, probe asks again.
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
	case <-time.After(probeTimeout):
		return os.ErrDeadlineExceeded
	}
}

// probeTimeout is the time within which the server of a mount must answer. A suspended server never answers.
const probeTimeout = 5 * time.Second

// deadMount returns a function that clears the mount at dir, if that is a dead mount of relayfs. It returns nil if there
// is no dead mount, and an error if a mount must be cleared but cannot be.
func deadMount(dir string) (clear func() error, err error) {
	m, tableErr := mountOf(dir)
	if tableErr == nil && m.isServerKilled() {
		return m.free, nil
	}
	switch err := probe(dir); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &SetupError{
			Problem: fmt.Sprintf("the process that serves %q does not answer", dir),
			Hint:    fmt.Sprintf("it may be stopped (Ctrl-Z): continue it with `kill -CONT`, or detach the mount with `fusermount3 -uz %s`", owner.ShellWord(dir)),
		}
	case !errors.Is(err, syscall.ENOTCONN):
		return nil, nil
	case tableErr != nil || m.fstype != mountType:
		return nil, &SetupError{
			Problem: fmt.Sprintf("mountpoint %q is a dead mount of another program", dir),
			Hint:    fmt.Sprintf("clear it with `fusermount3 -uz %s`", owner.ShellWord(dir)),
			Err:     err,
		}
	}
	return func() error { return lazyUnmount(dir) }, nil
}

// CheckMountpoint returns an error if dir cannot be a mountpoint, or if allowOther is set and the system does not
// permit access by other users. It changes nothing. It returns nil for a dead mount that relayfs left, because Check
// clears that mount.
func CheckMountpoint(dir string, allowOther bool) error {
	if allowOther {
		if err := checkAllowOther(allowConfig); err != nil {
			return err
		}
	}
	if clear, err := deadMount(dir); err != nil || clear != nil {
		return err
	}
	return checkMountpoint(dir)
}

func checkMountpoint(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &SetupError{
			Problem: fmt.Sprintf("mountpoint %q does not exist", dir), Hint: fmt.Sprintf("create it with `mkdir -p %s`", owner.ShellWord(dir)),
		}
	case err != nil:
		return &SetupError{Problem: fmt.Sprintf("mountpoint %q cannot be used", dir), Hint: "choose a directory of your own", Err: err}
	case !info.IsDir():
		return &SetupError{Problem: fmt.Sprintf("mountpoint %q is not a directory", dir), Hint: "give an empty directory"}
	case os.Geteuid() != 0 && unix.Access(dir, unix.W_OK) != nil:
		return &SetupError{Problem: fmt.Sprintf("you have no permission to write to mountpoint %q, so you cannot mount over it", dir), Hint: "choose a directory of your own"}
	}
	if m, err := mountOf(dir); err == nil && m.fstype == mountType {
		return &SetupError{
			Problem: fmt.Sprintf("relayfs is already mounted at %q", dir), Hint: fmt.Sprintf("unmount it with `relayfs unmount %s`", owner.ShellWord(dir)),
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &SetupError{Problem: fmt.Sprintf("mountpoint %q cannot be listed", dir), Hint: "choose a directory of your own", Err: err}
	}
	if len(entries) > 0 {
		return &SetupError{
			Problem: fmt.Sprintf("mountpoint %q is not empty: the mount would hide %q", dir, entries[0].Name()),
			Hint:    "give an empty directory",
		}
	}
	return nil
}

func Mounted() (dirs []string) {
	mounts, _ := mountTable() // mounts is empty if the table cannot be read
	for _, m := range mounts {
		if m.fstype == mountType && !slices.Contains(dirs, m.dir) {
			dirs = append(dirs, m.dir)
		}
	}
	return dirs
}

// Unmount unmounts the relayfs at dir, even if its server is dead. A live server commits the written data of open
// files. If programs still use the mount, it stays, and the *SetupError names some of these programs if possible.
func Unmount(dir string) error {
	m, err := mountOf(dir)
	if err != nil {
		return &SetupError{Problem: fmt.Sprintf("%q cannot be looked up", dir), Hint: "give the directory of a mount", Err: err}
	}
	if m.fstype != mountType {
		return &SetupError{Problem: fmt.Sprintf("no relayfs is mounted at %q", dir), Hint: "list the mounts with `findmnt -t " + mountType + "`"}
	}
	clear, err := deadMount(dir)
	switch {
	case err != nil:
		return err
	case clear != nil:
		return clear()
	}
	err = unmountOnce(dir, 0)
	for end := time.Now().Add(busyTimeout); errors.Is(err, syscall.EBUSY) && time.Now().Before(end); err = unmountOnce(dir, 0) {
		time.Sleep(10 * time.Millisecond)
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, syscall.EBUSY) {
		return &SetupError{Problem: fmt.Sprintf("%q is not unmounted", dir), Hint: "unmount as the user who mounted it", Err: err}
	}
	return &SetupError{
		Problem: fmt.Sprintf("%q is busy", dir) + usedBy(dir),
		Hint:    fmt.Sprintf("end the programs that use it, or leave the directory, then try again; or detach it with `fusermount3 -uz %s`", owner.ShellWord(dir)),
	}
}

// busyTimeout is the time for which Unmount tries again if the mount is busy. The process that wakes watchers, and the
// programs that it wakes, may have files open for a moment.
const busyTimeout = time.Second

// lazyUnmount detaches dir without waiting for the programs that use it. These programs keep access to the mount until
// they are done.
func lazyUnmount(dir string) error {
	if err := unmountOnce(dir, detachFlag); err != nil {
		return &SetupError{
			Problem: fmt.Sprintf("the mount at %q could not be cleared", dir), Hint: fmt.Sprintf("try `fusermount3 -uz %s`", owner.ShellWord(dir)), Err: err,
		}
	}
	return nil
}

// unmountOnce unmounts dir by a system call or, if the user may not do that, by the helper. It returns EBUSY if dir is
// in use and flags does not have detachFlag.
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
		if m, tableErr := mountOf(dir); tableErr == nil && m.fstype != "" && usedBy(dir) != "" {
			return syscall.EBUSY
		}
	}
	return fmt.Errorf("%s: %w: %s", helper, err, strings.TrimSpace(string(out)))
}

// usedBy returns a text with at most five processes that have dir or a path below it open, or as their working or root
// directory, such as " (used by 12 vim, 34 bash)". It returns "" if /proc does not show any.
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

// uses reports whether a process uses dir. It only reads links, because a stat of a link into a mount could wait for
// the mount.
func uses(proc, dir string) bool {
	links, _ := filepath.Glob(proc + "/fd/*")
	links = append(links, proc+"/cwd", proc+"/root")
	return slices.ContainsFunc(links, func(link string) bool {
		to, err := os.Readlink(link)
		return err == nil && (to == dir || strings.HasPrefix(to, dir+"/"))
	})
}
