package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// evil is what no terminal may get as it is.
const evil = "\x1b]0;owned\x07\x1b[2J\r\u009b31m\u202egnp"

// runOnTerminal runs relayfs on a terminal to its end and returns what that shows.
func runOnTerminal(t *testing.T, s *harness.Sandbox, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.StartTimeout)
	defer cancel()
	cmd := s.Command(ctx, args...)
	cmd.Env = append(cmd.Env, "TERM=xterm")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(tty) // which ends with EIO
	_ = cmd.Wait()
	return out.String()
}

// checkHarmless fails if what is printed has something that a terminal obeys, but for
// the looks that relayfs gives it.
func checkHarmless(t *testing.T, what, out string) {
	t.Helper()
	looks := strings.NewReplacer("\x1b[9;31m", "", "\x1b[4;32m", "", "\x1b[2m", "", "\x1b[1m", "", "\x1b[0m", "", "\r\n", "\n")
	for _, bad := range []string{"\x1b", "\x07", "\r", "\u009b", "\u202e"} {
		if strings.Contains(looks.Replace(out), bad) {
			t.Errorf("%s prints %q:\n%q", what, bad, out)
		}
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(what, "cat") {
			break // it prints the note's lines
		}
		if strings.HasPrefix(line, "forged") {
			t.Errorf("%s prints a line that was forged:\n%q", what, out)
		}
	}
}

// What is in notes, names and authors reaches no terminal as it is, and JSON exactly.
func TestTerminalEscapes(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	name := "n" + evil + "\nforged.md"
	vault := s.Vault(t, "Notes", map[string]string{"Plan.md": "one " + evil + " two\nforged?\n", name: "one two\n", "Other.md": "one two\n"})
	author := "ann" + evil + "\nforged: 0 pending suggestions"
	for _, note := range []string{"Plan.md", name, "Other.md"} {
		out := s.Run(t, "edit", "Notes/"+note, "--source", vault, "--author", author, "--old", "two", "--new", "2"+evil+"\nforged")
		if out.Code != 0 {
			t.Fatalf("edit: %s", out.Stderr)
		}
		checkHarmless(t, "edit", out.Stdout+out.Stderr)
	}
	reason := "because" + evil + "\nforged"
	commands := [][]string{
		{"suggestions", "list", vault},
		{"suggestions", "show", "--all", vault},
		{"suggestions", "accept", "--path", "Notes/Other.md", "--reason", reason, vault},
		{"suggestions", "log", vault},
		{"suggestions", "undo", vault},
		{"suggestions", "list", "--author", author, vault},
		{"suggestions", "show", "x" + evil + "\nforged", vault},
		{"status", vault},
		{"status", "RELAYFS_STATE=" + s.Path("no"+evil+"\nforged"), vault},
		{"ls", "-R", "--source", vault},
		{"cat", "--source", vault, "Notes/none" + evil + "\nforged.md"},
		{"cat", "--source", vault, "Notes/Plan.md"},
		{"grep", "--source", vault, "one"},
		{"doctor", vault},
		{"mount", s.Path("no" + evil + "\nforged"), s.Path("mnt")},
		{"nonsense" + evil + "\nforged"},
	}
	for _, args := range commands {
		if args[0] != "cat" && args[0] != "grep" {
			out := s.Run(t, args...)
			checkHarmless(t, strings.Join(args[:min(2, len(args))], " "), out.Stdout)
			checkHarmless(t, strings.Join(args[:min(2, len(args))], " ")+" (stderr)", out.Stderr)
		}
		checkHarmless(t, strings.Join(args[:1], " ")+" on a terminal", runOnTerminal(t, s, args...))
	}
	var list []struct{ Author, Path string }
	if err := json.Unmarshal([]byte(s.Run(t, "suggestions", "list", "--json", vault).Stdout), &list); err != nil || len(list) == 0 {
		t.Fatalf("%v: %d suggestions", err, len(list))
	}
	seen := false
	for _, x := range list {
		seen = seen || x.Path == "Notes/"+name
		if x.Author != author {
			t.Errorf("JSON has the author %q, want %q", x.Author, author)
		}
	}
	if !seen {
		t.Error("JSON does not have the name as it is")
	}
	if got := s.Run(t, "cat", "--source", vault, "Notes/Plan.md").Stdout; !strings.Contains(got, evil) {
		t.Errorf("into a pipe, cat prints %q", got)
	}
}

// New names have no control characters; what has some is read and written as before.
func TestControlNames(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	old := "old\x1b[31m\nname.md"
	m := s.Mount(t, s.Vault(t, "Notes", map[string]string{old: "one\n", "Plan.md": "one\n"}), "--mode", "direct")
	for _, bad := range []string{"a\x1b]0;x\x07.md", "a\nb.md", "a\rb.md", "a\u009bb.md", "a\x7f.md", "a\u2028b.md", "a\nb", "a\nb.png", ".a\n.swp"} {
		if err := harness.WriteAll(m.Path(bad), []byte("x")); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("create %q: %v", bad, err)
		}
		if err := os.Mkdir(m.Path(bad), 0o700); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("mkdir %q: %v", bad, err)
		}
		if err := os.Rename(m.Path("Plan.md"), m.Path(bad)); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("rename to %q: %v", bad, err)
		}
	}
	m.Log.Says(t, "control characters")
	if err := harness.WriteAll(m.Path("a\xff.md"), []byte("x")); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("create a name that is not UTF-8: %v", err)
	}
	m.Log.Says(t, "not valid UTF-8")
	if got := harness.ReadFile(t, m.Path(old)); got != "one\n" {
		t.Errorf("a note that had such a name reads %q, want %q", got, "one\n")
	}
	harness.WriteFile(t, m.Path(old), "one\ntwo\n")
	if got := harness.ReadFile(t, filepath.Join(m.Vault, old)); got != "one\ntwo\n" {
		t.Errorf("it is written as %q, want %q", got, "one\ntwo\n")
	}
	if err := os.Rename(m.Path(old), m.Path("New.md")); err != nil {
		t.Errorf("it cannot get another name: %v", err)
	}
	if log := m.Log.String(); strings.ContainsAny(log, "\x1b\r\x07\x7f\u009b\u2028") {
		t.Errorf("the log has control characters: %q", log)
	}
	m.Stop(t)
	client := s.MCP(t, "--mode", "direct", m.Vault)
	if got := client.Call(t, "write", "file_path", "Notes/a\x1bb.md", "content", "x"); !got.IsError || !strings.Contains(got.Text, "control character") {
		t.Errorf("write answers %+v", got)
	}
	entries, err := os.ReadDir(m.Vault)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != old && strings.ContainsAny(e.Name(), "\x1b\n\r\x07") {
			t.Errorf("the vault has %q", e.Name())
		}
	}
}
