//go:build linux

package harness

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

type Terminal struct {
	Cmd  *exec.Cmd
	Keys *os.File
	Out  *Log // the complete output, including control sequences
	read int  // bytes of Out that Shows has consumed
	Done chan error
}

func StartTerminal(t *testing.T, cmd *exec.Cmd) *Terminal {
	t.Helper()
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	x := &Terminal{Cmd: cmd, Keys: f, Out: NewLog(), Done: make(chan error, 1)}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		buf := make([]byte, 4096)
		for {
			n, err := f.Read(buf)
			x.Out.Write(buf[:n])
			if err != nil {
				return // EIO means that the program has ended
			}
		}
	}()
	go func() {
		err := cmd.Wait()
		<-drained
		x.Done <- err
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("output of the terminal: %q", x.Out)
		}
		_ = cmd.Process.Kill()
		f.Close()
	})
	return x
}

// Shows waits for text in the output that follows the text found by the last call.
func (x *Terminal) Shows(t *testing.T, text string) {
	t.Helper()
	Eventually(t, StartTimeout, func() error {
		i := strings.Index(x.Out.String()[x.read:], text)
		if i < 0 {
			return fmt.Errorf("the terminal does not show %q", text)
		}
		x.read += i + len(text)
		return nil
	})
}

func (x *Terminal) Press(t *testing.T, keys string) {
	t.Helper()
	if _, err := x.Keys.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func (x *Terminal) Wait(t *testing.T) {
	t.Helper()
	select {
	case err := <-x.Done:
		if err != nil {
			t.Errorf("%s: %v", strings.Join(x.Cmd.Args, " "), err)
		}
	case <-time.After(StartTimeout):
		t.Fatalf("%s does not end", strings.Join(x.Cmd.Args, " "))
	}
}
