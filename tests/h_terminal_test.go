package tests

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminal is a program on a pseudo terminal.
type terminal struct {
	cmd  *exec.Cmd
	keys *os.File
	out  *watchedLog // everything it ever wrote, control sequences included
	read int         // bytes of out that shows has found
	done chan error
}

func startTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{cmd: cmd, keys: f, out: newWatchedLog(), done: make(chan error, 1)}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		buf := make([]byte, 4096)
		for {
			n, err := f.Read(buf)
			x.out.Write(buf[:n])
			if err != nil {
				return // EIO: the program has ended
			}
		}
	}()
	go func() {
		err := cmd.Wait()
		<-drained
		x.done <- err
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal was shown %q", x.out)
		}
		_ = cmd.Process.Kill()
		f.Close()
	})
	return x
}

// shows waits until text is written after what has been waited for before.
func (x *terminal) shows(t *testing.T, text string) {
	t.Helper()
	eventually(t, startTimeout, func() error {
		i := strings.Index(x.out.String()[x.read:], text)
		if i < 0 {
			return fmt.Errorf("the terminal does not show %q", text)
		}
		x.read += i + len(text)
		return nil
	})
}

func (x *terminal) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := x.keys.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func (x *terminal) wait(t *testing.T) {
	t.Helper()
	select {
	case err := <-x.done:
		if err != nil {
			t.Errorf("%s: %v", strings.Join(x.cmd.Args, " "), err)
		}
	case <-time.After(startTimeout):
		t.Fatalf("%s does not end", strings.Join(x.cmd.Args, " "))
	}
}
