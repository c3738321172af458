package process

import (
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

func TestParseStatus(t *testing.T) {
	const status = "Name:\tmy prog\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t4711\nPid:\t4713\nNSpid:\t4713\t12\nNSsid:\t4000\t1\n"
	got := parseStatus([]byte(status), Process{Id: 4713})
	if want := (Process{Id: 4711, Session: 4000, Name: "my prog"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := parseStatus([]byte("Tgid:\nnonsense"), Process{Id: 5}); got != (Process{Id: 5}) {
		t.Errorf("from nonsense: %+v", got)
	}
}

// A request made by any thread of a process belongs to the process.
func TestProcessOfAThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sid, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	ps := &Table{}
	thread := &fuse.Context{Caller: fuse.Caller{Pid: uint32(syscall.Gettid())}}
	for range 2 { // the second answer comes from the cache
		got := ps.Of(thread)
		if got.Id != os.Getpid() || got.Session != sid || got.Name == "" {
			t.Errorf("got %+v, want process %d in session %d", got, os.Getpid(), sid)
		}
	}
	if got := ps.Of(t.Context()); got != (Process{}) {
		t.Errorf("outside of a request: %+v", got)
	}
}
