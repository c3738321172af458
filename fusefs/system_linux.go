package fusefs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// cacheTimeout is the time for which the kernel may keep attributes and names. The kernel is notified of every change,
// so this time only limits the effect of a lost notification.
const cacheTimeout = time.Hour

// keepCaches is set if the kernel may keep pages and listings. The flags grant this in the answers
// to OPEN and OPENDIR.
const (
	keepCaches     = true
	fileCacheFlags = fuse.FOPEN_KEEP_CACHE
	dirCacheFlags  = fuse.FOPEN_CACHE_DIR | fuse.FOPEN_KEEP_CACHE
	noOpendir      = fuse.CAP_NO_OPENDIR_SUPPORT // since Linux 5.1
)

const ownStatus = "/proc/self/status"

const (
	detachFlag   = unix.MNT_DETACH
	unmountFlags = unix.UMOUNT_NOFOLLOW
)

func checkDevice() error {
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrNotExist):
		return &SetupError{
			Problem: "/dev/fuse does not exist",
			Hint:    "load the kernel's module with `modprobe fuse`, or give the container --device /dev/fuse --cap-add SYS_ADMIN",
		}
	case errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return &SetupError{Problem: "the kernel has no FUSE", Hint: "load its module with `modprobe fuse`", Err: err}
	case errors.Is(err, syscall.EPERM): // wrong permissions of the file give EACCES
		return &SetupError{Problem: "/dev/fuse is forbidden here", Hint: "give the container --device /dev/fuse --cap-add SYS_ADMIN", Err: err}
	default:
		return &SetupError{
			Problem: "/dev/fuse cannot be opened",
			Hint:    "run as a user who may read and write /dev/fuse (mode 0666 on most systems, or a group named fuse)",
			Err:     err,
		}
	}
}

// checkPrivilege checks for CAP_SYS_ADMIN, the capability to mount. Root must have it. For other users it must be among
// the capabilities that setuid programs may gain. status is the path of /proc/self/status (see proc_pid_status(5));
// tests use another file.
func checkPrivilege(status string) error {
	set := "CapBnd"
	if os.Geteuid() == 0 {
		set = "CapEff"
	}
	text, err := os.ReadFile(status)
	if err != nil || !bytes.Contains(text, []byte(set+":")) || setIn(text, set)>>unix.CAP_SYS_ADMIN&1 == 1 {
		return nil // if the capabilities are unknown, mounting will fail if this one is missing
	}
	return &SetupError{
		Problem: "nothing can be mounted here: the capability CAP_SYS_ADMIN is missing",
		Hint:    "give the container --device /dev/fuse --cap-add SYS_ADMIN --security-opt apparmor=unconfined, or mount outside of it",
	}
}

func mountHint() string {
	if p, ok := errors.AsType[*SetupError](checkPrivilege(ownStatus)); ok {
		return p.Hint
	}
	return "run `relayfs doctor`; the setting allow-other needs user_allow_other in /etc/fuse.conf"
}

// checkHelper looks for the setuid program with which users other than root mount.
func checkHelper() error {
	if os.Geteuid() == 0 {
		return nil
	}
	if _, err := exec.LookPath(helper); err != nil {
		return &SetupError{Problem: helper + " is not in PATH", Hint: "install the package fuse3 (apt install fuse3, dnf install fuse3)"}
	}
	return nil
}

func mountTable() ([]mountEntry, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	return readMounts(string(table)), err
}

// readMounts reads a table in the format of /proc/self/mountinfo, see proc(5).
func readMounts(table string) (mounts []mountEntry) {
	for line := range strings.Lines(table) {
		// An example of a line: 36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/sda rw
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !ok || len(fields) < 5 {
			continue
		}
		m := mountEntry{dir: unescape.Replace(fields[4])}
		m.fstype, after, _ = strings.Cut(after, " ")
		m.source, _, _ = strings.Cut(after, " ")
		_, m.minor, _ = strings.Cut(fields[2], ":")
		mounts = append(mounts, m)
	}
	return mounts
}

// unescape reverts the escapes that the kernel uses in the table of mounts.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)

// closeOnExec keeps child processes from inheriting any descriptor except the standard ones. It is for the descriptor
// of the mount, which go-fuse opens without O_CLOEXEC. A connection lasts as long as any process has the descriptor
// open. closeOnExec has no effect before Linux 5.11.
func closeOnExec() { _ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) }

// A notification waits in the kernel for a folder whose lock a request holds, and no signal ends that wait. If the
// process is killed at that moment, its notifying thread waits for an answer that no thread can give any more. As long
// as the thread waits, the process does not end, its /dev/fuse stays open, and every program that uses the mount hangs.
// So another process must abort the connection.

func killed(pid int) bool {
	proc := fmt.Sprintf("/proc/%d", pid)
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		return false
	}
	if bytes.Contains(status, []byte("\nState:\tZ")) { // the first thread may have ended before the others
		if threads, _ := filepath.Glob(proc + "/task/*"); len(threads) > 1 {
			return true
		}
	}
	const sigkill = 1 << (unix.SIGKILL - 1)
	return setIn(status, "SigPnd")&sigkill != 0
}

// servesFUSE reports whether the process has /dev/fuse open, was killed, or has ended. It returns false if the serving
// process is in another PID namespace and another process has the same PID in this namespace.
func servesFUSE(pid int) bool {
	proc := fmt.Sprintf("/proc/%d", pid)
	if _, err := os.Stat(proc); err != nil || killed(pid) {
		return true
	}
	links, _ := filepath.Glob(proc + "/fd/*")
	return slices.ContainsFunc(links, func(link string) bool {
		to, err := os.Readlink(link)
		return err == nil && to == "/dev/fuse"
	})
}

// control is the folder in which fusectl shows the connections. The user who mounted a file system may abort its
// connection.
const control = "/sys/fs/fuse/connections"

// abort ends the connection of a mount, so that all requests fail. If fusectl cannot do that, abort forces an unmount,
// which only root may do, and which ends the connection, too.
func abort(m mountEntry) error {
	err := os.WriteFile(filepath.Join(control, m.minor, "abort"), []byte("1"), 0)
	if err == nil {
		return nil
	}
	if unix.Unmount(m.dir, unix.MNT_FORCE|unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) == nil {
		return nil
	}
	return err
}
