package save

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// siblingPrograms read a note, wait, and write what they made of it: argv is the note,
// the word to replace, its replacement, a file to make when the note is read, and one
// to wait for before it is written.
var siblingPrograms = map[string][]string{
	"python, in place": {"python3", "-c", `
import os, sys, time
note, old, new, ready, wait = sys.argv[1:]
text = open(note).read()
open(ready, 'w').close()
while not os.path.exists(wait): time.sleep(0.01)
open(note, 'w').write(text.replace(old, new))`},
	"python, by rename": {"python3", "-c", `
import os, sys, time
note, old, new, ready, wait = sys.argv[1:]
text = open(note).read()
open(ready, 'w').close()
while not os.path.exists(wait): time.sleep(0.01)
open(note + '.tmp', 'w').write(text.replace(old, new)); os.replace(note + '.tmp', note)`},
	"node, in place": {"node", "-e", `
const fs = require('fs'), [note, from, to, ready, wait] = process.argv.slice(1)
const text = fs.readFileSync(note, 'utf8')
fs.writeFileSync(ready, '')
const go = () => fs.existsSync(wait) ? fs.writeFileSync(note, text.replace(from, to)) : setTimeout(go, 10)
go()`},
	"node, by rename": {"node", "-e", `
const fs = require('fs'), [note, from, to, ready, wait] = process.argv.slice(1)
const text = fs.readFileSync(note, 'utf8')
fs.writeFileSync(ready, '')
const go = () => {
  if (!fs.existsSync(wait)) return setTimeout(go, 10)
  fs.writeFileSync(note + '.tmp.' + process.pid, text.replace(from, to)); fs.renameSync(note + '.tmp.' + process.pid, note)
}
go()`},
}

// Two programs that one shell has started read a note, the second one saves, then the
// first one: what each of them changed is there.
func TestSiblingsKeepEachOthersEdits(t *testing.T) {
	t.Parallel()
	need.Programs(t, "sh", "python3", "node")
	const before = "# List\n\nalpha beta gamma\n\ndelta epsilon zeta\n"
	for _, mode := range []string{"suggest", "direct"} {
		s := harness.NewSandbox(t)
		m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"Start.md": before}), "--mode", mode)
		for name, argv := range siblingPrograms {
			t.Run(mode+", "+name, func(t *testing.T) {
				t.Parallel()
				file := strings.ReplaceAll(name, ", ", " ") + ".md"
				harness.WriteFile(t, m.VaultPath(file), before)
				harness.Eventually(t, need.Scaled(10*time.Second), func() error {
					_, err := os.ReadFile(m.Path(file))
					return err
				})
				dir := t.TempDir()
				at := func(name string) string { return filepath.Join(dir, name) }
				const script = `"$@" "$NOTE" beta BETA "$A" "$SAVED" & "$@" "$NOTE" zeta ZETA "$B" "$A" && touch "$SAVED"; wait $!`
				cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, argv...)...)
				cmd.Env = append(os.Environ(), "NOTE="+m.Path(file), "A="+at("a"), "B="+at("b"), "SAVED="+at("saved"))
				if out := harness.RunCommand(t, cmd); out.Code != 0 {
					t.Fatalf("exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
				}
				want := strings.NewReplacer("beta", "BETA", "zeta", "ZETA").Replace(before)
				harness.Eventually(t, need.Scaled(10*time.Second), func() error {
					if got, err := os.ReadFile(m.Path(file)); err != nil || string(got) != want {
						return fmt.Errorf("%s is %q, %v, want %q", file, got, err, want)
					}
					return nil
				})
			})
		}
	}
}
