package fusefs_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// lateSource reports users' changes late.
type lateSource struct {
	*bridgetest.Source
	delay *atomic.Int64
}

func (s lateSource) Run(ctx context.Context, changed func(model.SourceEvent)) error {
	return s.Source.Run(ctx, func(ev model.SourceEvent) {
		time.Sleep(time.Duration(s.delay.Load()))
		changed(ev)
	})
}

// movedWay is a way in which an agent saves a note with one more line. open gets the path, and runs before the user acts.
type movedWay struct {
	open, save string
	byHandle   bool // the save goes to an open file
}

var movedWays = map[string]movedWay{
	"in place":      {`keep("f", os.open(%q, os.O_RDWR))`, `(os.write(held["f"], (held["t"] + %q).encode()), os.close(held["f"]))[0]`, true},
	"truncated":     {`keep("f", os.open(%q, os.O_RDWR | os.O_TRUNC))`, `(os.write(held["f"], (held["t"] + %q).encode()), os.close(held["f"]))[0]`, true},
	"appended":      {`keep("f", os.open(%q, os.O_WRONLY | os.O_APPEND))`, `(os.write(held["f"], %q.encode()), os.close(held["f"]))[0]`, true},
	"written":       {`keep("p", %q)`, `write(held["p"], held["t"] + %q)`, false},
	"replaced":      {`keep("p", %q)`, `replace(held["p"], held["t"] + %q)`, false},
	"created again": {`keep("p", %q)`, `(os.unlink(held["p"]), write(held["p"], held["t"] + %q))[0]`, false},
}

// usersOfMoved has what a user does while the agent saves the note. relayfs has followed each step before the next one.
var usersOfMoved = map[string]func(u *movingUser){
	"note":      func(u *movingUser) { u.rename("S/A.md", "S/Moved.md") },
	"elsewhere": func(u *movingUser) { u.rename("S/A.md", "T/A.md") },
	"folder":    func(u *movingUser) { u.rename("S", "Moved") },
	"there and back": func(u *movingUser) {
		u.rename("S", "Moved")
		u.rename("Moved", "S")
	},
	"exchanged": func(u *movingUser) {
		u.rename("S/A.md", "S/C.md")
		u.rename("S/B.md", "S/A.md")
		u.rename("S/C.md", "S/B.md")
	},
	"exchanged at once": func(u *movingUser) {
		u.m.Source("F").Person(u.t).Exchange("S/A.md", "S/B.md")
		if err := u.m.Source("F").Settle(u.t.Context()); err != nil {
			u.t.Error(err)
		}
		u.at["alpha"], u.at["beta"] = u.at["beta"], u.at["alpha"]
	},
	"removed": func(u *movingUser) { u.remove("S/A.md") },
	"another": func(u *movingUser) {
		u.remove("S/A.md")
		u.m.Person("F/S/A.md", "gamma\n")
		u.at["gamma"] = "S/A.md"
	},
}

type movingUser struct {
	t  testing.TB
	m  *mounted
	at map[string]string // the path of each note, by its first word
}

func (u *movingUser) rename(from, to string) {
	u.m.Rename("F/"+from, "F/"+to)
	for word, at := range u.at {
		if at == from || strings.HasPrefix(at, from+"/") {
			u.at[word] = to + strings.TrimPrefix(at, from)
		}
	}
}

func (u *movingUser) remove(at string) {
	u.m.Delete("F/" + at)
	for word := range u.at {
		if u.at[word] == at {
			delete(u.at, word)
		}
	}
}

// A user moves, exchanges or removes notes while an agent saves one of them. The text of a save by an open file comes to
// the note that was opened, at its present path, or the save fails. No save changes what another note has from users.
func TestSavesWhileAUserMoves(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	need.Programs(t, "python3")
	randomtest.Check(t, 60, savesWhileAUserMoves)
}

func savesWhileAUserMoves(t testing.TB, r *rand.Rand) {
	how := randomtest.Pick(r, slices.Sorted(maps.Keys(movedWays))...)
	what := randomtest.Pick(r, slices.Sorted(maps.Keys(usersOfMoved))...)
	way := movedWays[how]
	name := "S/A.md"
	if way.byHandle && r.IntN(3) == 0 {
		name, how = "S/New.md", "new note"
		way.open = `keep("f", os.open(%q, os.O_CREAT | os.O_WRONLY))`
	}
	upTo := func(d time.Duration) time.Duration {
		return time.Duration(r.Int64N(int64(d))) * time.Duration(r.IntN(2))
	}
	var late, slow atomic.Int64
	mode := bridge.Suggest
	if way.byHandle {
		mode = randomtest.Pick(r, bridge.Direct, bridge.Suggest)
	}
	m := mount(t, map[string]string{"F/S/A.md": "alpha\n", "F/S/B.md": "beta\n", "F/T/K.md": "keep\n"}, func(o *bridge.Options) {
		o.Mode = mode
		o.Roots[0].Source = lateSource{o.Roots[0].Source.(*bridgetest.Source), &late}
	})
	defer m.Subscribe(func(model.Event) { time.Sleep(time.Duration(slow.Load())) })()
	a := m.agent(t, "F")
	u := &movingUser{t, m, map[string]string{"alpha": "S/A.md", "beta": "S/B.md", "keep": "T/K.md"}}
	a.do(`keep("t", read("S/A.md"))`)
	if got := a.do(way.open, name); got != "null" {
		t.Fatalf("open: %s", got)
	}
	late.Store(int64(upTo(100 * time.Millisecond)))
	slow.Store(int64(upTo(20 * time.Millisecond)))
	before, after := upTo(5*time.Millisecond), upTo(60*time.Millisecond)
	done := make(chan string)
	go func() {
		time.Sleep(after)
		done <- a.do(way.save, "w1\n")
	}()
	time.Sleep(before)
	usersOfMoved[what](u)
	saved := <-done
	late.Store(0)
	slow.Store(0)
	t.Logf("%s, %s: %s", how, what, saved)

	ok := !strings.HasPrefix(saved, `"`)
	own, has := u.at["alpha"]
	if name == "S/New.md" {
		own, has = "S/New.md", true
		if what == "folder" {
			own = "Moved/New.md"
		}
	}
	if way.byHandle && !ok && has {
		t.Errorf("the save fails: %s", saved)
	}
	times := 0
	for _, rel := range m.Source("F").Person(t).Names() {
		if path.Ext(rel) != ".md" {
			continue
		}
		raw := m.SourceText("F/" + rel)
		n := strings.Count(diffwrap.Everything.Accepted(raw), "w1")
		times += n
		if way.byHandle && n > 0 && rel != own {
			t.Errorf("%s has the text of the open file: %q", rel, raw)
		}
		if strings.Contains(diffwrap.Everything.Original(raw), "w1") != (n > 0 && mode == bridge.Direct) {
			t.Errorf("%s: %q", rel, raw)
		}
	}
	replaced := strings.HasPrefix(what, "exchanged") && !way.byHandle // the user may move a note over a note that the agent has just created
	if times > 1 || ok && times == 0 && has && !replaced {
		t.Errorf("the saved line is there %d times", times)
	}
	for word, rel := range u.at {
		if raw := m.SourceText("F/" + rel); strings.Count(diffwrap.Everything.Original(raw), word) != 1 {
			t.Errorf("the user's %s has %q", word, raw)
		}
	}
	if t.Failed() {
		for _, rel := range m.Source("F").Person(t).Names() {
			if path.Ext(rel) == ".md" {
				t.Logf("%s: %q", rel, m.SourceText("F/"+rel))
			}
		}
	}
}
