package vault_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/need"
)

// savedOften has the ways in which a user's program adds a line to a note. If the program replaces a text that it has not
// read, it returns that text: its save is an old text then.
var savedOften = map[string]func(p person, line string) (unread string){
	"appended": func(p person, line string) string {
		f, err := os.OpenFile(p.path("N.md"), os.O_WRONLY|os.O_APPEND, 0)
		p.check(err)
		_, err = f.WriteString(line)
		p.check(err)
		p.check(f.Close())
		return ""
	},
	"written in place": func(p person, line string) string {
		f, err := os.OpenFile(p.path("N.md"), os.O_RDWR, 0)
		p.check(err)
		text, err := io.ReadAll(f)
		p.check(err)
		p.check(f.Truncate(0))
		_, err = f.WriteAt([]byte(insertLine(string(text), line)), 0)
		p.check(err)
		p.check(f.Close())
		return ""
	},
	"replaced": func(p person, line string) string {
		text := p.Content("N.md")
		p.Save(".new", insertLine(text, line))
		p.check(unix.Renameat2(unix.AT_FDCWD, p.path(".new"), unix.AT_FDCWD, p.path("N.md"), unix.RENAME_EXCHANGE))
		if was := p.Content(".new"); was != text {
			return was
		}
		return ""
	},
}

// insertLine inserts a line that is not within a mark.
func insertLine(text, line string) string {
	lines := strings.SplitAfter(text, "\n")
	for {
		at := rand.IntN(len(lines))
		if before := strings.Join(lines[:at], ""); strings.Count(before, "{") == strings.Count(before, "}") {
			return strings.Join(slices.Insert(lines, at, line), "")
		}
	}
}

// However a user's program saves a note every 50 to 100 ms: each write of an agent arrives, at the latest when the agent
// repeats it. At the end each word is in the note once, the agent's in marks and the user's outside, or in a conflicted copy.
// A save of an old text may change what agents have written.
func TestWritesAmongSaves(t *testing.T) {
	length := 2 * time.Second
	if need.Everything() {
		length = 20 * time.Second
	}
	for name, save := range savedOften {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, p := open(t, vault.Options{})
			p.Save("N.md", "# Note\n\nmiddle\n\n")
			w := startWorkspace(t, v)
			var users, agents, unread []string
			stop := make(chan bool)
			var user sync.WaitGroup
			end := sync.OnceFunc(func() {
				close(stop)
				user.Wait()
			})
			defer end()
			user.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(need.Scaled(time.Duration(50+rand.IntN(50)) * time.Millisecond)): // a write takes longer under the race detector, too
					}
					users = append(users, fmt.Sprintf("p%dz", len(users)))
					unread = append(unread, save(p, users[len(users)-1]+"\n"))
				}
			})
			slowest := time.Duration(0)
			for start := time.Now(); time.Since(start) < length; time.Sleep(time.Duration(rand.IntN(50)) * time.Millisecond) {
				agents = append(agents, fmt.Sprintf("a%dz", len(agents)))
				began := time.Now()
				err := model.ErrConflict // on a slow machine, the program may save between all 32 attempts of a write
				for errors.Is(err, model.ErrConflict) && time.Since(began) < need.Scaled(time.Minute) {
					var base *model.Version
					base, err = w.Open(t.Context(), "V/N.md")
					p.check(err)
					_, err = w.Write(t.Context(), "V/N.md", bridge.Write{
						Base: base, Text: insertLine(base.Text(), agents[len(agents)-1]+"\n"), By: model.Author{Name: "agent"},
					})
				}
				p.check(err)
				slowest = max(slowest, time.Since(began))
			}
			end()
			p.check(v.Close())
			raw := p.Content("N.md")
			original, accepted := strings.Fields(diffwrap.Original(raw)), strings.Fields(diffwrap.Accepted(raw))
			count := func(words []string, word string) (n int) {
				for _, w := range words {
					if w == word {
						n++
					}
				}
				return n
			}
			removed := strings.Join(unread, "")
			copies, err := filepath.Glob(p.path("N (*.md")) // of saves that overlapped with other changes
			p.check(err)
			var copied []string
			for _, name := range copies {
				copied = append(copied, strings.Fields(p.Content(filepath.Base(name)))...)
			}
			for _, word := range users {
				if n := count(accepted, word); n != count(original, word) || n != 1 && (n != 0 || count(copied, word) == 0) {
					t.Errorf("the user's %s is there %d times, and %d times outside of marks", word, count(accepted, word), count(original, word))
				}
			}
			for _, word := range agents {
				if n := count(accepted, word); n > 1 || !strings.Contains(removed, word) && (n == 0 || count(original, word) > 0) {
					t.Errorf("the agent's %s is there %d times, and %d times without its mark", word, n, count(original, word))
				}
			}
			if t.Failed() {
				t.Logf("the note is\n%s\nand its copies are %q", raw, copies)
			}
			t.Logf("%d saves, %d writes, slowest %v", len(users), len(agents), slowest)
		})
	}
}
