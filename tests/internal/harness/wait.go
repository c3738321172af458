//go:build linux

package harness

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/need"
)

// StartTimeout is generous: it bounds a hang, it measures nothing.
var StartTimeout = need.Scaled(30 * time.Second)

// Soon is how quickly a user's edit has to be visible.
var Soon = need.Scaled(time.Second)

// QueueTimeout bounds a hang of a command that decides on many suggestions.
var QueueTimeout = need.Scaled(2 * time.Minute)

// Eventually polls until check returns nil, and fails the test with check's
// last error when it does not within the given time. It returns how long it took.
// After a check it pauses for about as long as the check took, or a fiftieth of the
// time so far if that is longer: a check leaves the processor to what it waits for.
func Eventually(t *testing.T, within time.Duration, check func() error) time.Duration {
	t.Helper()
	start := time.Now()
	for {
		begun := time.Now()
		err := check()
		took := time.Since(start)
		if err == nil {
			return took
		}
		if took > within {
			t.Fatalf("still after %v: %v", within, err)
		}
		time.Sleep(min(max(time.Since(begun), took/50, 2*time.Millisecond), 100*time.Millisecond))
	}
}

// WaitFor waits until something is the case.
func WaitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	Eventually(t, need.Scaled(time.Minute), func() error {
		if !ok() {
			return fmt.Errorf("waited in vain for %s", what)
		}
		return nil
	})
}

// FileBecomes waits until a file holds a text.
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

// WaitForView waits until the mount shows text. After a failed close the kernel is
// told, a moment later, that what was written is not there.
func WaitForView(t *testing.T, m *Mount, name, text string) {
	t.Helper()
	Eventually(t, StartTimeout, func() error {
		got, err := os.ReadFile(m.Path(name))
		if err == nil && string(got) != text {
			err = fmt.Errorf("the mount shows %q, want %q", got, text)
		}
		return err
	})
}
