package cli

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// refusal is one entry of 'relayfs why --json'.
type refusal struct {
	PID                            int
	Program, Op, Path, Errno, Text string
}

// refusals runs why in dir.
func refusals(t *testing.T, s *harness.Sandbox, dir string, args ...string) (list []refusal) {
	t.Helper()
	cmd := s.Command(t.Context(), append([]string{"why", "--json"}, args...)...)
	cmd.Dir = dir
	out := harness.RunCommand(t, cmd)
	if err := json.Unmarshal([]byte(out.Stdout), &list); err != nil || out.Code != 0 {
		t.Fatalf("why %v in %s: exit %d, %v\n%s%s", args, dir, out.Code, err, out.Stdout, out.Stderr)
	}
	return list
}

// Why tells what a mount refused, with its reason: in the folder where it was, on the mount and
// in the vault, for one note, and from elsewhere; and the log has the same sentences.
func TestWhy(t *testing.T) {
	t.Parallel()
	need.Programs(t, "cp")
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{
		"note.md": "---\na: b\n---\n" + harness.TideTable, "sub/board.canvas": "{}", "sub/latin.md": "caf\xe9\n",
	})
	// Another vault and another state folder beside it, to be told apart from.
	other := s.Mount(t, s.Vault(t, "Other", map[string]string{"note.md": harness.TideTable}))
	m := s.Mount(t, vault, "RELAYFS_STATE="+s.Path("state"))
	if got := refusals(t, s, m.Dir); len(got) != 0 {
		t.Errorf("before anything was refused: %+v", got)
	}

	if err := harness.WriteAll(m.Path("note.md"), []byte("---\na: [b\n---\n"+harness.TideTable)); !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("bad front matter: %v", err)
	}
	if err := harness.WriteAll(m.Path("sub/latin.md"), []byte("cafe\n")); !errors.Is(err, syscall.EROFS) {
		t.Fatalf("a note that is not UTF-8: %v", err)
	}
	if err := exec.Command("cp", m.Path("note.md"), m.Path("sub/board.canvas")).Run(); err == nil {
		t.Fatal("a canvas became a note")
	}
	if err := os.WriteFile(m.Dir+"/top.md", []byte("x"), 0o644); !errors.Is(err, syscall.EACCES) {
		t.Fatalf("a note at the top: %v", err)
	}
	if _, err := os.ReadFile(m.Path("missing.md")); !errors.Is(err, os.ErrNotExist) { // everybody knows why
		t.Fatal(err)
	}

	want := []struct{ path, errno, text string }{
		{"top.md", "permission denied", "holds only the served folders"},
		{"Vault/sub/board.canvas", "invalid argument", "is not JSON"},
		{"Vault/sub/latin.md", "read-only file system", "not valid UTF-8"},
		{"Vault/note.md", "invalid argument", "front matter would become unreadable"},
	}
	check := func(got []refusal, paths ...string) {
		t.Helper()
		i := 0
		for _, w := range want {
			if !slices.Contains(paths, w.path) {
				continue
			}
			if i >= len(got) || got[i].Path != w.path || got[i].Errno != w.errno || !strings.Contains(got[i].Text, w.text) || got[i].PID == 0 || got[i].Program == "" || got[i].Op == "" {
				t.Errorf("want %+v at %d of %+v", w, i, got)
				return
			}
			i++
		}
		if i != len(got) {
			t.Errorf("got %d refusals, want %d: %+v", len(got), i, got)
		}
	}
	all := []string{"top.md", "Vault/sub/board.canvas", "Vault/sub/latin.md", "Vault/note.md"}
	check(refusals(t, s, m.Dir), all...)
	check(refusals(t, s, m.Dir+"/Vault"), all[1:]...)
	check(refusals(t, s, m.Path("sub")), all[1:3]...)
	check(refusals(t, s, vault, "note.md"), all[3])
	check(refusals(t, s, s.Dir, m.Path("sub/board.canvas")), all[1])
	check(refusals(t, s, s.Dir, vault), all[1:]...)
	check(refusals(t, s, s.Dir, "RELAYFS_STATE="+s.Path("state"), "Vault/note.md"), all[3])
	check(refusals(t, s, other.Dir))
	if got := refusals(t, s, m.Path("sub")); got[0].Program != "cp" {
		t.Errorf("the program is %q, want cp", got[0].Program)
	}
	for _, w := range want {
		m.Log.Says(t, w.text)
	}
	text := s.Run(t, "why", m.Path("note.md")).Stdout
	if !strings.Contains(text, "of Vault/note.md by ") || !strings.Contains(text, ": invalid argument\n    write ") {
		t.Errorf("why says\n%s", text)
	}
	for _, elsewhere := range []string{"/etc/passwd", s.Path("nowhere.md"), "Typo/note.md"} {
		harness.CheckRefused(t, s.Run(t, "why", "RELAYFS_STATE="+s.Path("state"), elsewhere), "is neither on a mount nor in a vault that relayfs serves")
	}
	m.Stop(t)
	harness.CheckRefused(t, s.Run(t, "why", vault), "is neither on a mount nor in a vault that relayfs serves") // only the other one is
	if out := s.Run(t, "why", other.Vault); out.Code != 0 || !strings.Contains(out.Stderr, "has refused no operation in Other since ") {
		t.Errorf("of the other mount: %+v", out)
	}
	other.Stop(t)
	if out := s.Run(t, "why"); out.Code != 1 || !strings.Contains(out.Stderr, "no relayfs is running") {
		t.Errorf("without a mount: %+v", out)
	}
}

// A save that fails for want of space has its line in the log each time, and its entry in why.
func TestWhyOnAFullDisk(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	disk := s.SmallDisk(t, "256k")
	m := s.Mount(t, s.Vault(t, "disk/Vault", map[string]string{"note.md": harness.TideTable}))
	disk.Fill(t)
	for range 2 {
		if err := harness.WriteAll(m.Path("note.md"), []byte("changed\n")); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	harness.WaitFor(t, "a line in the log for each save", func() bool {
		return strings.Count(m.Log.String(), `msg="operation refused"`) == 2
	})
	if got := refusals(t, s, m.Dir); len(got) != 2 || got[0].Errno != syscall.ENOSPC.Error() || !strings.HasSuffix(got[0].Text, "; free space on that disk") {
		t.Errorf("why says %+v", got)
	}
	disk.Drain(t)
	m.Stop(t)
}

// What an errno leaves open has its sentence: a note that is no text, also when a temporary file is renamed over it, the
// top of the mount, and front matter that is not YAML. A name that is not UTF-8 is named by status and doctor.
func TestWhyOfNames(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"latin.md": "caf\xe9\n", "sub/note.md": "x\n"})
	harness.WriteFile(t, filepath.Join(vault, "sub", "caf\xe9.md"), "x\n")
	m := s.Mount(t, vault)
	harness.WriteFile(t, m.Path("latin.md.tmp"), "x\n")
	for want, do := range map[string]func() error{
		"it is not valid UTF-8":                  func() error { return os.Rename(m.Path("latin.md.tmp"), m.Path("latin.md")) },
		"mkdir \"Top\": the top level":           func() error { return os.Mkdir(filepath.Join(m.Dir, "Top"), 0o755) },
		"rename \"note.md\": the top level":      func() error { return os.Rename(m.Path("sub/note.md"), filepath.Join(m.Dir, "note.md")) },
		"the front matter would become":          func() error { return harness.WriteAll(m.Path("new.md"), []byte("---\ntitle: a: b\n---\n")) },
		"create \"Vault/new2.md\": is not valid": func() error { return harness.WriteAll(m.Path("new2.md"), []byte("caf\xe9\n")) },
	} {
		if err := do(); err == nil {
			t.Errorf("%s: done", want)
		}
		if got := refusals(t, s, m.Dir); len(got) == 0 || !strings.Contains(got[0].Text, want) {
			t.Errorf("want %s: %+v", want, got)
		}
	}
	const misnamed = `"sub/caf\xe9.md"`
	for _, command := range []string{"status", "doctor"} {
		if out := s.Run(t, command, vault); !strings.Contains(out.Stdout, misnamed) {
			t.Errorf("%s says %s", command, out.Stdout)
		}
	}
	if err := os.Remove(filepath.Join(vault, "sub", "caf\xe9.md")); err != nil {
		t.Fatal(err)
	}
	if out := s.Run(t, "status", vault); strings.Contains(out.Stdout, "caf") {
		t.Errorf("status says %s", out.Stdout)
	}
}
