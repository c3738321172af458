package tests

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func startReview(t *testing.T, s *sandbox, args ...string) *terminal {
	t.Helper()
	return startTerminal(t, s.command(t.Context(), append([]string{"suggestions", "review"}, args...)...))
}

// A person goes through a vault that nobody serves: accepts one, rejects one and
// says why, edits one, undoes the edit, and quits.
func TestReviewInATerminal(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", reviewNotes)
	apples, bread := filepath.Join(vault, "Apples.md"), filepath.Join(vault, "Bread.md")
	x := startReview(t, s, vault)
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
	x := startReview(t, s, vault)
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
	x := startReview(t, s, vault)
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
	x := startReview(t, s, s.vault(t, "Vault", reviewNotes))
	x.shows(t, "1 of 4")
	if err := x.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	x.wait(t)
}

// The review in a terminal goes on with the next owner of the vault.
func TestReviewOutlivesItsOwner(t *testing.T) {
	for _, named := range []bool{true, false} {
		t.Run(fmt.Sprintf("named %v", named), func(t *testing.T) {
			s := newSandbox(t)
			m := s.mount(t, s.vault(t, "Vault", reviewNotes))
			var source []string
			if named {
				source = []string{m.vault}
			}
			x := startReview(t, s, source...)
			x.shows(t, "1 of 4")
			m.stop(t)
			x.shows(t, "has ended")
			s.mountAt(t, m.vault, s.mkdir(t, "again"))
			writeFile(t, m.vaultPath("Bread.md"), "The oven is hot.\n")
			x.shows(t, "1 of 3")
			x.press(t, "y")
			x.shows(t, "1 of 2")
			checkText(t, "the note", readFile(t, m.vaultPath("Apples.md")), strings.Replace(reviewNotes["Apples.md"], "{--one--}{++two++}", "two", 1))
			x.press(t, "q")
			x.wait(t)
		})
	}
}
