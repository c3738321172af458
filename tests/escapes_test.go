package tests

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
)

// evil is what no terminal may get as it is.
const evil = "\x1b]0;owned\x07\x1b[2J\r\u009b31m\u202egnp"

// runOnTerminal runs relayfs on a terminal to its end and returns what that shows.
func runOnTerminal(t *testing.T, s *sandbox, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	cmd := s.command(ctx, args...)
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
	s := newSandbox(t)
	name := "n" + evil + "\nforged.md"
	vault := s.vault(t, "Notes", map[string]string{"Plan.md": "one " + evil + " two\nforged?\n", name: "one two\n", "Other.md": "one two\n"})
	author := "ann" + evil + "\nforged: 0 pending suggestions"
	for _, note := range []string{"Plan.md", name, "Other.md"} {
		out := s.run(t, "edit", "Notes/"+note, "--source", vault, "--author", author, "--old", "two", "--new", "2"+evil+"\nforged")
		if out.code != 0 {
			t.Fatalf("edit: %s", out.stderr)
		}
		checkHarmless(t, "edit", out.stdout+out.stderr)
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
		{"status", "--state", s.path("no" + evil + "\nforged"), vault},
		{"ls", "-R", "--source", vault},
		{"cat", "--source", vault, "Notes/none" + evil + "\nforged.md"},
		{"cat", "--source", vault, "Notes/Plan.md"},
		{"grep", "--source", vault, "one"},
		{"doctor", vault},
		{"mount", s.path("no" + evil + "\nforged"), s.path("mnt")},
		{"nonsense" + evil + "\nforged"},
	}
	for _, args := range commands {
		if args[0] != "cat" && args[0] != "grep" {
			out := s.run(t, args...)
			checkHarmless(t, strings.Join(args[:min(2, len(args))], " "), out.stdout)
			checkHarmless(t, strings.Join(args[:min(2, len(args))], " ")+" (stderr)", out.stderr)
		}
		checkHarmless(t, strings.Join(args[:1], " ")+" on a terminal", runOnTerminal(t, s, args...))
	}
	var list []struct{ Author, Path string }
	if err := json.Unmarshal([]byte(s.run(t, "suggestions", "list", "--json", vault).stdout), &list); err != nil || len(list) == 0 {
		t.Fatalf("%v: %d suggestions", err, len(list))
	}
	seen := false
	for _, x := range list {
		seen = seen || x.Path == "Notes/"+name
		if x.Author != author {
			t.Errorf("JSON has the author %q", x.Author)
		}
	}
	if !seen {
		t.Error("JSON does not have the name as it is")
	}
	if got := s.run(t, "cat", "--source", vault, "Notes/Plan.md").stdout; !strings.Contains(got, evil) {
		t.Errorf("into a pipe, cat prints %q", got)
	}
}

// New names have no control characters; what has some is read and written as before.
func TestControlNames(t *testing.T) {
	s := newSandbox(t)
	old := "old\x1b[31m\nname.md"
	m := s.mount(t, s.vault(t, "Notes", map[string]string{old: "one\n", "Plan.md": "one\n"}), "--mode", "direct")
	for _, bad := range []string{"a\x1b]0;x\x07.md", "a\nb.md", "a\rb.md", "a\u009bb.md", "a\x7f.md", "a\u2028b.md", "a\nb", "a\nb.png", ".a\n.swp"} {
		if err := os.WriteFile(m.path(bad), []byte("x"), 0o600); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("create %q: %v", bad, err)
		}
		if err := os.Mkdir(m.path(bad), 0o700); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("mkdir %q: %v", bad, err)
		}
		if err := os.Rename(m.path("Plan.md"), m.path(bad)); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("rename to %q: %v", bad, err)
		}
	}
	m.log.says(t, "control characters")
	if got := readFile(t, m.path(old)); got != "one\n" {
		t.Errorf("a note that had such a name reads %q", got)
	}
	writeFile(t, m.path(old), "one\ntwo\n")
	if got := readFile(t, filepath.Join(m.vault, old)); got != "one\ntwo\n" {
		t.Errorf("it is written as %q", got)
	}
	if err := os.Rename(m.path(old), m.path("New.md")); err != nil {
		t.Errorf("it cannot get another name: %v", err)
	}
	if log := m.log.String(); strings.ContainsAny(log, "\x1b\r\x07\x7f\u009b\u2028") {
		t.Errorf("the log has control characters: %q", log)
	}
	m.stop(t)
	client := s.mcp(t, "--mode", "direct", m.vault)
	if got := client.call(t, "write", "file_path", "Notes/a\x1bb.md", "content", "x"); !got.isError || !strings.Contains(got.text, "control character") {
		t.Errorf("write answers %+v", got)
	}
	entries, err := os.ReadDir(m.vault)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != old && strings.ContainsAny(e.Name(), "\x1b\n\r\x07") {
			t.Errorf("the vault has %q", e.Name())
		}
	}
}
