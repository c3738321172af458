package remote_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// day is one on which two agents work on two mounts of one server, a person types through Yjs, people decide on either mount,
// processes are killed, and the server restarts and forgets.
type day struct {
	t      testing.TB
	r      *rand.Rand
	s      *server
	mounts [2]*client
	dirs   [2]string
	person *typist
	typed  []string // words of the person
	port   string   // of the server while it is down
	done   []string // for the report of a failure
}

// firstTyped is the person's first word. Each is one character, so that it stays whole wherever the next one is typed.
const firstTyped = '一'

const dayNote = model.Path("Team/n.md")

func TestDays(t *testing.T) {
	t.Parallel()
	randomtest.Check(t, 5, func(t testing.TB, r *rand.Rand) {
		d := &day{t: t, r: r, s: startServer(t, "relay-server")}
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the day was:\n%s", strings.Join(d.done, "\n"))
			}
		})
		d.person = d.s.typist(t)
		d.person.create("n.md", "alpha beta gamma delta\n\nepsilon zeta eta theta\n\n- iota kappa\n- lambda mu\n")
		for i := range d.mounts {
			d.dirs[i] = t.TempDir()
			d.open(i)
		}
		for range 5 + r.IntN(25) {
			d.step()
		}
		d.settle()
		d.sameEverywhere()
		for i := range d.mounts { // a process that has just started shows the same
			d.kill(i)
		}
		d.sameEverywhere()
		d.newMount()
		d.decideAll()
		d.settle()
		d.sameEverywhere()
	})
}

func (d *day) log(format string, args ...any) { d.done = append(d.done, fmt.Sprintf(format, args...)) }

func (d *day) open(i int) {
	d.t.Helper()
	c, err := open(d.t, d.s.address(), d.s.folder, d.dirs[i], func(o *remote.Options, b *bridge.Options) {
		o.Resync, b.Mode = 2*time.Second, bridge.Suggest
	})
	noError(d.t, err)
	c.patience = need.Scaled(20 * time.Second)
	c.await("the note", func() bool { _, err := c.Open(context.Background(), dayNote); return err == nil })
	d.mounts[i] = c
}

// kill replaces a process with one that finds what the first has kept by now.
func (d *day) kill(i int) {
	d.t.Helper()
	dir := filepath.Join(d.t.TempDir(), "copy")
	noError(d.t, os.CopyFS(dir, os.DirFS(d.dirs[i])))
	d.mounts[i].killed = true
	d.mounts[i].stop()
	d.dirs[i] = dir
	d.open(i)
}

// newMount has a mount that has never been there take the place of one: it shows the same.
func (d *day) newMount() {
	d.t.Helper()
	i := d.r.IntN(2)
	d.mounts[i].stop()
	d.dirs[i] = d.t.TempDir()
	d.open(i)
	d.sameEverywhere()
}

func (d *day) step() {
	i := d.r.IntN(2)
	c := d.mounts[i]
	switch n := d.r.IntN(20); {
	case n < 7:
		d.edit(i, c)
	case n < 12:
		d.typeWord()
	case n < 15:
		d.decide(i, c, d.r.IntN(3) == 0)
	case n < 16:
		_, err := c.Undo(d.t.Context(), "", model.Author{Name: "person"})
		d.log("undo on mount %d: %v", i, err)
	case n < 17:
		d.log("kill mount %d", i)
		d.kill(i)
	case n < 18:
		switch {
		case d.port != "":
			d.up()
		case d.r.IntN(2) == 0:
			d.log("the server restarts")
			d.s.own.Restart()
		default:
			d.log("the server goes down, and forgets")
			d.port = d.s.port
			d.s.stop()
		}
	default:
		d.log("all wait")
		d.settle()
		d.sameEverywhere()
	}
}

// up has a server that is down begin again, with nothing.
func (d *day) up() {
	if d.port != "" {
		d.log("the server comes up")
		d.s.start(d.port)
		d.port = ""
	}
}

// typed returns the words of the person in a text.
func typed(text string) string {
	return strings.Map(func(r rune) rune {
		if r < firstTyped {
			return -1
		}
		return r
	}, text)
}

// edit has an agent change words, and keep those of the person.
func (d *day) edit(i int, c *client) {
	agent := model.Author{Name: []string{"anna", "bert"}[d.r.IntN(2)], Session: fmt.Sprint("s", d.r.IntN(2))}
	word := fmt.Sprintf("w%d", len(d.done))
	kind := d.r.IntN(4)
	var old, is string
	_, err := c.Update(d.t.Context(), dayNote, agent, nil, func(cur *model.Version) (string, error) {
		old = cur.Text()
		words := strings.Split(old, " ")
		at := d.r.IntN(len(words))
		n := 1 + d.r.IntN(2)
		end := min(at+n, len(words))
		mine := strings.Join(words[at:end], " ")
		switch {
		case kind == 0 || strings.ContainsAny(mine, "\n-"):
			words = slices.Insert(words, at, word)
		case kind == 1 && typed(mine) == "":
			words = slices.Delete(words, at, end)
		default:
			words = slices.Replace(words, at, end, word+typed(mine))
		}
		is = strings.Join(words, " ")
		return is, nil
	})
	d.log("%s in %s on mount %d: %q to %q: %v", agent.Name, agent.Session, i, old, is, err)
}

// typeWord has the person type a word, be it inside of a mark, but not into its delimiters.
func (d *day) typeWord() {
	name, doc := d.personsNote()
	if doc == nil {
		return
	}
	contents := doc.Text(model.ContentsName)
	raw := contents.String()
	_, content, _ := diffwrap.Everything.Layout(raw)
	if len(content) == 0 {
		return
	}
	in := content[d.r.IntN(len(content))]
	at := in.Start + d.r.IntN(in.End-in.Start)
	for !utf8.RuneStart(raw[at]) || strings.ContainsRune("{+-}", rune(raw[at])) && at > in.Start {
		at--
	}
	if strings.ContainsRune("{+-}", rune(raw[at])) && at > 0 && strings.ContainsRune("{+-}", rune(raw[at-1])) {
		return // what is left of marks for a moment, until the next change
	}
	word := string(firstTyped + rune(len(d.typed)))
	d.typed = append(d.typed, word)
	pos := textmerge.UTF16Len(raw[:at])
	doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, pos, word) })
	offline := d.port != "" || d.r.IntN(3) == 0
	if !offline {
		d.person.sync(name)
	}
	d.log("person types %s, offline %v: %q", word, offline, contents.String())
}

// personsNote returns the note as the person has it, without asking the server half of the time.
func (d *day) personsNote() (string, *ycrdt.Doc) {
	if d.port == "" && d.r.IntN(2) == 0 {
		return d.person.note("n.md")
	}
	for _, name := range slices.Sorted(maps.Keys(d.person.docs)) {
		if name != d.s.folder {
			return name, d.person.docs[name]
		}
	}
	return "", nil
}

func (d *day) decide(i int, c *client, all bool) {
	list, err := c.Suggestions(d.t.Context(), dayNote)
	noError(d.t, err)
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	if len(ids) == 0 {
		return
	}
	if !all {
		at := d.r.IntN(len(ids))
		ids = ids[at : at+1]
	}
	verdict := []model.Verdict{model.Accepted, model.Rejected}[d.r.IntN(2)]
	out, err := c.Decide(d.t.Context(), ids, verdict, model.Author{Name: "person"})
	d.log("%s on mount %d: %q, failed %v: %v", verdict, i, ids, out.Failed, err)
	noError(d.t, err)
}

// decideAll decides on everything, after a change. Nothing of any mark is left then.
func (d *day) decideAll() {
	d.t.Helper()
	d.mounts[0].write(dayNote, func(text string) string { return text + "end\n" })
	for range 5 {
		d.decide(0, d.mounts[0], true)
	}
	v, err := d.mounts[0].Open(d.t.Context(), dayNote)
	noError(d.t, err)
	if strings.ContainsAny(v.Raw(), "{}") {
		d.t.Fatalf("after all decisions the note is %q", v.Raw())
	}
}

// settle waits until the server has what everybody has.
func (d *day) settle() {
	d.t.Helper()
	d.up()
	for name := range d.person.docs {
		d.person.sync(name)
	}
	for _, c := range d.mounts {
		c.awaitSent()
	}
	for name := range d.person.docs {
		d.person.sync(name)
	}
}

// sameEverywhere requires that all show the same, and that every word of the person is there once, whatever is decided on the
// suggestions.
func (d *day) sameEverywhere() {
	d.t.Helper()
	both(d.mounts[0], d.mounts[1], dayNote)
	_, doc := d.person.note("n.md")
	text := doc.Text(model.ContentsName).String()
	for _, c := range d.mounts {
		c.awaitText(dayNote, text)
	}
	for _, word := range d.typed {
		if !strings.Contains(text, word) {
			d.t.Fatalf("%s is lost: %q", word, text)
		}
	}
	both(d.mounts[0], d.mounts[1], dayNote)
	v, err := d.mounts[0].Open(d.t.Context(), dayNote)
	noError(d.t, err)
	for _, word := range d.typed {
		for _, view := range []diffwrap.View{diffwrap.OriginalView, diffwrap.AcceptedView} {
			if text := v.Known().Render(v.Canonical(), view); strings.Count(text, word) != 1 {
				d.t.Fatalf("%s is there %d times in the %v view %q of %q", word, strings.Count(text, word), view, text, v.Raw())
			}
		}
	}
}

// Agents on two mounts that do not see each other change the same words.
func TestOverlappingSuggestions(t *testing.T) {
	t.Parallel()
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		for _, first := range []int{0, 1} {
			t.Run(fmt.Sprint(verdict, first), func(t *testing.T) {
				t.Parallel()
				d := &day{t: t, r: rand.New(rand.NewPCG(1, 1)), s: startServer(t, "relay-server")}
				d.person = d.s.typist(t)
				d.person.create("n.md", "epsilon zeta eta theta\n")
				for i := range d.mounts {
					d.dirs[i] = t.TempDir()
					d.open(i)
				}
				d.settle()
				d.port = d.s.port
				d.s.stop()
				for n, edit := range [][2]string{{"eta theta", "w2 theta"}, {"zeta eta ", "w3 "}} {
					c := d.mounts[n^first]
					c.write(dayNote, func(text string) string { return strings.Replace(text, edit[0], edit[1], 1) })
				}
				_, doc := d.personsNote()
				contents := doc.Text(model.ContentsName)
				doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, len("epsilon zeta "), "丁") })
				d.typed = []string{"丁"}
				d.settle()
				d.sameEverywhere()
				for range 3 {
					list, err := d.mounts[0].Suggestions(t.Context(), dayNote)
					noError(t, err)
					for _, s := range list {
						_, err := d.mounts[0].Decide(t.Context(), []string{s.ID}, verdict, model.Author{Name: "person"})
						noError(t, err)
					}
				}
				d.settle()
				d.sameEverywhere()
				v, err := d.mounts[1].Open(t.Context(), dayNote)
				noError(t, err)
				want := []string{"epsilon zeta 丁eta theta\n"}
				if verdict == model.Accepted {
					want = []string{"epsilon 丁w3w2 theta\n", "epsilon 丁w2w3 theta\n"}
				}
				if !slices.Contains(want, v.Raw()) {
					t.Errorf("the note is %q, want one of %q", v.Raw(), want)
				}
			})
		}
	}
}
