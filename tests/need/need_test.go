package need

import (
	"fmt"
	"runtime"
	"testing"
)

// outcome is the test that is asked to skip or fail.
type outcome struct {
	testing.TB
	got string
}

func (o *outcome) Helper()          {}
func (o *outcome) Skip(args ...any) { o.end("skip: " + fmt.Sprint(args...)) }
func (o *outcome) Skipf(format string, args ...any) {
	o.end("skip: " + fmt.Sprintf(format, args...))
}

func (o *outcome) Fatalf(format string, args ...any) {
	o.end("fail: " + fmt.Sprintf(format, args...))
}

func (o *outcome) end(got string) {
	o.got = got
	runtime.Goexit()
}

func TestPrograms(t *testing.T) {
	const none = "relayfs-no-such-program"
	for _, tc := range []struct{ tests, ci, program, want string }{
		{"", "", "go", "skip: runs with RELAYFS_TESTS=all: it needs go"},
		{"", "true", none, "skip: runs with RELAYFS_TESTS=all: it needs " + none},
		{"all", "", "go", ""},
		{"all", "", none, "skip: " + none + " is not installed"},
		{"all", "true", none, "fail: CI must have everything: " + none + " is not installed"},
	} {
		t.Setenv("RELAYFS_TESTS", tc.tests)
		t.Setenv("CI", tc.ci)
		o := &outcome{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			Programs(o, tc.program)
		}()
		<-done
		if o.got != tc.want {
			t.Errorf("RELAYFS_TESTS=%s CI=%s %s: got %q, want %q", tc.tests, tc.ci, tc.program, o.got, tc.want)
		}
	}
}
