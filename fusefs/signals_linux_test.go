package fusefs_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/need"
)

// slowSource is a root at a server: who reads waits, unless he is interrupted.
type slowSource struct {
	*bridgetest.Source
	answers time.Duration
	reading chan struct{} // if set, is told of each read
}

func (s slowSource) Read(ctx context.Context, rel string) ([]byte, model.Stamp, error) {
	if s.reading != nil {
		select {
		case s.reading <- struct{}{}:
		default:
		}
	}
	select {
	case <-ctx.Done():
		return nil, model.Stamp{}, ctx.Err()
	case <-time.After(s.answers):
		return s.Source.Read(ctx, rel)
	}
}

func mountSlow(t testing.TB, files map[string]string, s slowSource) *mounted {
	return mount(t, files, func(o *bridge.Options) {
		s.Source = o.Roots[0].Source.(*bridgetest.Source)
		o.Roots[0].Source = s
		o.CacheBytes = 1 // each reader asks the source
	})
}

// signalled makes system calls while a timer sends it a signal each millisecond, which it
// handles. It prints the calls that failed, and how many were made. (Python's own calls are made again
// when a signal interrupts them, so these are those of the C library.)
const signalled = `
import ctypes, os, signal, time
signal.signal(signal.SIGALRM, lambda *_: None)
libc = ctypes.CDLL(None, use_errno=True)
libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
libc.readdir.argtypes = libc.closedir.argtypes = [ctypes.c_void_p]
buf, made = ctypes.create_string_buffer(4096), 0
def call(name, *args, null=False):
    global made
    made += 1
    ctypes.set_errno(0)
    got = getattr(libc, name)(*args)
    failed = not got and ctypes.get_errno() if null else got == -1
    if failed:
        print(name, args[:2], os.strerror(ctypes.get_errno()))
    return got
def note(i): return b"n%d.md" % i
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
end, i = time.monotonic() + 3, 0
while time.monotonic() < end and i < NOTES:
    call("access", note(i), 4)
    fd = call("open", note(i), os.O_RDWR)
    call("read", fd, buf, 4096)
    call("pwrite", fd, b"New\n", 4, 0)
    call("fsync", fd)
    call("close", fd)
    d = call("opendir", b".", null=True)
    while call("readdir", d, null=True): pass
    call("closedir", d)
    call("rename", note(i), b"moved%d.md" % i)
    call("unlink", b"moved%d.md" % i)
    i += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print("made", made > 50)
`

// A signal that a program handles makes none of its calls fail, as on a disk, however long
// they wait.
func TestHandledSignalsInterruptNothing(t *testing.T) {
	t.Parallel()
	need.Programs(t, "python3")
	const notes = 100
	for _, answers := range []time.Duration{0, 10 * time.Millisecond} {
		t.Run(answers.String(), func(t *testing.T) {
			files := make(map[string]string)
			for i := range notes {
				files[fmt.Sprintf("F/n%d.md", i)] = tideTable
			}
			m := mountSlow(t, files, slowSource{answers: answers})
			script := strings.ReplaceAll(signalled, "NOTES", fmt.Sprint(notes))
			got := run(t, m.path("F"), "", "python3", "-c", script)
			checkText(t, "what a program saw that gets signals", got.stdout+got.stderr, "made True\n")
		})
	}
}

// A program that waits for a server that is silent can be killed, also after it has handled
// another signal.
func TestKilledWhileItWaits(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"at once": "KILL", "after a signal that it handles": "USR1"} {
		t.Run(name, func(t *testing.T) {
			reading := make(chan struct{}, 1)
			m := mountSlow(t, map[string]string{"F/Note.md": tideTable}, slowSource{answers: hangs, reading: reading})
			reader := exec.Command("sh", "-c", `trap : USR1; : < "$0"`, m.path("F/Note.md"))
			if err := reader.Start(); err != nil {
				t.Fatal(err)
			}
			<-reading
			run(t, m.dir, "", "kill", "-"+first, fmt.Sprint(reader.Process.Pid))
			if first != "KILL" {
				time.Sleep(50 * time.Millisecond) // the kernel interrupts the call, for the only time
				run(t, m.dir, "", "kill", "-KILL", fmt.Sprint(reader.Process.Pid))
			}
			killed := time.Now()
			_ = reader.Wait() // it says that it was killed
			if took, most := time.Since(killed), need.Scaled(time.Second); took > most {
				t.Errorf("a killed program ended after %v, want at most %v", took, most)
			}
		})
	}
}
