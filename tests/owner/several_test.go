package owner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// With two mounts status is about both, and other commands find theirs by the current folder, on
// the mount and in the vault. Elsewhere they ask for a SOURCE.
func TestTwoMounts(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := map[string]string{"note.md": harness.TideTable, ".obsidian/app.json": "{}", "sub/other.md": "other\n"}
	a := s.Mount(t, s.Vault(t, "A", files))
	b := s.Mount(t, s.Vault(t, "B", files), "RELAYFS_STATE="+s.Path("state"))
	c := s.Mount(t, s.Vault(t, "C", files))
	harness.WriteFile(t, c.Path("note.md"), harness.TideTable+"One more.\n")

	type report struct {
		Owner   struct{ Mountpoint string }
		Folders []struct{ Name string }
		Others  []report
	}
	for dir, first := range map[string]*harness.Mount{a.Dir: a, b.Path("sub"): b, c.Vault: c} {
		cmd := s.Command(t.Context(), "status", "--json")
		cmd.Dir = dir
		var r report
		out := harness.RunCommand(t, cmd)
		if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil || out.Code != 0 {
			t.Fatalf("%v: %+v", err, out)
		}
		if r.Owner.Mountpoint != first.Dir || len(r.Others) != 2 || len(r.Folders) != 1 || len(r.Others[1].Folders) != 1 {
			t.Errorf("in %s: %+v", dir, r)
		}
	}
	text := s.Run(t, "status").Stdout
	for _, m := range []*harness.Mount{a, b, c} {
		if strings.Count(text, "at "+m.Dir+" ") != 1 {
			t.Errorf("%s is not in\n%s", m.Dir, text)
		}
	}
	if n := strings.Count(text, "log: stderr of that process\n"); n != 3 {
		t.Errorf("the log is named %d times:\n%s", n, text)
	}

	for _, dir := range []string{c.Dir, c.Path("sub"), c.Vault} {
		cmd := s.Command(t.Context(), "suggestions", "list")
		cmd.Dir = dir
		if out := harness.RunCommand(t, cmd); out.Code != 0 || !strings.Contains(out.Stdout, "C/note.md") {
			t.Errorf("list in %s: %+v", dir, out)
		}
	}
	if out := s.Run(t, "suggestions", "list"); out.Code != 2 || !strings.Contains(out.Stderr, "name the vault") {
		t.Errorf("list elsewhere: %+v", out)
	}
	resume := suspend(t, b.Cmd.Process)
	out := s.Run(t, "status")
	if out.Code != 1 || !strings.Contains(out.Stdout, "is stopped (Ctrl-Z?)") || !strings.Contains(out.Stdout, a.Dir) || !strings.Contains(out.Stdout, c.Dir) {
		t.Errorf("beside a stopped mount: %+v", out)
	}
	resume()
	for _, m := range []*harness.Mount{a, b, c} {
		m.Stop(t)
	}

	// Without a mount the vault of the current folder is read.
	cmd := s.Command(t.Context(), "suggestions", "list")
	cmd.Dir = c.VaultPath("sub")
	if out := harness.RunCommand(t, cmd); out.Code != 0 || !strings.Contains(out.Stdout, "C/note.md") {
		t.Errorf("list in %s: %+v", cmd.Dir, out)
	}
	if out := s.Run(t, "suggestions", "list"); out.Code != 1 || !strings.Contains(out.Stderr, "no relayfs is running") {
		t.Errorf("list elsewhere: %+v", out)
	}
}

// A mount in the background says in its status where its log is.
func TestStatusNamesTheLog(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	s := harness.NewSandbox(t)
	vault, mnt := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), s.Mkdir(t, "mnt")
	if out := s.Run(t, "mount", "--daemon", vault, mnt); out.Code != 0 {
		t.Fatal(out.Stderr)
	}
	_, rest, _ := strings.Cut(s.Run(t, "status").Stdout, "\nlog: ")
	log, _, _ := strings.Cut(rest, "\n")
	refused := harness.WriteAll(mnt+"/Vault/note.md", []byte("\xff"))
	if refused == nil {
		t.Error("bytes that are not UTF-8 were taken")
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the save fails with %v; the log:\n%s", refused, harness.ReadFile(t, log))
		}
	})
	harness.WaitFor(t, "the refusal in "+log, func() bool {
		return strings.Contains(harness.ReadFile(t, log), "not valid UTF-8")
	})
	if out := s.Run(t, "unmount", mnt); out.Code != 0 {
		t.Error(out.Stderr)
	}
}
