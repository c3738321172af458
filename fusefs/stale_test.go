package fusefs_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/fusefs"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// reader loops over a folder and checks that whatever it sees is one state: the
// text of a note says its own length, so that a wrong size, a torn view or NUL
// padding shows.
const reader = `
import mmap, os, sys
os.chdir(sys.argv[1]); held = {}; first = {}; seen = 0
def whole(text):
    head, _, _ = text.partition(b'\n')
    return b'\0' not in text and head.isdigit() and int(head) == len(text)
def check(name, how, text):
    global seen
    seen += 1
    if not whole(text):
        head, _, _ = text.partition(b'\n')
        print('%s by %s: says %r, has %d bytes' % (name, how, head, len(text))); sys.exit(1)
def mapped(name):
    with open(name, 'rb') as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m: return m[:]
def sent(name):
    with open(name, 'rb') as f, open(os.memfd_create('copy'), 'r+b') as copy:
        while os.sendfile(copy.fileno(), f.fileno(), None, 1 << 20): pass
        return os.pread(copy.fileno(), 1 << 20, 0)
def spliced(name):
    text = b''; r, w = os.pipe()
    with open(name, 'rb') as f, open(r, 'rb', 0) as r, open(w, 'wb', 0) as w:
        while n := os.splice(f.fileno(), w.fileno(), 1 << 16): text += r.read(n)
        return text
while not os.path.exists('stop.md'):
    for name in os.listdir('.'):
        try:
            with open(name, 'rb') as f: check(name, 'read', f.read())
            for way in mapped, sent, spliced: check(name, way.__name__, way(name))
            if name not in held and len(held) < 8: held[name] = os.open(name, os.O_RDONLY)
        except FileNotFoundError: pass
    for name, fd in held.items():
        text = os.pread(fd, 1 << 20, 0)
        check(name, 'descriptor', text)
        if text != first.setdefault(name, text) or os.fstat(fd).st_size != len(text):
            print('%s by descriptor: has changed' % name); sys.exit(1)
print('ok', seen)
`

// sized is a text of some lines that begins with its own length.
func sized(r *rand.Rand) string {
	body := strings.Repeat("a line of text\n", r.IntN(600))
	for n := len(body); ; n++ {
		if text := fmt.Sprintf("%d\n%s", n, body); len(text) == n {
			return text
		}
	}
}

// TestNothingStale makes random changes under processes that read all the time.
// After each change the mount shows it; at no time do readers see a mixture.
func TestNothingStale(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	need.Programs(t, "python3")
	for _, tc := range []struct {
		name      string
		opts      func(*bridge.Options)
		meanwhile func(context.Context, *fusefs.Server)
	}{
		{"read-write", func(*bridge.Options) {}, nil},
		{"read-only", func(o *bridge.Options) { o.ReadOnly = true }, nil},
		{"small memory", func(o *bridge.Options) { o.CacheBytes = 1 }, nil},
		{"evicted", func(*bridge.Options) {}, func(ctx context.Context, s *fusefs.Server) {
			for ctx.Err() == nil {
				s.Evict(ctx, 3)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			randomtest.Check(t, 2, func(t testing.TB, r *rand.Rand) { nothingStale(t, r, tc.opts, tc.meanwhile) })
		})
	}
}

// nothingStale runs meanwhile beside the readers.
func nothingStale(t testing.TB, r *rand.Rand, opts func(*bridge.Options), meanwhile func(context.Context, *fusefs.Server)) {
	notes := make(map[string]string)
	for i := range 20 {
		notes[fmt.Sprintf("n%d.md", i)] = sized(r)
	}
	files := make(map[string]string)
	for name, text := range notes {
		files["F/"+name] = text
	}
	m := mount(t, files, opts)
	wait := m.startReaders(t, 3)
	if meanwhile != nil {
		go meanwhile(t.Context(), m.server)
	}
	a := m.agent(t, "F")
	next := len(notes)
	for i := range 100 {
		names := slices.Sorted(maps.Keys(notes))
		name := names[r.IntN(len(names))]
		switch op := r.IntN(10); {
		case op == 0 && len(names) > 5:
			m.Delete("F/" + name)
			delete(notes, name)
		case op == 1:
			next++
			name = fmt.Sprintf("n%d.md", next)
			notes[name] = sized(r)
			m.Person("F/"+name, notes[name])
		case op == 2:
			next++
			to := fmt.Sprintf("n%d.md", next)
			m.Rename("F/"+name, "F/"+to)
			notes[to] = notes[name]
			delete(notes, name)
		default:
			notes[name] = sized(r)
			m.Person("F/"+name, notes[name])
		}
		if i%10 == 0 {
			checkShown(t, a, notes)
		}
	}
	checkShown(t, a, notes)
	m.Person("F/stop.md", "8\nstop\n\n")
	wait()
}

func (m *mounted) startReaders(t testing.TB, n int) (wait func()) {
	t.Helper()
	var waits []func()
	for range n {
		cmd := exec.Command("python3", "-c", reader, m.path("F"))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		waits = append(waits, func() {
			select {
			case err := <-done:
				if err != nil || !strings.HasPrefix(out.String(), "ok ") {
					t.Errorf("reader: %v: %s", err, out.String())
				}
			case <-time.After(hangs):
				t.Error("a reader hangs")
			}
		})
	}
	return func() {
		for _, w := range waits {
			w()
		}
	}
}

// checkShown compares names, sizes and contents.
func checkShown(t testing.TB, a *agent, notes map[string]string) {
	t.Helper()
	var names, sizes []string
	for _, name := range slices.Sorted(maps.Keys(notes)) {
		names = append(names, name)
		sizes = append(sizes, fmt.Sprint(len(notes[name])))
	}
	want := strings.Join(names, " ") + " | " + strings.Join(sizes, " ") + " | " + strings.Join(sizes, " ")
	eventually(t, func() error {
		return wants("what the mount shows", a.do(`(lambda l: " ".join(l) + " | " + " ".join(str(os.stat(n).st_size) for n in l)`+
			` + " | " + " ".join(str(len(read(n))) for n in l))(sorted(os.listdir(".")))`), `"`+want+`"`)
	})
}
