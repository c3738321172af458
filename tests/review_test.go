package tests

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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

// reviewNotes are what the reviews here start with. The first suggestion of
// Apples is the first that is shown.
var reviewNotes = map[string]string{
	"Apples.md": "We sell {--one--}{++two++} apples.\n\nAnd {++green ++}pears.\n\nNo {--plums--}{++damsons++} today.\n",
	"Bread.md":  "The {--oven--}{++kiln++} is hot.\n",
}

func (s *sandbox) review(t *testing.T, args ...string) *terminal {
	t.Helper()
	return startTerminal(t, s.command(t.Context(), append([]string{"suggestions", "review"}, args...)...))
}

// A person goes through a vault that nobody serves: accepts one, rejects one and
// says why, edits one, undoes the edit, and quits.
func TestReviewInATerminal(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", reviewNotes)
	apples, bread := filepath.Join(vault, "Apples.md"), filepath.Join(vault, "Bread.md")
	x := s.review(t, vault)
	x.shows(t, "1 of 4")
	x.press(t, "y")
	x.shows(t, "1 of 3")
	checkText(t, "after accepting", readFile(t, apples), "We sell two apples.\n\nAnd {++green ++}pears.\n\nNo {--plums--}{++damsons++} today.\n")
	x.press(t, "rno colours\r")
	x.shows(t, "1 of 2")
	checkText(t, "after rejecting", readFile(t, apples), "We sell two apples.\n\nAnd pears.\n\nNo {--plums--}{++damsons++} today.\n")

	x.press(t, "e")
	x.shows(t, "Ctrl-S")
	x.press(t, " or sloes\x13")
	x.shows(t, "1 of 1")
	const edited = "We sell two apples.\n\nAnd pears.\n\nNo damsons or sloes today.\n"
	checkText(t, "after editing", readFile(t, apples), edited)

	x.press(t, "u")
	x.shows(t, "1 of 2")
	checkText(t, "after undo", readFile(t, apples), "We sell two apples.\n\nAnd pears.\n\nNo {--plums--}{++damsons++} today.\n")
	x.press(t, "q")
	x.shows(t, "1 accepted, 1 rejected, 1 changed, 1 undone, 2 suggestions pending")
	x.wait(t)
	checkText(t, "what was not decided", readFile(t, bread), reviewNotes["Bread.md"])
	if log := s.run(t, "suggestions", "log", vault); !strings.Contains(log.stdout, "because no colours\n") {
		t.Errorf("the log has no reason: %q", log.stdout)
	}
}

// The review of a vault that is mounted goes through its owner, and sees at once
// what a person does to the notes meanwhile.
func TestReviewFollowsTheNotes(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", reviewNotes)
	s.mount(t, vault)
	x := s.review(t, vault)
	x.shows(t, "1 of 4")
	writeFile(t, filepath.Join(vault, "Bread.md"), "The oven is hot.\n")
	x.shows(t, "1 of 3")
	x.press(t, "A") // the rest of the note
	x.shows(t, "Nothing waits for review")
	checkText(t, "the note", readFile(t, filepath.Join(vault, "Apples.md")), "We sell two apples.\n\nAnd green pears.\n\nNo damsons today.\n")
	x.press(t, "q")
	x.wait(t)
}

// Ctrl-C and a filter end well too, and leave the notes alone.
func TestReviewIsLeftAtAnyTime(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", reviewNotes)
	x := s.review(t, vault)
	x.shows(t, "1 of 4")
	x.press(t, "/bread\r")
	x.shows(t, "1 of 1 with bread")
	x.press(t, "?")
	x.shows(t, "reject, go on")
	x.press(t, "\x03")
	x.wait(t)
	for name, text := range reviewNotes {
		checkText(t, name, readFile(t, filepath.Join(vault, name)), text)
	}
}

// Without a terminal the review says what to use instead.
func TestReviewNeedsATerminal(t *testing.T) {
	s := newSandbox(t)
	out := s.run(t, "suggestions", "review", s.vault(t, "Vault", reviewNotes))
	if out.code != 2 || !strings.Contains(out.stderr, "needs a terminal") {
		t.Errorf("exit %d, %q", out.code, out.stderr)
	}
}

// More than ten at once are decided when the person at the terminal says so.
func TestManyAreConfirmed(t *testing.T) {
	s := newSandbox(t)
	note := strings.Repeat("a {--b--}{++c++} d\n", 12)
	vault := s.vault(t, "Vault", map[string]string{"Note.md": note})
	for _, answer := range []string{"\r", "y\r"} {
		x := startTerminal(t, s.command(t.Context(), "suggestions", "accept", "--all", vault))
		x.shows(t, "Accept 12 suggestions in 1 note? [y/N]")
		checkText(t, "before the answer", readFile(t, filepath.Join(vault, "Note.md")), note)
		x.press(t, answer)
		err := <-x.done
		var exit *exec.ExitError
		if refused := errors.As(err, &exit) && exit.ExitCode() == 1; refused != (answer == "\r") {
			t.Errorf("answer %q: %v", answer, err)
		}
	}
	checkText(t, "the note", readFile(t, filepath.Join(vault, "Note.md")), strings.Repeat("a c d\n", 12))
}

// SIGTERM ends a review like q.
func TestReviewIsTerminated(t *testing.T) {
	s := newSandbox(t)
	x := s.review(t, s.vault(t, "Vault", reviewNotes))
	x.shows(t, "1 of 4")
	if err := x.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	x.wait(t)
}
