package servers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// typedNote is a note into which a person types letters in front of the bar: a, b, c
// and so on. Whatever it looks like in between, the letters are the first of those,
// and what stands around them is whole.
func typedNote(alpha, typed, omega int) string {
	letters := strings.Repeat("abcdefghijklmnopqrstuvwxyz", typed/26+1)[:typed]
	return fmt.Sprintf("# Typed\n\nalpha %d beta gamma\n\n<%s| rest of the line\n\nomega %d\n\n%sThe end.\n",
		alpha, letters, omega, strings.Repeat("A line that nobody touches.\n", 20))
}

var typedParts = regexp.MustCompile(`(?s)^# Typed\n\nalpha (\d+) beta gamma\n\n<([a-z]*)\| rest of the line\n\nomega (\d+)\n`)

// checkTypedNote says what is wrong with a text that should be some state of typedNote.
func checkTypedNote(text string) error {
	m := typedParts.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("torn: %q", text)
	}
	alpha, _ := strconv.Atoi(m[1])
	omega, _ := strconv.Atoi(m[3])
	if want := typedNote(alpha, len(m[2]), omega); text != want {
		return fmt.Errorf("torn: %q, want %q", text, want)
	}
	return nil
}

// typedFolder is a server's folder with a note Live.md, into which a person types until stop is called, which tells how
// many letters stay. The folder is mounted with flags.
func typedFolder(t *testing.T, flags ...string) (dir string, person *yjsPerson, stop func() int) {
	t.Helper()
	g := anyServer(t)
	person = g.person(t)
	person.do("create", map[string]any{"path": "Live.md", "text": typedNote(0, 0, 0)})
	s := harness.NewSandbox(t)
	m := s.MountAt(t, g.url+"#Team="+g.folder, s.Mkdir(t, "mnt"), flags...)
	dir = filepath.Join(m.Dir, "Team")
	harness.FileBecomes(t, filepath.Join(dir, "Live.md"), typedNote(0, 0, 0))
	person.do("type", map[string]any{"path": "Live.md", "mark": "|"})
	return dir, person, func() (typed int) {
		t.Helper()
		person.do("stopTyping", nil, &typed)
		return typed
	}
}

// tornReaders print each text that they read, as lines of JSON, until the time in
// seconds has passed.
var tornReaders = map[string][]string{
	"node": {"node", "-e", `
const fs = require('fs'), [note, seconds] = process.argv.slice(1)
const end = Date.now() + 1000 * seconds, show = text => console.log(JSON.stringify(text))
async function main() {
  while (Date.now() < end) {
    show(await fs.promises.readFile(note, 'utf8'))
    show(fs.readFileSync(note, 'utf8'))
    show(await new Promise((ok, bad) => fs.readFile(note, 'utf8', (e, text) => e ? bad(e) : ok(text))))
    let text = ''
    for await (const part of fs.createReadStream(note, { encoding: 'utf8', highWaterMark: 100 })) text += part
    show(text)
  }
}
main()`},
	"python": {"python3", "-c", `
import json, mmap, os, sys, time
note, seconds = sys.argv[1:]
def whole(f): return f.read()
def by_size(f): return os.read(f.fileno(), os.fstat(f.fileno()).st_size)
def late(f):
    size = os.fstat(f.fileno()).st_size; time.sleep(0.12)
    return os.read(f.fileno(), size)
def pieces(f):
    text = b''
    while part := os.read(f.fileno(), 100):
        text += part; time.sleep(0.01)
    return text
def mapped(f):
    with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m: return m[:]
def sent(f):
    with open(os.memfd_create('copy'), 'r+b') as copy:
        while os.sendfile(copy.fileno(), f.fileno(), None, 1 << 20): pass
        return os.pread(copy.fileno(), 1 << 20, 0)
def spliced(f):
    text = b''; r, w = os.pipe()
    with open(r, 'rb', 0) as r, open(w, 'wb', 0) as w:
        while n := os.splice(f.fileno(), w.fileno(), 1 << 16): text += r.read(n)
    return text
end = time.time() + float(seconds)
while time.time() < end:
    for how in whole, by_size, late, pieces, mapped, sent, spliced:
        with open(note, 'rb') as f: print(json.dumps(how(f).decode()))`},
	"programs": {"python3", "-c", `
import json, subprocess, sys, time
note, seconds = sys.argv[1:]
ways = ['cat "$1"', 'sed -n p "$1"', 'cp "$1" "$2" && cat "$2"', 'dd if="$1" bs=64 status=none', 'head -c 1000000 "$1"',
    'tail -n +1 "$1"', 'python3 -c "import shutil, sys; shutil.copyfile(*sys.argv[1:])" "$1" "$2" && cat "$2"']
end = time.time() + float(seconds)
copy = subprocess.check_output(['mktemp'], text=True).strip()
while time.time() < end:
    for way in ways: print(json.dumps(subprocess.check_output(['sh', '-c', way, 'sh', note, copy], text=True)))
subprocess.run(['rm', copy])`},
}

// whenever runs a test on the machine as it is, and for make soak on one that is busy.
func whenever(t *testing.T, test func(t *testing.T)) {
	t.Run("as it is", test)
	if os.Getenv("RELAYFS_SOAK") == "" {
		return
	}
	t.Run("busy", func(t *testing.T) {
		need.Programs(t, "stress-ng")
		cmd := exec.Command("stress-ng", "--cpu", "4", "--io", "2", "--timeout", fmt.Sprintf("%.0fs", need.Scaled(time.Minute).Seconds()), "--temp-path", t.TempDir())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
		})
		test(t)
	})
}

// Programs read a note while a person types in the middle of it, in a Yjs client or
// in an editor that saves all the time: each of them reads one state of it, whole.
func TestReadsAreNotTorn(t *testing.T) {
	t.Parallel()
	need.Programs(t, "node", "python3", "sh", "sed", "dd")
	whenever(t, func(t *testing.T) {
		dir, _, stopTyping := typedFolder(t)
		s := harness.NewSandbox(t)
		m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"Saved.md": typedNote(0, 0, 0)}))
		stop := make(chan struct{})
		saved := make(chan error, 1)
		go func() { saved <- saveAllTheTime(m.VaultPath("Saved.md"), stop) }()
		t.Run("readers", func(t *testing.T) {
			for name, argv := range tornReaders {
				for _, note := range []string{filepath.Join(dir, "Live.md"), m.Path("Saved.md")} {
					t.Run(name+" "+filepath.Base(note), func(t *testing.T) {
						t.Parallel()
						readStates(t, note, argv)
					})
				}
			}
		})
		close(stop)
		if err := <-saved; err != nil {
			t.Error(err)
		}
		harness.FileBecomes(t, filepath.Join(dir, "Live.md"), typedNote(0, stopTyping(), 0))
	})
}

// saveAllTheTime is a person whose editor saves at each key.
func saveAllTheTime(file string, stop <-chan struct{}) error {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return nil
		case <-time.After(25 * time.Millisecond):
		}
		tmp := file + ".tmp"
		if err := os.WriteFile(tmp, []byte(typedNote(0, n%40, 0)), 0o644); err != nil {
			return err
		}
		if err := os.Rename(tmp, file); err != nil {
			return err
		}
	}
}

func readStates(t *testing.T, note string, argv []string) {
	cmd := exec.CommandContext(t.Context(), argv[0], append(slices.Clone(argv[1:]), note, "1")...)
	out := harness.RunCommand(t, cmd)
	if out.Code != 0 {
		t.Errorf("exit %d: %s", out.Code, out.Stderr)
	}
	reads, torn := 0, 0
	for line := range strings.Lines(out.Stdout) {
		var text string
		if err := json.Unmarshal([]byte(line), &text); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		reads++
		if err := checkTypedNote(text); err != nil {
			if torn++; torn <= 3 {
				t.Error(err)
			}
		}
	}
	if torn > 0 || reads == 0 {
		t.Errorf("%d of %d reads are torn", torn, reads)
	}
}

// tornWriters read a note, change a word in it and write it back: argv is the note, the
// word, and the seconds. They print the number that they wrote last.
var tornWriters = map[string][]string{
	"node": {"node", "-e", `
const fs = require('fs'), [note, word, seconds] = process.argv.slice(1)
const end = Date.now() + 1000 * seconds
async function main() {
  let n = 0
  for (; Date.now() < end; await new Promise(ok => setTimeout(ok, 20))) {
    const text = await fs.promises.readFile(note, 'utf8')
    await fs.promises.writeFile(note, text.replace(new RegExp(word + ' \\d+'), word + ' ' + ++n))
  }
  console.log(n)
}
main()`},
	"node, by rename": {"node", "-e", `
const fs = require('fs'), [note, word, seconds] = process.argv.slice(1)
const end = Date.now() + 1000 * seconds
async function main() {
  let n = 0
  for (; Date.now() < end; await new Promise(ok => setTimeout(ok, 20))) {
    const text = await fs.promises.readFile(note, 'utf8'), tmp = note + '.tmp.' + process.pid + '.0123456789ab'
    await fs.promises.writeFile(tmp, text.replace(new RegExp(word + ' \\d+'), word + ' ' + ++n))
    await fs.promises.rename(tmp, note)
  }
  console.log(n)
}
main()`},
	"sed -i": {"sh", "-c", `
end=$(($(date +%s) + $3)) n=0
while [ $(date +%s) -lt $end ]; do n=$((n + 1)); sed -i "s/$2 [0-9]*/$2 $n/" "$1" || exit; done
echo $n`, "sh"},
	"perl -pi": {"sh", "-c", `
end=$(($(date +%s) + $3)) n=0
while [ $(date +%s) -lt $end ]; do n=$((n + 1)); perl -pi -e "s/$2 [0-9]*/$2 $n/" "$1" || exit; done
echo $n`, "sh"},
}

// Programs read a note, change a word and write it back, all the time, while a person
// types in it: in the end the note has all that the person has typed and the words, and
// nothing else has changed.
func TestWritesBesideTyping(t *testing.T) {
	t.Parallel()
	need.Programs(t, "node", "sh", "sed", "perl")
	whenever(t, func(t *testing.T) {
		rng := randomtest.New(t)
		for name, argv := range tornWriters {
			modes := []string{"suggest", "direct"}
			if !randomtest.Soaks() {
				modes = modes[rng.IntN(2):][:1]
			}
			for _, mode := range modes {
				t.Run(mode+", "+name, func(t *testing.T) {
					t.Parallel()
					writeBesideTyping(t, mode, argv)
				})
			}
		}
	})
}

func writeBesideTyping(t *testing.T, mode string, argv []string) {
	dir, person, stopTyping := typedFolder(t, "--mode", mode)
	note := filepath.Join(dir, "Live.md")
	var written [2]int
	for i, word := range []string{"alpha", "omega"} {
		cmd := exec.CommandContext(t.Context(), argv[0], append(slices.Clone(argv[1:]), note, word, "2")...)
		out := harness.RunCommand(t, cmd)
		if _, err := fmt.Sscan(out.Stdout, &written[i]); err != nil || out.Code != 0 {
			t.Fatalf("exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
		}
	}
	typed := stopTyping()
	want := typedNote(written[0], typed, written[1])
	harness.FileBecomes(t, note, want)
	harness.Eventually(t, harness.StartTimeout, func() error {
		var raw string
		person.do("text", map[string]any{"path": "Live.md"}, &raw)
		if mode == "suggest" && diffwrap.Everything.Original(raw) != typedNote(0, typed, 0) || diffwrap.Accepted(raw) != want {
			return fmt.Errorf("the person has %q, want %q", raw, want)
		}
		return nil
	})
}
