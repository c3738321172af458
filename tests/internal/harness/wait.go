//go:build linux

package harness

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/need"
)

// StartTimeout is the maximum time for which a test waits before it counts as hung.
var StartTimeout = need.Scaled(30 * time.Second)

// Soon is the maximum time until a user's edit is visible.
var Soon = need.Scaled(time.Second)

var QueueTimeout = need.Scaled(2 * time.Minute)

// Eventually polls until check returns nil, and returns how long that took. After the time limit (within), it fails the
// test with check's last error. It pauses between checks for as long as a check takes, or a fiftieth of the elapsed
// time if that is longer, but for at least 2 and at most 100 milliseconds.
func Eventually(t *testing.T, within time.Duration, check func() error) time.Duration {
	t.Helper()
	start := time.Now()
	for {
		started := time.Now()
		err := check()
		took := time.Since(start)
		if err == nil {
			return took
		}
		if took > within {
			t.Fatalf("still after %v: %v", within, err)
		}
		time.Sleep(min(max(time.Since(started), took/50, 2*time.Millisecond), 100*time.Millisecond))
	}
}

func WaitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	Eventually(t, need.Scaled(time.Minute), func() error {
		if !ok() {
			return fmt.Errorf("gave up waiting for %s", what)
		}
		return nil
	})
}

func FileBecomes(t *testing.T, file, want string) {
	t.Helper()
	Eventually(t, need.Scaled(time.Minute), func() error {
		data, err := os.ReadFile(file)
		if err == nil && string(data) != want {
			err = fmt.Errorf("%s has %q, want %q", file, data, want)
		}
		return err
	})
}
