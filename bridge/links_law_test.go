package bridge_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// linkWorld is a vault whose links are known by keys, and the notes that they mean by words.
type linkWorld struct {
	*linkedVault
	r    *rand.Rand
	n    int
	want map[string]string // by key
	odd  map[string]bool   // the keys of links whose names are other notes' in the vault
}

var linkHubs = []string{"Index.md", "d/Log.md"}

// shown returns the paths that programs see, and the words of the notes there.
func (w *linkWorld) shown() map[string]string {
	found := make(map[string]string)
	err := w.ws.Walk(w.t.Context(), "Notes", func(e bridge.Info) error {
		if e.Kind == model.KindNote {
			v, err := w.ws.Open(w.t.Context(), e.Path)
			if err != nil {
				return err
			}
			found[string(e.Path)] = v.Text()
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

func (w *linkWorld) inVault() map[string]string {
	found := make(map[string]string)
	for _, rel := range w.src.Person(w.t).Names() {
		if strings.HasSuffix(rel, ".md") {
			found["Notes/"+rel] = w.content(rel)
		}
	}
	return found
}

func resolveIn(names map[string]string, from string, l links.Link) (word string) {
	x := links.NewIndex()
	for p := range names {
		x.AddFile(p)
	}
	p, _ := x.Resolve(from, l)
	return names[p]
}

// link makes a link from a note to another one in one of the styles.
func (w *linkWorld) link(names map[string]string, from string) (key, text string) {
	to := w.note(names)
	_, rel := model.Path(to).Split()
	bare := strings.TrimSuffix(rel, ".md")
	if l := (links.Link{Target: path.Base(bare)}); w.r.IntN(2) == 0 && resolveIn(names, from, l) == names[to] {
		rel, bare = path.Base(rel), path.Base(bare)
	}
	w.n++
	key = fmt.Sprintf("k%d", w.n)
	w.want[key] = names[to]
	text = randomtest.Pick(w.r,
		key+" [["+bare+"]]", key+" [["+bare+"|alias]]", key+" ![["+bare+"]]", key+" ["+key+"]("+rel+")", key+" ["+key+"](<"+rel+"> \"T\")",
		"["+key+"]: "+rel, "["+key+"]: <"+rel+"> 'T'",
	)
	return key, "\n" + text + "\n"
}

// note picks a note that has a word.
func (w *linkWorld) note(names map[string]string) string {
	list := slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(p string) bool { return !strings.HasPrefix(names[p], "word") })
	return randomtest.Pick(w.r, list...)
}

// hub returns where the note with that first word is.
func hub(names map[string]string, word string) string {
	for p, text := range names {
		if strings.Contains(text, "hub "+word+"\n") {
			return p
		}
	}
	panic("no hub " + word)
}

// free returns a path with a name that no note has had.
func (w *linkWorld) free(names map[string]string) model.Path {
	w.n++
	return model.Path(randomtest.Pick(w.r, "Notes", "Notes/f", path.Dir(hub(names, "d/Log.md")))).Join(fmt.Sprintf("N%d.md", w.n))
}

func (w *linkWorld) act() {
	shown, by := w.shown(), randomtest.Pick(w.r, ann, bob)
	word := randomtest.Pick(w.r, linkHubs...)
	switch w.r.IntN(8) {
	case 0, 1, 2:
		if p := w.note(shown); !strings.HasPrefix(p, "Notes/e/") { // a link with the folder's old name waits for that rename alone
			w.renames(by, model.Path(p), w.free(shown))
		}
	case 3:
		at := hub(shown, "d/Log.md")
		from, to := model.Path(at).Dir(), model.Path(randomtest.Pick(w.r, "Notes/d", "Notes/e"))
		if from != to && from != "Notes" {
			w.renames(by, from, to)
		}
	case 4, 5:
		p := hub(shown, word)
		key, text := w.link(shown, p)
		l := links.Extract(text)[0]
		there := resolveIn(w.inVault(), hub(w.inVault(), word), l)
		w.odd[key] = there != "" && there != w.want[key]
		w.appends(by, model.Path(p), text)
	case 6:
		names := w.inVault()
		p := hub(names, word)
		key, text := w.link(names, p)
		if there := resolveIn(shown, hub(shown, word), links.Extract(text)[0]); there != "" && there != w.want[key] {
			delete(w.want, key) // it means one note to the person and another one to programs
			return
		}
		_, rel := model.Path(p).Split()
		w.src.Person(w.t).Save(rel, w.content(rel)+text)
		w.restart()
	case 7:
		w.restart()
	}
}

func (w *linkWorld) appends(by model.Author, p model.Path, text string) {
	_, err := w.ws.Update(w.t.Context(), p, by, nil, func(current *model.Version) (string, error) { return current.Text() + text, nil })
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *linkWorld) decidesAll(verdict model.Verdict, renames bool) {
	for last := 4; ; last-- { // a rename in an exchange may be refused until another one is decided
		var list []string
		if renames {
			proposals, err := w.ws.Proposals(w.t.Context(), "")
			if err != nil {
				w.t.Fatal(err)
			}
			for _, p := range proposals {
				list = append(list, p.ID)
			}
		} else {
			for _, s := range w.pending() {
				if s.Proposal == "" {
					list = append(list, s.ID)
				}
			}
		}
		if len(list) == 0 {
			return
		}
		out, err := w.ws.Decide(w.t.Context(), list, verdict, person)
		if err != nil || len(out.Failed) > 0 {
			w.t.Fatalf("%s: %v %v", verdict, err, out.Failed)
		}
		if last == 0 || w.r.IntN(3) > 0 {
			return
		}
		if _, err := w.ws.Undo(w.t.Context(), out.Batch, person); err != nil {
			w.t.Fatalf("undo: %v", err)
		}
	}
}

// Whatever agents rename, exchange and write, and in whichever order a person decides on it, each link leads in the end to the note
// that it meant when it was written. If agents' renames are rejected, no link of a person changes.
func TestEachLinkKeepsItsNote(t *testing.T) {
	randomtest.Check(t, 60, func(t testing.TB, r *rand.Rand) {
		files := map[string]string{"f/keep.md": "keep\n", "d/keep.md": "keep\n"}
		for i, rel := range []string{"A.md", "B.md", "d/C.md", "f/G.md", "f/F.md"} {
			files[rel] = fmt.Sprintf("word%d\n", i)
		}
		w := &linkWorld{r: r, want: make(map[string]string), odd: make(map[string]bool)}
		names := make(map[string]string)
		for rel, text := range files {
			names["Notes/"+rel] = text
		}
		for _, rel := range linkHubs {
			files[rel] = "hub " + rel + "\n"
			for range 4 {
				_, text := w.link(names, "Notes/"+rel)
				files[rel] += text
			}
		}
		files["Index.md"] = "---\nk0: \"[[A]]\"\n---\n" + files["Index.md"]
		w.want["k0"] = "word0\n"
		w.linkedVault = newLinkedVault(t, files)
		before := ""
		for range 1 + r.IntN(8) {
			w.act()
		}
		for p, text := range w.inVault() {
			before += p + ": " + text
		}
		steps := [][]any{
			{model.Accepted, true, model.Accepted, false}, {model.Accepted, false, model.Accepted, true},
			{model.Rejected, true, model.Accepted, false}, {model.Accepted, false, model.Rejected, true},
		}[r.IntN(4)]
		for i := 0; i < len(steps); i += 2 {
			if r.IntN(3) == 0 {
				w.restart()
			}
			w.decidesAll(steps[i].(model.Verdict), steps[i+1].(bool))
		}
		rejected := slices.Contains(steps, any(model.Rejected))
		after := w.inVault()
		for _, word := range linkHubs {
			p := hub(after, word)
			for _, l := range links.Extract(after[p]) {
				line := after[p][strings.LastIndexByte(after[p][:l.Off], '\n')+1:]
				key, _, _ := strings.Cut(strings.TrimLeft(line, "["), " ")
				key = strings.TrimRight(key, "]:")
				if rejected && w.odd[key] {
					continue
				}
				if got := resolveIn(after, p, l); got != w.want[key] {
					t.Fatalf("%v: the link %s in %s leads to %q, want %q\n%s\nbefore:\n%s", steps, key, p, got, w.want[key], after[p], before)
				}
			}
		}
	})
}
