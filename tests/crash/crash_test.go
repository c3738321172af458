package crash

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// crashNotes is how many notes the writers of TestKillLosesNoWrite share out.
const crashNotes = 12

// written is what is known of a note: the text of the last write whose close
// returned, and that of one which was under way when the process was killed.
type written struct {
	kept, tried string
	listed      []harness.Suggestion // the note's since it was written last; nil if nobody has listed them
}

// kills says after how many writes, at most, each kill comes. Where it falls
// matters, so there are several, the first ones early. RELAYFS_KILLS asks for
// that many more.
func kills(t *testing.T, rng *rand.Rand) []int {
	list := []int{1, 5, 30, 60, 100, 100}
	if env := os.Getenv("RELAYFS_KILLS"); env != "" {
		more, err := strconv.Atoi(env)
		if err != nil {
			t.Fatalf("RELAYFS_KILLS: %v", err)
		}
		for range more {
			list = append(list, 1+rng.IntN(40))
		}
	}
	return list
}

// kill -9 at any time during 200 random writes, while a person saves, makes,
// moves and deletes notes beside them, and others are renamed and deleted on the
// mount and decided upon, loses no write whose close had returned and no proposal,
// and the next start is clean.
func TestKillLosesNoWrite(t *testing.T) {
	t.Parallel()
	rng := randomtest.New(t)
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	notes := make(map[string]written)
	for i := range crashNotes {
		name := fmt.Sprintf("folder %d/note %d.md", i%3, i)
		files[name] = harness.TideTable
		notes[name] = written{kept: harness.TideTable}
	}
	vault := s.Vault(t, "Vault", files)
	names := append(harness.ListFiles(t, vault), "proposals 0/", "proposals 1/")
	p := &person{vault: vault, texts: make(map[string]string)}
	q := &proposer{s: s, vault: vault, notes: make(map[string]place)}
	for round, after := range kills(t, rng) {
		q.restock(t)
		m := s.Mount(t, vault)
		checkAllAfterCrash(t, m, notes, p, q, names)
		writeUntilKilled(t, m, notes, p, q, rng, rng.IntN(after)+1)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
		if out := s.Run(t, "unmount", m.Dir); out.Code != 0 {
			t.Fatalf("unmount of the dead mount: exit %d: %s", out.Code, out.Stderr)
		}
	}
	m := s.Mount(t, vault)
	checkAllAfterCrash(t, m, notes, p, q, names)
	m.Stop(t)
	checkListed(t, s.Suggestions(t, vault), notes)
	for name, w := range notes {
		raw := harness.ReadFile(t, filepath.Join(vault, name))
		harness.CheckText(t, "original view of "+name, diffwrap.Everything.Original(raw), harness.TideTable)
		harness.CheckText(t, "accepted view of "+name, diffwrap.Everything.Accepted(raw), w.kept)
	}
}

// writeUntilKilled has four programs' worth of writers write 200 times in all,
// and kills the mount once n of the writes are through. Meanwhile the person and
// the proposer go on, and somebody lists and stats the folders all the time.
func writeUntilKilled(t *testing.T, m *harness.Mount, notes map[string]written, p *person, q *proposer, rng *rand.Rand, n int) {
	t.Helper()
	const writers, each = 4, 50
	var (
		mu   sync.Mutex // protects notes and through
		wg   sync.WaitGroup
		kill = make(chan struct{})
	)
	killing := make(chan struct{}) // closed when errors are to be expected
	enough := sync.OnceFunc(func() {
		close(killing)
		close(kill)
	})
	through := 0
	names := make([]string, 0, len(notes))
	for name := range notes {
		names = append(names, name)
	}
	slices.Sort(names)
	for w := range writers {
		rng := rand.New(rand.NewPCG(rng.Uint64(), uint64(w)))
		wg.Go(func() {
			for i := range each {
				name := names[w+writers*rng.IntN(len(names)/writers)]
				mu.Lock()
				text := randomEdit(rng, notes[name].kept, i)
				notes[name] = written{kept: notes[name].kept, tried: text}
				mu.Unlock()
				err := saveInSomeShape(rng, m.Path(name), text)
				var listed []harness.Suggestion
				saved := err == nil
				if saved && rng.IntN(4) == 0 {
					if listed, err = listQueue(m.Sandbox, m.Vault); err == nil {
						listed, _ = listedFor(listed, name)
					}
				}
				mu.Lock()
				if saved {
					notes[name] = written{kept: text, listed: listed}
					through++
					if through == n {
						enough()
					}
				}
				mu.Unlock()
				if err != nil {
					select {
					case <-killing:
					default:
						t.Errorf("save of %s, or the queue then: %v", name, err)
						enough()
					}
					return // the process is dead
				}
			}
		})
	}
	stop := make(chan struct{})
	personRNG := rand.New(rand.NewPCG(rng.Uint64(), 0))
	wg.Go(func() { p.goOn(t, personRNG, stop) })
	proposerRNG := rand.New(rand.NewPCG(rng.Uint64(), 0))
	wg.Go(func() {
		err := q.goOn(m, proposerRNG, stop)
		select {
		case <-killing:
		default:
			t.Errorf("the proposer ends: %v", err)
			enough()
		}
	})
	wg.Go(func() { lookAround(m, stop) })
	<-kill
	m.Kill(t)
	close(stop)
	wg.Wait()
}

// lookAround looks up names in the mount until stop is closed.
func lookAround(m *harness.Mount, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		dir := m.Path(fmt.Sprintf("folder %d", i%3))
		_, _ = os.ReadDir(dir)
		_, _ = os.Stat(filepath.Join(dir, fmt.Sprintf("missing %d", i)))
		_, _ = os.ReadFile(filepath.Join(dir, fmt.Sprintf("person %d.md", i%personNotes)))
	}
}

// personNotes is how many names a person uses in each folder.
const personNotes = 6

// person changes notes of its own in the vault, beside those that programs
// write on the mount.
type person struct {
	vault string
	texts map[string]string // the notes as they are
}

// goOn makes random changes until stop is closed.
func (p *person) goOn(t *testing.T, rng *rand.Rand, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(rng.IntN(5)) * time.Millisecond):
		}
		if err := p.change(rng, i); err != nil {
			t.Errorf("a person's change: %v", err)
			return
		}
	}
}

// change saves, moves or deletes one note.
func (p *person) change(rng *rand.Rand, i int) error {
	name := func() string { return fmt.Sprintf("folder %d/person %d.md", rng.IntN(3), rng.IntN(personNotes)) }
	from, to := name(), name()
	text, there := p.texts[from]
	switch what := rng.IntN(4); {
	case there && what == 0:
		delete(p.texts, from)
		return os.Remove(filepath.Join(p.vault, from))
	case there && what == 1:
		delete(p.texts, from)
		p.texts[to] = text
		return os.Rename(filepath.Join(p.vault, from), filepath.Join(p.vault, to))
	}
	p.texts[to] = fmt.Sprintf("a person's text %d\n", i)
	return os.WriteFile(filepath.Join(p.vault, to), []byte(p.texts[to]), 0o644)
}

// check compares the mount with what the person has left in the vault.
func (p *person) check(t *testing.T, m *harness.Mount) {
	t.Helper()
	for name, text := range p.texts {
		harness.CheckText(t, name+" on the mount", harness.ReadFile(t, m.Path(name)), text)
		harness.CheckText(t, name+" in the vault", harness.ReadFile(t, m.VaultPath(name)), text)
	}
}

// randomEdit changes a word, adds a line or drops one.
func randomEdit(rng *rand.Rand, text string, i int) string {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	at := rng.IntN(len(lines))
	switch rng.IntN(4) {
	case 0:
		lines = slices.Insert(lines, at, fmt.Sprintf("new line %d of %d\n", i, rng.IntN(1000)))
	case 1:
		if len(lines) > 6 {
			lines = slices.Delete(lines, at, at+1)
			break
		}
		fallthrough
	default:
		words := strings.SplitAfter(lines[at], " ")
		words[rng.IntN(len(words))] = fmt.Sprintf("word%d ", rng.IntN(1000))
		lines[at] = strings.TrimRight(strings.Join(words, ""), " \n") + "\n"
	}
	return strings.TrimRight(strings.Join(lines, ""), "\n") + "\n"
}

// randomSave writes the note in place or by rename; its error is that of close
// or rename, after which the product has promised to keep the text.
func randomSave(rng *rand.Rand, name, text string) error {
	if rng.IntN(2) == 0 {
		return os.WriteFile(name, []byte(text), 0o644)
	}
	temp := fmt.Sprintf("%s.tmp.%d.%x", name, os.Getpid(), rng.Uint32())
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, name)
}

// saveInSomeShape is randomSave, or one of the ways in which the note is gone, or
// half of it is there, for a moment.
func saveInSomeShape(rng *rand.Rand, name, text string) error {
	switch rng.IntN(5) {
	case 0: // as vim: a backup, which is the note itself until the new one is written
		backup := name + "~"
		if err := os.Rename(name, backup); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
		_ = os.Remove(backup) // what counts is that the note is closed
		return nil
	case 1:
		return overwriteEnd(name, text)
	case 2:
		if err := os.Remove(name); err != nil {
			return err
		}
		return os.WriteFile(name, []byte(text), 0o644)
	}
	return randomSave(rng, name, text)
}

// overwriteEnd writes what differs, in place and at once: of several pieces some
// may be kept, as on any disk.
func overwriteEnd(name, text string) (err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	old, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	same := 0
	for same < min(len(old), len(text)) && old[same] == text[same] {
		same++
	}
	if len(text) < len(old) {
		if err := f.Truncate(0); err != nil {
			return err
		}
		same = 0
	}
	_, err = f.WriteAt([]byte(text[same:]), int64(same))
	return err
}

// checkAfterCrash checks each note and the vault's names, and settles which of
// the two possible texts a note has.
func checkAfterCrash(t *testing.T, m *harness.Mount, notes map[string]written, names []string) {
	t.Helper()
	for name, w := range notes {
		if _, err := os.Stat(m.Path(name)); errors.Is(err, fs.ErrNotExist) && w.tried != "" {
			writtenAnew(t, m, name, w)
		}
		got := harness.ReadFile(t, m.Path(name))
		if got != w.kept && (w.tried == "" || got != w.tried) {
			harness.CheckText(t, name+" after a kill", got, w.kept)
			t.Logf("under way was %q\nthe vault's file is %q", w.tried, harness.ReadFile(t, m.VaultPath(name)))
		}
		notes[name] = written{kept: got, listed: w.listed}
	}
	harness.Eventually(t, harness.StartTimeout, func() error { // the start may have written, and a temp file goes last
		if got := harness.ListFiles(t, m.Vault); !slices.Equal(got, names) {
			return fmt.Errorf("vault holds %q after a kill, want %q", got, names)
		}
		return nil
	})
	if log := m.Log.String(); strings.Contains(log, "error") {
		t.Errorf("the start after a kill is not clean:\n%s", log)
	}
}

// The mountpoint of a killed process is a dead mount; mounting there again
// works without an unmount by hand, however soon.
func TestMountOverADeadMount(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	first := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	for range 4 {
		first.Kill(t)
		first = s.MountAt(t, first.Vault, first.Dir)
	}
	first.Kill(t)
	if _, err := os.ReadDir(first.Dir); err == nil {
		t.Fatal("the mountpoint of a killed process can be read")
	}
	second := s.MountAt(t, first.Vault, first.Dir)
	harness.CheckText(t, "note", harness.ReadFile(t, second.Path("note.md")), harness.TideTable)
	second.Stop(t)
	if harness.IsMounted(first.Dir) {
		t.Error("the dead mount is still below")
	}
}

// A write is its writer's also if the process is killed at once when its close has
// returned.
func TestKillKeepsAuthors(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	const rounds, perRound = 8, 3
	files := make(map[string]string)
	for i := range rounds * perRound {
		files[fmt.Sprintf("note %d.md", i)] = harness.TideTable
	}
	vault := s.Vault(t, "Vault", files)
	for round := range rounds {
		m := s.Mount(t, vault, "--author", "Ada")
		for i := range perRound {
			name := fmt.Sprintf("note %d.md", round*perRound+i)
			harness.WriteFile(t, m.Path(name), strings.Replace(harness.TideTable, "six", "seven 😀", 1))
		}
		m.Kill(t)
		if out := s.Run(t, "unmount", m.Dir); out.Code != 0 {
			t.Fatalf("unmount of the dead mount: exit %d: %s", out.Code, out.Stderr)
		}
	}
	list := s.Suggestions(t, vault)
	if len(list) != len(files) {
		t.Errorf("%d suggestions, want %d", len(list), len(files))
	}
	for _, sg := range list {
		if sg.Author != "Ada" || sg.Time == "" || sg.Old != "six" || sg.New != "seven 😀" {
			t.Errorf("after the kills: %s by %q at %s", sg, sg.Author, sg.Time)
		}
	}
}
