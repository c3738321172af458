package review

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

func startReview(t *testing.T, s *harness.Sandbox, args ...string) *harness.Terminal {
	t.Helper()
	return harness.StartTerminal(t, s.Command(t.Context(), append([]string{"suggestions", "review"}, args...)...))
}

// A person goes through a vault that nobody serves: accepts one, rejects one and
// says why, edits one, undoes the edit, and quits.
func TestReviewInATerminal(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", harness.ReviewNotes)
	apples, bread := filepath.Join(vault, "Apples.md"), filepath.Join(vault, "Bread.md")
	editor := s.Path("editor.sh")
	harness.WriteProgram(t, editor, "#!/bin/sh\nprintf ' or sloes' >> \"$1\"\n")
	s.Env = append(s.Env, "EDITOR="+editor)
	x := startReview(t, s, vault)
	x.Shows(t, "1 of 4")
	x.Press(t, "y")
	x.Shows(t, "1 of 3")
	harness.CheckText(t, "after accepting", harness.ReadFile(t, apples), "We sell two apples.\n\nAnd {++green ++}pears.\n\nNo {--plums--}{++damsons++} today.\n")
	x.Press(t, "rno colours\r")
	x.Shows(t, "1 of 2")
	harness.CheckText(t, "after rejecting", harness.ReadFile(t, apples), "We sell two apples.\n\nAnd pears.\n\nNo {--plums--}{++damsons++} today.\n")

	x.Press(t, "e")
	x.Shows(t, "1 of 1")
	const edited = "We sell two apples.\n\nAnd pears.\n\nNo damsons or sloes today.\n"
	harness.CheckText(t, "after editing", harness.ReadFile(t, apples), edited)

	x.Press(t, "u")
	x.Shows(t, "1 of 2")
	harness.CheckText(t, "after undo", harness.ReadFile(t, apples), "We sell two apples.\n\nAnd pears.\n\nNo {--plums--}{++damsons++} today.\n")
	x.Press(t, "q")
	x.Shows(t, "1 accepted, 1 rejected, 1 changed, 1 undone, 2 suggestions pending")
	x.Wait(t)
	harness.CheckText(t, "what was not decided", harness.ReadFile(t, bread), harness.ReviewNotes["Bread.md"])
	if log := s.Run(t, "suggestions", "log", vault); !strings.Contains(log.Stdout, "because no colours\n") {
		t.Errorf("the log has no reason: %q", log.Stdout)
	}
}

// One of what was decided at once is taken back from the history, then the rest of it with u.
func TestReviewTakesBackOneOfMany(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", harness.ReviewNotes)
	apples := filepath.Join(vault, "Apples.md")
	x := startReview(t, s, vault)
	x.Shows(t, "1 of 4")
	x.Press(t, "A")
	x.Shows(t, "1 of 1")
	harness.CheckText(t, "accepted", harness.ReadFile(t, apples), "We sell two apples.\n\nAnd green pears.\n\nNo damsons today.\n")
	x.Press(t, "h")
	x.Shows(t, "accepted  3 suggestions")
	x.Press(t, "jj\r") // the decision, the first, the second
	x.Shows(t, "1 of 2")
	harness.CheckText(t, "one is back", harness.ReadFile(t, apples), "We sell two apples.\n\nAnd {++green ++}pears.\n\nNo damsons today.\n")
	x.Press(t, "u")
	x.Shows(t, "of 4")
	harness.CheckText(t, "all is back", harness.ReadFile(t, apples), harness.ReviewNotes["Apples.md"])
	x.Press(t, "q")
	x.Shows(t, "3 accepted, 3 undone, 4 suggestions pending")
	x.Wait(t)
}

// The review of a vault that is mounted goes through its owner, and sees at once
// what a person does to the notes meanwhile.
func TestReviewFollowsTheNotes(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", harness.ReviewNotes)
	s.Mount(t, vault)
	x := startReview(t, s, vault)
	x.Shows(t, "1 of 4")
	harness.WriteFile(t, filepath.Join(vault, "Bread.md"), "The oven is hot.\n")
	x.Shows(t, "1 of 3")
	x.Press(t, "A") // the rest of the note
	x.Shows(t, "There is nothing to review")
	harness.CheckText(t, "the note", harness.ReadFile(t, filepath.Join(vault, "Apples.md")), "We sell two apples.\n\nAnd green pears.\n\nNo damsons today.\n")
	x.Press(t, "q")
	x.Wait(t)
}

// Ctrl-C and a filter end well too, and leave the notes alone.
func TestReviewIsLeftAtAnyTime(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", harness.ReviewNotes)
	x := startReview(t, s, vault)
	x.Shows(t, "1 of 4")
	x.Press(t, "/bread\r")
	x.Shows(t, "1 of 1 with bread")
	x.Press(t, "?")
	x.Shows(t, "reject, go on")
	x.Press(t, "\x03")
	x.Wait(t)
	for name, text := range harness.ReviewNotes {
		harness.CheckText(t, name, harness.ReadFile(t, filepath.Join(vault, name)), text)
	}
}

// Without a terminal the review says what to use instead.
func TestReviewNeedsATerminal(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	out := s.Run(t, "suggestions", "review", s.Vault(t, "Vault", harness.ReviewNotes))
	if out.Code != 2 || !strings.Contains(out.Stderr, "needs a terminal") {
		t.Errorf("exit %d, %q", out.Code, out.Stderr)
	}
}

// More than ten at once are decided when the person at the terminal says so.
func TestManyAreConfirmed(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	note := strings.Repeat("a {--b--}{++c++} d\n", 12)
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": note})
	for _, answer := range []string{"\r", "y\r"} {
		x := harness.StartTerminal(t, s.Command(t.Context(), "suggestions", "accept", "--all", vault))
		x.Shows(t, "Accept 12 suggestions in 1 note? [y/N]")
		harness.CheckText(t, "before the answer", harness.ReadFile(t, filepath.Join(vault, "Note.md")), note)
		x.Press(t, answer)
		err := <-x.Done
		var exit *exec.ExitError
		if refused := errors.As(err, &exit) && exit.ExitCode() == 1; refused != (answer == "\r") {
			t.Errorf("answer %q: %v", answer, err)
		}
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, filepath.Join(vault, "Note.md")), strings.Repeat("a c d\n", 12))
}

// SIGTERM ends a review like q.
func TestReviewIsTerminated(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	x := startReview(t, s, s.Vault(t, "Vault", harness.ReviewNotes))
	x.Shows(t, "1 of 4")
	if err := x.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	x.Wait(t)
}

// The review in a terminal goes on with the next owner of the vault.
func TestReviewOutlivesItsOwner(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		t.Run(fmt.Sprintf("named %v", named), func(t *testing.T) {
			s := harness.NewSandbox(t)
			m := s.Mount(t, s.Vault(t, "Vault", harness.ReviewNotes))
			var source []string
			if named {
				source = []string{m.Vault}
			}
			x := startReview(t, s, source...)
			x.Shows(t, "1 of 4")
			m.Stop(t)
			x.Shows(t, "has ended")
			s.MountAt(t, m.Vault, s.Mkdir(t, "again"))
			harness.WriteFile(t, m.VaultPath("Bread.md"), "The oven is hot.\n")
			x.Shows(t, "1 of 3")
			x.Press(t, "y")
			x.Shows(t, "1 of 2")
			harness.CheckText(t, "the note", harness.ReadFile(t, m.VaultPath("Apples.md")), strings.Replace(harness.ReviewNotes["Apples.md"], "{--one--}{++two++}", "two", 1))
			x.Press(t, "q")
			x.Wait(t)
		})
	}
}

// The review goes on when the mount is started again, and a text is changed in the editor of the environment.
func TestReviewOutlivesTheMount(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": "One {--two--}{++2++} three {--four--}{++4++}.\n"})
	m := s.Mount(t, vault)
	editor := s.Path("editor.sh")
	harness.WriteProgram(t, editor, "#!/bin/sh\necho \"$(cat \"$1\")nd\" > \"$1\"\n")
	cmd := s.Command(t.Context(), "suggestions", "review", vault)
	cmd.Env = append(cmd.Env, "EDITOR="+editor)
	x := harness.StartTerminal(t, cmd)
	x.Shows(t, "1 of 2")
	x.Press(t, "v")
	x.Shows(t, "any other key goes back")
	x.Press(t, "v")
	x.Shows(t, "q quit")
	m.Stop(t)
	x.Press(t, "n")
	x.Shows(t, "again") // has ended; start it again
	m = s.Mount(t, vault)
	x.Press(t, "e")
	x.Shows(t, "1 of 1")
	harness.CheckText(t, "after a restart", harness.ReadFile(t, m.VaultPath("note.md")), "One 2nd three {--four--}{++4++}.\n")
	x.Press(t, "cless\r")
	x.Shows(t, "it stays pending")
	harness.CheckText(t, "asked", harness.ReadFile(t, m.VaultPath("note.md")), "One 2nd three {--four--}{++4++}{>>less<<}.\n")
	x.Press(t, "q")
	x.Wait(t)
}
