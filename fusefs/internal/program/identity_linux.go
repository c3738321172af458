package program

import (
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pidfsMagic is the type of the file system in which every pidfd has its own number (since Linux 6.9).
const pidfsMagic = 0x50494446

// hasPidfs reports whether the kernel numbers pidfds. It is a variable so that tests can replace it.
var hasPidfs = sync.OnceValue(func() bool {
	fd, err := unix.PidfdOpen(unix.Getpid(), 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var fs unix.Statfs_t
	return unix.Fstatfs(fd, &fs) == nil && fs.Type == pidfsMagic
})

// identityOf returns the identity of the process that has the PID now.
func identityOf(pid int) Identity {
	if !hasPidfs() {
		return Identity{PID: pid, Serial: held.serial(pid)}
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return Identity{PID: pid} // the process has ended
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return Identity{PID: pid}
	}
	return Identity{PID: pid, Serial: st.Ino}
}

// holder numbers processes if the kernel does not number them. It gives each process a random number and holds a pidfd
// of the process. The pidfd shows whether the process that has the PID now is still the same. holder never waits for a
// process by its pidfd.
type holder struct {
	mu    sync.Mutex // guards the fields below
	procs map[int]*heldProcess
}

type heldProcess struct {
	fd     int
	serial uint64
	used   time.Time
}

// held is shared by all tables of this process, so that they give a run the same name.
var held holder

// maxHeld is the maximum number of pidfds. Processes that have ended are dropped first, then the process that was
// requested least recently.
const maxHeld = 256

// serial returns the number of the process that has a PID now. It returns 0 if there is no such process, or if the
// kernel has no pidfds (before Linux 5.3).
func (h *holder) serial(pid int) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.procs[pid]
	if p != nil && !hasEnded(p.fd) {
		p.used = time.Now()
		return p.serial
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0
	}
	if p != nil && hasEnded(fd) { // the process has not been reaped, so no other process has its PID
		unix.Close(fd)
		return p.serial
	}
	h.drop(pid)
	if len(h.procs) >= maxHeld {
		h.makeRoom()
	}
	if h.procs == nil {
		h.procs = make(map[int]*heldProcess)
	}
	p = &heldProcess{fd: fd, serial: rand.Uint64() | 1, used: time.Now()}
	h.procs[pid] = p
	return p.serial
}

func (h *holder) makeRoom() {
	oldest, size := 0, len(h.procs)
	for pid, p := range h.procs {
		if hasEnded(p.fd) {
			h.drop(pid)
		} else if oldest == 0 || p.used.Before(h.procs[oldest].used) {
			oldest = pid
		}
	}
	if len(h.procs) == size {
		h.drop(oldest)
	}
}

func (h *holder) drop(pid int) {
	if p := h.procs[pid]; p != nil {
		unix.Close(p.fd)
		delete(h.procs, pid)
	}
}

func hasEnded(pidfd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}
