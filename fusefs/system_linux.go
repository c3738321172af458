package fusefs

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// What depends on the system. Linux is told of every change, and so may keep what it knows.

// cacheTimeout is how long the kernel may keep attributes and names. It is told
// about every change, so this only bounds what a lost notification could do.
const cacheTimeout = time.Hour

// keepCaches says that the kernel may keep pages and listings. The flags say so in the
// answers to OPEN and OPENDIR.
const (
	keepCaches     = true
	fileCacheFlags = fuse.FOPEN_KEEP_CACHE
	dirCacheFlags  = fuse.FOPEN_CACHE_DIR | fuse.FOPEN_KEEP_CACHE
)

// ownStatus is the status of this process.
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
	case errors.Is(err, syscall.EPERM): // the mode of the file has its own error
		return &SetupError{Problem: "/dev/fuse is forbidden here", Hint: "give the container --device /dev/fuse --cap-add SYS_ADMIN", Err: err}
	default:
		return &SetupError{
			Problem: "/dev/fuse cannot be opened",
			Hint:    "run as a user who may read and write /dev/fuse (mode 0666 on most systems, or a group named fuse)",
			Err:     err,
		}
	}
}

// checkPrivilege looks for the capability to mount, CAP_SYS_ADMIN. Root must have
// it; for others, it must be within what setuid programs may gain. status is
// /proc/self/status, see proc_pid_status(5).
func checkPrivilege(status string) error {
	set := "CapBnd"
	if os.Geteuid() == 0 {
		set = "CapEff"
	}
	text, err := os.ReadFile(status)
	if err != nil {
		return nil // mounting will show it
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		bits, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		if name == set && err == nil && bits>>unix.CAP_SYS_ADMIN&1 == 0 {
			return &SetupError{
				Problem: "nothing can be mounted here: the capability CAP_SYS_ADMIN is missing",
				Hint:    "give the container --device /dev/fuse --cap-add SYS_ADMIN --security-opt apparmor=unconfined, or mount outside of it",
			}
		}
	}
	return nil
}

func mountHint() string {
	if p, ok := errors.AsType[*SetupError](checkPrivilege(ownStatus)); ok {
		return p.Hint
	}
	return "run `relayfs doctor`; --allow-other needs user_allow_other in /etc/fuse.conf"
}

// checkHelper looks for the setuid program by which everybody but root mounts.
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
		// 36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/sda rw
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !ok || len(fields) < 5 {
			continue
		}
		m := mountEntry{dir: unescape.Replace(fields[4])}
		m.fstype, _, _ = strings.Cut(after, " ")
		_, m.minor, _ = strings.Cut(fields[2], ":")
		mounts = append(mounts, m)
	}
	return mounts
}

// unescape undoes the escapes of the kernel in the table of mounts.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)
