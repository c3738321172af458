package fusefs_test

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs"
)

// pokerEnv makes the test binary the process that wakes watchers.
const pokerEnv = "FUSEFS_POKER"

// TestPokerChild is what Options.WatchNotifier names.
func TestPokerChild(t *testing.T) {
	if os.Getenv(pokerEnv) == "" {
		t.Skip("runs beside the mount of TestWatchersAreWoken")
	}
	if err := fusefs.RunWatchNotifier(os.Stdin); err != nil {
		t.Fatal(err)
	}
}

// watch has the agent watch its folder for what libuv, and with it VS Code and
// Obsidian, watches for; seen returns the names that events named since.
const (
	watch = `[keep("libc", __import__("ctypes").CDLL(None)), keep("watch", held["libc"].inotify_init1(0o4000)),` +
		` held["libc"].inotify_add_watch(held["watch"], b".", 0x2 | 0x4 | 0x100 | 0x200 | 0x400 | 0x800 | 0x40 | 0x80)] and 1`
	heard = `__import__("select").select([held["watch"]], [], [], 0)[0] != []`
	seen  = `os.read(held["watch"], 65536).replace(b"\0", b" ").decode("latin-1")`
)

// hears waits until the watcher has heard of a name.
func (a *agent) hears(t *testing.T, what, name string) {
	t.Helper()
	var all strings.Builder
	eventually(t, func() error {
		all.WriteString(a.do(seen))
		if !strings.Contains(all.String(), name) {
			return wants("what the watcher hears of "+what, all.String(), name)
		}
		return nil
	})
}

// Programs that watch the mount with inotify hear of what others change.
func TestWatchersAreWoken(t *testing.T) {
	t.Setenv(pokerEnv, "1")
	m := mountWith(t, map[string]string{"F/Note.md": tideTable, "F/Other.md": "x\n", "F/Gone.md": "z\n", "F/sub/Note.md": "y\n"},
		func(o *fusefs.Options) { o.WatchNotifier = []string{os.Args[0], "-test.run=^TestPokerChild$"} })
	a := m.agent(t, "F")
	a.do(watch)
	before := m.sh(t, "F", "stat -c %Y Other.md")
	m.Delete("F/Gone.md") // is an event of the folder itself, without a name
	eventually(t, func() error { return wants("whether the watcher hears of a deletion", a.do(heard), "true") })
	m.Person("F/Note.md", "changed\n")
	a.hears(t, "a change", "Note.md")
	checkText(t, "the note", m.cat(t, "F/Note.md"), "changed\n")
	m.Person("F/New.md", "new\n")
	a.hears(t, "a new note", "New.md")
	m.Rename("F/New.md", "F/Renamed.md")
	a.hears(t, "a rename", "Renamed.md")
	m.Delete("F/Renamed.md")
	checkText(t, "time of a note that nobody changed", m.sh(t, "F", "stat -c %Y Other.md"), before)
	checkText(t, "source", m.SourceText("F/Note.md"), "changed\n")
}

// That the kernel forgets a note wakes nobody, and who watches it hears of its next change.
func TestEvictionWakesNobody(t *testing.T) {
	t.Setenv(pokerEnv, "1")
	m := mountWith(t, map[string]string{"F/Note.md": "one\n", "F/Other.md": "x\n"},
		func(o *fusefs.Options) { o.WatchNotifier = []string{os.Args[0], "-test.run=^TestPokerChild$"} })
	a := m.agent(t, "F")
	a.do(`read("Note.md") + read("Other.md")`)
	a.do(watch)
	a.do(`held["libc"].inotify_add_watch(held["watch"], b"Note.md", 0xfff)`)
	a.do(seen)
	m.server.Evict(t.Context(), 0)
	checkText(t, "whether the watcher hears of the eviction", a.do(heard), "false")
	m.Person("F/Note.md", "two\n")
	a.hears(t, "a change", "Note.md")
	checkText(t, "the note", a.do(`read("Note.md")`), `"two\n"`)
}

// Being woken changes neither the times nor what is suggested.
func TestPokesChangeNothing(t *testing.T) {
	t.Setenv(pokerEnv, "1")
	m := mountWith(t, map[string]string{"F/Note.md": tideTable},
		func(o *fusefs.Options) { o.WatchNotifier = []string{os.Args[0], "-test.run=^TestPokerChild$"} })
	a := m.agent(t, "F")
	a.do(watch)
	m.Person("F/Note.md", "one\n")
	var stat string
	eventually(t, func() error { // the kernel hears of it a moment after the workspace
		if stat = m.sh(t, "F", "stat -c '%s %.9Y' Note.md"); !strings.HasPrefix(stat, "4 ") {
			return wants("size and time", stat, "4 ...")
		}
		return nil
	})
	a.hears(t, "a change", "Note.md")
	checkText(t, "size and time", m.sh(t, "F", "stat -c '%s %.9Y' Note.md"), stat)
	m.sh(t, "F", "sed -i s/one/two/ Note.md")
	m.checkSuggested(t, "F/Note.md", "one\n", "two\n")
}

// A program that watches a note and not its folder hears of each change, also of one that is saved as a new file.
func TestWatchersOfANoteAreWoken(t *testing.T) {
	t.Setenv(pokerEnv, "1")
	m := mountWith(t, map[string]string{"F/Note.md": tideTable, "F/Other.md": "x\n"},
		func(o *fusefs.Options) { o.WatchNotifier = []string{os.Args[0], "-test.run=^TestPokerChild$"} })
	a := m.agent(t, "F")
	a.do(`[keep("libc", __import__("ctypes").CDLL(None)), keep("watch", held["libc"].inotify_init1(0o4000)),` +
		` held["libc"].inotify_add_watch(held["watch"], b"Note.md", 0x2 | 0x4 | 0x8 | 0x400 | 0x800)] and 1`)
	for _, text := range []string{"one\n", "two\n", "three, which is longer\n", "four\n"} {
		checkText(t, "whether the watcher hears of nothing", a.do(heard), "false")
		m.Person("F/Note.md", text)
		eventually(t, func() error { return wants("whether the watcher hears of "+text, a.do(heard), "true") })
		checkText(t, "the note", m.cat(t, "F/Note.md"), text)
		time.Sleep(300 * time.Millisecond) // the rest of the events
		a.do(seen)
	}
	m.Person("F/Other.md", "y\n")
	time.Sleep(300 * time.Millisecond)
	checkText(t, "whether the watcher hears of another note", a.do(heard), "false")
	checkText(t, "the folder", m.sh(t, "F", "ls -a .. | tr '\\n' ' '"), ". .. F ")
}

// The process that wakes watchers is refused nothing that anybody is told.
func TestPokesAreNoRefusals(t *testing.T) {
	t.Setenv(pokerEnv, "1")
	var mu sync.Mutex
	var refused []model.Refusal
	m := mountWith(t, map[string]string{"F/Latin.md": "caf\xe9\n", "F/picture.png": "png"}, func(o *fusefs.Options) {
		o.WatchNotifier = []string{os.Args[0], "-test.run=^TestPokerChild$"}
		o.Refused = func(r model.Refusal) {
			mu.Lock()
			defer mu.Unlock()
			refused = append(refused, r)
		}
	})
	a := m.agent(t, "F")
	a.do(watch)
	m.Person("F/Latin.md", "caf\xe8\n")
	a.hears(t, "a change", "Latin.md")
	m.Person("F/picture.png", "png2")
	a.hears(t, "a change", "picture.png")
	time.Sleep(300 * time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	if len(refused) > 0 {
		t.Errorf("refused: %+v", refused)
	}
}
