package fusefs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/fusefs/internal/invalidate"
)

// A notification waits, in the kernel, for folders and pages that requests hold;
// no signal ends that wait, not even SIGKILL. In a process killed just then the
// notifying thread waits for an answer that no thread is left to give, and as it
// never ends, the process's /dev/fuse is never closed, which is what would end
// the requests: the mount, and everybody who uses it, stays wedged until an
// administrator aborts the connection.
//
// Therefore notifications have a thread with a table of open files of its own,
// and in it a /dev/fuse of its own for the same connection. When the process is
// killed its other threads close theirs; the kernel then fails the requests that
// were read from it. Those that were not read yet are answered by the guard, a
// process that outlives this one (guard_linux.go). So the notification comes to its
// end, and with it the thread.

// notifier is what go-fuse tells the kernel through. It implements
// fs.ServerCallbacks.
type notifier struct {
	server  *fuse.Server // for what needs no thread, and where one cannot be had
	notices chan notice  // nil then
	done    chan struct{}
	guard   *guard // nil if there is none
}

// notice is one message and where its result goes.
type notice struct {
	msg    []byte
	result chan<- syscall.Errno
}

// Codes of notifications in the header's error field, and the size of the
// header: fuse_notify_code and fuse_out_header of linux/fuse.h.
const (
	notifyInvalInode = 2
	notifyInvalEntry = 3
	outHeaderSize    = 16
)

func newNotifier() *notifier { return &notifier{done: make(chan struct{})} }

// start gives the notifier its thread, and the mount at dir its guard if command
// is not empty. After an error it notifies through server.
func (n *notifier) start(server *fuse.Server, dir string, command []string) error {
	n.server = server
	device, err := cloneConnection(dir)
	if err != nil {
		return err
	}
	defer device.Close() // the thread and the guard have copies by then
	notices, ready := make(chan notice), make(chan error)
	go n.run(int(device.Fd()), notices, ready)
	if err := <-ready; err != nil {
		return err
	}
	n.notices = notices
	if len(command) > 0 {
		n.guard, err = startGuard(command, device)
	}
	return err
}

// stop ends the thread and the guard.
func (n *notifier) stop() {
	close(n.done)
	if n.guard != nil {
		n.guard.stop()
	}
}

// run is the thread: it is never unlocked, and so ends with the goroutine.
func (n *notifier) run(fd int, notices <-chan notice, ready chan<- error) {
	runtime.LockOSThread()
	err := unix.Unshare(unix.CLONE_FILES)
	if err == nil {
		err = closeOthers(fd)
	}
	ready <- err
	if err != nil {
		return
	}
	defer unix.Close(fd)
	for {
		select {
		case <-n.done:
			return
		case m := <-notices:
			_, err := unix.Write(fd, m.msg)
			errno, _ := errors.AsType[syscall.Errno](err)
			m.result <- errno
		}
	}
}

// closeOthers closes what this thread's own table of files holds besides keep,
// but for what the Go runtime needs on every thread.
func closeOthers(keep int) error {
	fds, err := openFiles("/proc/thread-self/fd")
	if err != nil {
		return err
	}
	for fd, target := range fds {
		if fd != keep && target != "anon_inode:[eventpoll]" && target != "anon_inode:[eventfd]" {
			_ = unix.Close(fd) // the folder just listed is closed already
		}
	}
	return nil
}

func openFiles(dir string) (map[int]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	fds := make(map[int]string, len(entries))
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		if fd, notNumber := strconv.Atoi(e.Name()); err == nil && notNumber == nil {
			fds[fd] = target
		}
	}
	return fds, nil
}

// cloneConnection opens /dev/fuse once more for the connection of the mount at
// dir, which this process serves.
func cloneConnection(dir string) (*os.File, error) {
	served, err := connectionFile(dir)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(served) // go-fuse does not: the guard would keep it open
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/fuse: %w", err)
	}
	device := os.NewFile(uintptr(fd), "/dev/fuse")
	// FUSE_DEV_IOC_CLONE of linux/fuse.h, which takes the address of a 32-bit number.
	const fuseDevIOCClone = 0x8004e500
	if err := unix.IoctlSetPointerInt(fd, fuseDevIOCClone, served); err != nil {
		device.Close()
		return nil, fmt.Errorf("clone /dev/fuse: %w", err)
	}
	return device, nil
}

// errNoConnection says that the descriptor that serves a mount cannot be found. Before
// Linux 6.14 that is so for a process with several mounts.
var errNoConnection = errors.New("connection of the mount not found")

// connectionFile is the descriptor of /dev/fuse from which the mount at dir is
// served. go-fuse does not reveal it; proc does.
func connectionFile(dir string) (int, error) {
	fds, err := openFiles("/proc/self/fd")
	if err != nil {
		return -1, err
	}
	mount, err := mountOf(dir)
	if err != nil {
		return -1, err
	}
	var found []int
	for fd, target := range fds {
		info, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
		_, connection, told := strings.Cut(string(info), "fuse_connection:\t")
		if target == "/dev/fuse" && (!told || strings.TrimSpace(connection) == mount.minor) {
			found = append(found, fd)
		}
	}
	if len(found) != 1 {
		return -1, errNoConnection
	}
	return found[0], nil
}

// InodeNotify has the kernel forget the attributes of an inode and length bytes
// of its content from off, all if length is 0, none if off is attributesOnly.
func (n *notifier) InodeNotify(node uint64, off, length int64) fuse.Status {
	if n.notices == nil || off == invalidate.AttributesOnly {
		return n.server.InodeNotify(node, off, length)
	}
	msg := header(notifyInvalInode, 24)
	msg = binary.NativeEndian.AppendUint64(msg, node)
	msg = binary.NativeEndian.AppendUint64(msg, uint64(off))
	return n.send(binary.NativeEndian.AppendUint64(msg, uint64(length)))
}

func (n *notifier) EntryNotify(parent uint64, name string) fuse.Status {
	if n.notices == nil {
		return n.server.EntryNotify(parent, name)
	}
	msg := header(notifyInvalEntry, 16+len(name)+1)
	msg = binary.NativeEndian.AppendUint64(msg, parent)
	msg = binary.NativeEndian.AppendUint32(msg, uint32(len(name)))
	msg = binary.NativeEndian.AppendUint32(msg, 0) // flags
	return n.send(append(append(msg, name...), 0))
}

// header begins a notification whose body is size bytes.
func header(code, size int) []byte {
	msg := make([]byte, 0, outHeaderSize+size)
	msg = binary.NativeEndian.AppendUint32(msg, uint32(outHeaderSize+size))
	msg = binary.NativeEndian.AppendUint32(msg, uint32(code))
	return binary.NativeEndian.AppendUint64(msg, 0) // no request is answered
}

func (n *notifier) send(msg []byte) fuse.Status {
	result := make(chan syscall.Errno, 1)
	select {
	case n.notices <- notice{msg, result}:
		return fuse.Status(<-result)
	case <-n.done:
		return fuse.Status(syscall.ENODEV)
	}
}

// The rest of fs.ServerCallbacks is not used here.

func (n *notifier) DeleteNotify(uint64, uint64, string) fuse.Status { return fuse.ENOSYS }

func (n *notifier) InodeRetrieveCache(uint64, int64, []byte) (int, fuse.Status) {
	return 0, fuse.ENOSYS
}

// InodeNotifyStoreCache gives the kernel content of an inode that nobody has open
// yet (Handle.push). No request holds the pages of such a one: this does not wait, and
// so needs no thread.
func (n *notifier) InodeNotifyStoreCache(node uint64, off int64, data []byte) fuse.Status {
	return n.server.InodeNotifyStoreCache(node, off, data)
}
