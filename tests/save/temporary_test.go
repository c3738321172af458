package save

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// temporaryNames are what programs call the files that they rename over note.md. No list in relayfs has them all.
var temporaryNames = []string{
	"sorted", "x", "out", "new", "tmp", "temp", "result", "-", "1", "note", "note.new", "note.tmp", "note.txt", "new.txt", "out.html", "x.csv", "a.json",
	"sedAb12Cd", "XXk3jd8f", "tmpab12_x9", "tmp.AbCdEf1234", "Zx9_kQ2LpO", "AbCdEf", "fileXYZ123", "perl1234", "ruby20260131-4711-x1y2z3",
	"note.md20260131-4711-1abc2d", "note.mdab12cd_9", "note.md.XyZ123", "note.md.1a2b", "note.md-", "note.md+", "note.md$", "note.mdNew", "note.md (1)", "note.md copy",
	"note.md.sb-4c7d2a1e-Xy12Ab", "note.md.tmp", "note.md.tmp.4711.9f3c", "note.md.new", "note.md~", "note.md.lock", "note.md.part", "note.md___jb_tmp___", "note.md.4711",
	"550e8400-e29b-41d4-a716-446655440000", "{550E8400-E29B-41D4-A716-446655440000}", "550e8400e29b41d4a716446655440000", "01J9ZK3V8Q6X7M2N4P5R6S7T8V", "V1StGXR8_Z5jdHi6B-myT",
	"dictd.tmp", "#note.md#", "%note.md%", "_note.md", "~note.md", "note_md", ".note.md.swp", ".note.md.Ab12Cd", ".goutputstream-AB12CD", ".#note", "4913",
	"note.md;1", "note.md,v", "übergang", "名前", "with space", "UPPER.TMP", "note.mdx", "note.markdown", "x.md", "note 2.md", "tmpab12cd34.md",
}

const renameScript = `
import os, sys, tempfile
note, old, new = sys.argv[1:4]
for i, name in enumerate(sys.argv[4:]):
    text = open(note).read()
    with open(name, 'w') as f:
        f.write(text.replace('%s %d' % (new, i), '%s %d' % (new, i + 1)) if i else text.replace(old, new + ' 1'))
        if i % 3 == 0:
            f.flush(); os.fsync(f.fileno())
    try:
        os.replace(name, note)
    except OSError as e:
        print(name, e)
for make in (lambda: tempfile.NamedTemporaryFile('w', dir='.', delete=False), lambda: tempfile.NamedTemporaryFile('w', dir='.', prefix='note.md', delete=False),
             lambda: tempfile.NamedTemporaryFile('w', dir='.', prefix='note', suffix='.txt', delete=False)):
    with make() as f:
        f.write(open(note).read())
    os.replace(f.name, note)
`

// Whatever a program calls the file that it renames over a note, that is a save of the note, and the file leaves nothing.
func TestAnyTemporaryName(t *testing.T) {
	t.Parallel()
	need.Programs(t, "python3")
	for _, mode := range []string{"suggest", "direct"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := harness.NewSandbox(t)
			m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), "--mode", mode)
			cmd := exec.Command("python3", append([]string{"-c", renameScript, "note.md", "boats", "ships"}, temporaryNames...)...)
			cmd.Dir = m.Path("")
			if out := harness.RunCommand(t, cmd); out.Code != 0 || out.Stdout != "" {
				t.Fatalf("exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
			}
			want := strings.Replace(harness.TideTable, "boats", fmt.Sprintf("ships %d", len(temporaryNames)), 1)
			harness.CheckText(t, "the note", harness.ReadFile(t, m.Path("note.md")), want)
			for where, dir := range map[string]string{"vault": m.Vault, "mount": m.Path("")} {
				if got := harness.ListFiles(t, dir); !slices.Equal(got, []string{"note.md"}) {
					t.Errorf("the %s holds %q", where, got)
				}
			}
			if out := s.Run(t, "why", m.Dir, "--json"); strings.Contains(out.Stdout, "errno") {
				t.Errorf("something was refused: %s", out.Stdout)
			}
		})
	}
}

// Where files may not be proposed, one that is no note, and that stays, is a scratch file of the mount. relayfs says why
// the vault does not get it.
func TestFileThatIsNoSave(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), "--structure", "deny")
	if err := os.WriteFile(m.Path("data.csv"), []byte("a,b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	harness.CheckText(t, "the file", harness.ReadFile(t, m.Path("data.csv")), "a,b\n")
	harness.CheckErrno(t, harness.WriteAll(m.Path("new.PNG"), []byte("x")), syscall.EPERM)
	if got := harness.ListFiles(t, m.Path("")); !slices.Equal(got, []string{"data.csv", "note.md"}) {
		t.Errorf("the mount holds %q", got)
	}
	harness.Eventually(t, need.Scaled(20*time.Second), func() error {
		var list []struct{ Op, Path, Errno, Text string }
		out := s.Run(t, "why", m.Dir, "--json")
		if err := json.Unmarshal([]byte(out.Stdout), &list); err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(r struct{ Op, Path, Errno, Text string }) bool { return strings.HasSuffix(r.Path, ".PNG") })
		if len(list) != 1 || list[0].Op != "create" || list[0].Path != "Vault/data.csv" || !strings.Contains(list[0].Text, "structure policy") {
			return fmt.Errorf("relayfs why says %+v", list)
		}
		return nil
	})
	if got := harness.ListFiles(t, m.Vault); !slices.Equal(got, []string{"note.md"}) {
		t.Errorf("the vault holds %q", got)
	}
	harness.CheckText(t, "the file", harness.ReadFile(t, m.Path("data.csv")), "a,b\n")
}
