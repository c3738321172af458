package save

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// A program that gives a note another form, and changes no word, finds what it has written, with the time that it has written
// it, for as long as nobody changes the note. The note in the vault keeps its form, and nothing waits for a person.
func TestFormStaysAsWritten(t *testing.T) {
	t.Parallel()
	need.Programs(t, "python3")
	forms := map[string]func(string) string{
		"no final newline": func(s string) string { return strings.TrimSuffix(s, "\n") },
		"CRLF":             func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"byte order mark":  func(s string) string { return "\ufeff" + s },
		"a final newline":  func(s string) string { return s + "\n" },
	}
	ways := map[string]string{
		"in place":  `open(n, "wb").write(sys.stdin.buffer.read())`,
		"by rename": `open(n + ".tmp", "wb").write(sys.stdin.buffer.read()); os.replace(n + ".tmp", n)`,
	}
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	texts := map[string]string{"a final newline": strings.TrimSuffix(harness.TideTable, "\n")}
	for form := range forms {
		for way := range ways {
			if files[way+"/"+form+".md"] = harness.TideTable; texts[form] != "" {
				files[way+"/"+form+".md"] = texts[form]
			}
		}
	}
	m := s.Mount(t, s.Vault(t, "Vault", files))
	type state struct {
		want string
		time time.Time
	}
	written := make(map[string]state)
	for name, before := range files {
		way, form, _ := strings.Cut(strings.TrimSuffix(name, ".md"), "/")
		harness.ReadFile(t, m.Path(name))
		want := forms[form](before)
		cmd := exec.Command("python3", "-c", "import os, sys; n = sys.argv[1]; "+ways[way], m.Path(name))
		cmd.Stdin = strings.NewReader(want)
		if out := harness.RunCommand(t, cmd); out.Code != 0 {
			t.Fatalf("%s: exit %d: %s", name, out.Code, out.Stderr)
		}
		info, err := os.Stat(m.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		written[name] = state{want, info.ModTime()}
	}
	time.Sleep(2 * time.Second)
	for name, st := range written {
		harness.CheckText(t, name+" on the mount", harness.ReadFile(t, m.Path(name)), st.want)
		harness.CheckText(t, name+" in the vault", harness.ReadFile(t, m.VaultPath(name)), files[name])
		if info, err := os.Stat(m.Path(name)); err != nil || !info.ModTime().Equal(st.time) || info.Size() != int64(len(st.want)) {
			t.Errorf("%s: %v, %v, want the time %v and %d bytes", name, info, err, st.time, len(st.want))
		}
	}
	if list := s.Suggestions(t, m.Vault); len(list) > 0 {
		t.Errorf("pending: %v", list)
	}
	for name := range written { // a person's change is shown
		harness.WriteFile(t, m.VaultPath(name), "typed\n"+files[name])
		harness.Eventually(t, need.Scaled(10*time.Second), func() error {
			data, err := os.ReadFile(m.Path(name))
			if err == nil && string(data) != "typed\n"+files[name] {
				err = fmt.Errorf("%s shows %q", name, data)
			}
			return err
		})
	}
}
