package crash

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// moverEnv has the folder, name and seed of an agent's process.
const moverEnv = "RELAYFS_TEST_MOVER"

func init() {
	var dir, name string
	var seed uint64
	if env := os.Getenv(moverEnv); env != "" {
		if _, err := fmt.Sscan(env, &dir, &name, &seed); err != nil {
			panic(err)
		}
		writeWhereNotesMove(dir, name, rand.New(rand.NewPCG(seed, 0)))
		os.Exit(0)
	}
}

// writeWhereNotesMove is an agent that adds words to notes until its input ends. It prints a line for each save: the
// outcome, the kind, the word, the path and the error.
func writeWhereNotesMove(dir, name string, r *rand.Rand) {
	ended := make(chan struct{})
	go func() {
		bufio.NewReader(os.Stdin).ReadByte()
		close(ended)
	}()
	for i := 0; ; i++ {
		select {
		case <-ended:
			return
		default:
		}
		var notes []string
		filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(p, ".md") {
				notes = append(notes, p)
			}
			return nil
		})
		if len(notes) == 0 {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		p, word := notes[r.IntN(len(notes))], fmt.Sprintf("%sx%d", name, i)
		kind := "wns"[r.IntN(3)] // write in place, make a new note, append to a note that other agents make too
		err := func() error {
			if kind == 'n' { // a new note next to p
				p = filepath.Join(filepath.Dir(p), "new-"+word+".md")
				return writeFile(p, word+"\n", os.O_CREATE|os.O_EXCL, r)
			}
			if kind == 's' {
				p = filepath.Join(filepath.Dir(p), fmt.Sprintf("new-shared%d.md", i/3))
				return writeFile(p, word+"\n", os.O_CREATE|os.O_APPEND, r)
			}
			text, err := os.ReadFile(p)
			if err != nil || len(text) == 0 {
				return errors.Join(err, errUnwritten)
			}
			changed := string(text) + word + "\n"
			return writeFile(p, changed, os.O_TRUNC, r)
		}()
		if errors.Is(err, errUnwritten) {
			continue
		}
		outcome := "ok"
		if err != nil {
			outcome = "failed"
		}
		fmt.Printf("%s %c %s %s %q\n", outcome, kind, word, strings.TrimPrefix(p, dir+"/"), fmt.Sprint(err))
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	}
}

var errUnwritten = errors.New("nothing was written")

func writeFile(p, text string, flag int, r *rand.Rand) error {
	f, err := os.OpenFile(p, os.O_WRONLY|flag, 0o644)
	if err != nil {
		return err
	}
	if r.IntN(3) == 0 {
		time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
	}
	_, err = f.WriteString(text)
	if r.IntN(3) == 0 {
		time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
	}
	return errors.Join(err, f.Close())
}

// A user moves notes and folders in the vault while agents write on the mount, and the mount is killed now and then. At
// the end each note exists once, at the path that the user has given it, and has each word once.
func TestUserMovesNotesThatAgentsWrite(t *testing.T) {
	t.Parallel()
	r := randomtest.New(t)
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	at := make(map[string]string) // note -> rel
	for i := range 12 {
		rel := fmt.Sprintf("d%d/s%d/n%d.md", i%3, i%2, i)
		at[fmt.Sprintf("note%d", i)] = rel
		files[rel] = fmt.Sprintf("note%d\n\nA line.\n", i)
	}
	vault := s.Vault(t, "Vault", files)
	mnt := s.Mkdir(t, "mnt")
	m := s.MountAt(t, vault, mnt)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var lines []string
	var stops []func()
	for a := range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %c %d", moverEnv, filepath.Dir(m.Path("x")), 'a'+a, r.Uint64()))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stops = append(stops, func() { in.Close() })
		wg.Go(func() {
			for sc := bufio.NewScanner(out); sc.Scan(); {
				mu.Lock()
				lines = append(lines, sc.Text())
				mu.Unlock()
			}
			cmd.Wait()
		})
	}
	var moves []string // former paths
	var free []string  // paths that notes had
	for i, end := 0, time.Now().Add(4*time.Second); time.Now().Before(end); i++ {
		time.Sleep(time.Duration(r.IntN(120)) * time.Millisecond)
		keys := slices.Sorted(maps.Keys(at))
		key := keys[r.IntN(len(keys))]
		from, to := at[key], ""
		if r.IntN(2) == 0 { // a folder
			from = filepath.Dir(from)
			if r.IntN(2) == 0 && filepath.Dir(from) != "." {
				from = filepath.Dir(from)
			}
			to = filepath.Join(filepath.Dir(from), fmt.Sprintf("f%d", i))
		} else {
			to = filepath.Join(filepath.Dir(at[keys[r.IntN(len(keys))]]), fmt.Sprintf("m%d.md", i))
			if len(free) > 0 && r.IntN(3) == 0 {
				if old := free[r.IntN(len(free))]; !exists(filepath.Join(vault, old)) && exists(filepath.Dir(filepath.Join(vault, old))) {
					to = old
				}
			}
		}
		if err := syscall.Rename(filepath.Join(vault, from), filepath.Join(vault, to)); err != nil {
			t.Logf("mv %s %s: %v", from, to, err)
			continue
		}
		moves = append(moves, from)
		if strings.HasSuffix(from, ".md") {
			free = append(free, from)
		}
		for k, rel := range at {
			if rel == from {
				at[k] = to
			} else if rest, ok := strings.CutPrefix(rel, from+"/"); ok {
				at[k] = to + "/" + rest
			}
		}
		if r.IntN(15) == 0 {
			m.Kill(t)
			m = s.MountAt(t, vault, mnt)
		}
	}
	for _, stop := range stops {
		stop()
	}
	wg.Wait()
	time.Sleep(time.Second)
	m.Stop(t)

	texts := make(map[string]string)
	var all strings.Builder
	filepath.WalkDir(vault, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(p, "/.obsidian/") {
			data, _ := os.ReadFile(p)
			texts[strings.TrimPrefix(p, vault+"/")] = string(data)
			all.Write(data)
			all.WriteByte('\n')
		}
		return nil
	})
	wordsIn := make(map[string]int)
	for _, w := range regexp.MustCompile(`[a-z0-9]+`).FindAllString(all.String(), -1) {
		wordsIn[w]++
	}
	newNotes := make(map[string]bool)
	for _, line := range lines {
		f := strings.Fields(line)
		if base := filepath.Base(f[3]); strings.HasPrefix(base, "new-") {
			newNotes[base] = true
		}
		if n := wordsIn[f[2]]; n > 1 || n == 0 && f[0] == "ok" {
			t.Errorf("the vault has a word %d times: %s", n, line)
		}
	}
	for note, rel := range at {
		if wordsIn[note] != 1 || !strings.Contains(texts[rel], note) {
			t.Errorf("%s is %d times in the vault, and %s has %q", note, wordsIn[note], rel, texts[rel])
		}
		delete(texts, rel)
	}
	for rel, text := range texts {
		if !newNotes[filepath.Base(rel)] {
			t.Errorf("the vault has %s, too: %q", rel, text)
		}
	}
	for _, mv := range moves {
		if !strings.HasSuffix(mv, ".md") && exists(filepath.Join(vault, mv)) {
			t.Errorf("the folder %s is back, which the user has moved away", mv)
		}
	}
}

func exists(p string) bool { _, err := os.Lstat(p); return err == nil }
