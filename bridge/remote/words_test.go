package remote_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// wordsOfTwo is a note that an agent, a person and two mounts change while the server is away. Every word is written once.
type wordsOfTwo struct {
	testing.TB
	*rand.Rand
	s         *server
	mounts    []*client
	typist    *typist
	n         model.Path
	next      int
	apartAt   int              // next when the server went away: no mount has read the later words of users before the next check
	byUser    map[string]bool  // users' words that no user has deleted
	gone      map[string]bool  // words of an accepted deletion
	kept      map[string]bool  // agents' words of an accepted addition
	rewritten map[string]bool  // words of lines that agents changed
	active    map[*client]bool // mounts that did something since they met
	done      []string
}

// TestTwoMountsLoseAndDoubleNoWord lets two mounts and a person without the server change and decide on a note. When they meet,
// each word of a user is there once, unless a deletion of it was accepted, and no word is there twice. An agent's word is
// in the original view only if somebody accepted it.
func TestTwoMountsLoseAndDoubleNoWord(t *testing.T) {
	t.Parallel()
	randomtest.CheckFrom(t, 10000, 10, func(t testing.TB, r *rand.Rand) {
		w := &wordsOfTwo{
			TB: t, Rand: r, s: startServer(t, "relay-server"), n: "Team/n.md",
			byUser: make(map[string]bool), gone: make(map[string]bool), kept: make(map[string]bool), rewritten: make(map[string]bool), active: make(map[*client]bool),
		}
		w.mounts = []*client{mustOpen(t, w.s, structured), mustOpen(t, w.s, structured)}
		w.typist = w.s.typist(t)
		var text strings.Builder
		for range 3 {
			for i := range 4 {
				word := w.word("u")
				w.byUser[word] = true
				text.WriteString(word + []string{" ", " ", " ", "\n"}[i])
			}
		}
		w.typist.create("n.md", text.String())
		for _, c := range w.mounts {
			c.awaitText(w.n, text.String())
		}
		for range 1 + w.IntN(2) {
			w.agent(w.mounts[w.IntN(2)])
			w.meet()
		}
		for range 1 + w.IntN(3) {
			w.apart()
			w.check()
		}
	})
}

func (w *wordsOfTwo) word(by string) string {
	w.next++
	return fmt.Sprintf("%s%dx", by, w.next)
}

func (w *wordsOfTwo) did(format string, args ...any) {
	w.done = append(w.done, fmt.Sprintf(format, args...))
}

func (w *wordsOfTwo) apart() {
	_, doc := w.typist.note("n.md")
	port := w.s.lose(w.mounts...)
	w.did("the server is away")
	w.apartAt = w.next
	for range 1 + w.IntN(5) {
		switch c := w.mounts[w.IntN(2)]; w.IntN(7) {
		case 0, 1:
			w.agent(c)
		case 2, 3, 4:
			w.decide(c)
		case 5:
			w.undo(c)
		default:
			w.user(doc)
		}
	}
	w.s.start(port)
	w.meet()
}

func (w *wordsOfTwo) meet() {
	w.typist.note("n.md")
	meet(w.mounts[0], w.mounts[1], w.n)
	for _, c := range w.mounts {
		c.await("the user's text", func() bool {
			_, doc := w.typist.note("n.md")
			v, err := c.Open(w.Context(), w.n)
			return err == nil && v.Raw() == doc.Text(model.ContentsName).String()
		})
	}
	both(w.mounts[0], w.mounts[1], w.n)
}

func (w *wordsOfTwo) nameOf(c *client) int { return slices.Index(w.mounts, c) }

// agent changes the text as an agent of a mount reads it.
func (w *wordsOfTwo) agent(c *client) {
	agents := []string{"ai", "other"}
	w.active[c] = true
	by := model.Author{Name: agents[w.IntN(2)], Session: "s"}
	var was, is string
	_, err := c.Update(w.Context(), w.n, by, nil, func(current *model.Version) (string, error) {
		was = current.Text()
		is = changedByAgent(w.Rand, was, func() string { return w.word("a") }, w.rewritten)
		return is, nil
	})
	w.did("%s on mount %d: %q becomes %q: %v", by.Name, w.nameOf(c), was, is, err)
}

// changedByAgent swaps two lines of a text, or changes a word. It adds the words of the changed lines to rewritten.
func changedByAgent(r *rand.Rand, was string, word func() string, rewritten map[string]bool) string {
	lines := strings.Split(strings.TrimSuffix(was, "\n"), "\n")
	k := r.IntN(len(lines))
	words := strings.Fields(lines[k])
	switch kind := r.IntN(5); {
	case kind == 0:
		j := r.IntN(len(lines))
		addWords(rewritten, was)
		lines[k], lines[j] = lines[j], lines[k]
		words = strings.Fields(lines[k])
	case len(words) == 0:
		words = []string{word()}
	case kind == 1:
		at := r.IntN(len(words))
		words = slices.Delete(words, at, at+1)
	case kind == 2:
		words = slices.Insert(words, r.IntN(len(words)+1), word())
	default:
		words[r.IntN(len(words))] = word()
	}
	addWords(rewritten, lines[k])
	lines[k] = strings.Join(words, " ")
	addWords(rewritten, lines[k])
	return strings.Join(lines, "\n") + "\n"
}

func (w *wordsOfTwo) decide(c *client) {
	found, err := c.Suggestions(w.Context(), w.n)
	noError(w, err)
	if len(found) == 0 {
		return
	}
	s, verdict := found[w.IntN(len(found))], []model.Verdict{model.Accepted, model.Rejected}[w.IntN(2)]
	_, err = c.Decide(w.Context(), []string{s.ID}, verdict, model.Author{Name: "person"})
	noError(w, err)
	w.did("mount %d: %s %q %q", w.nameOf(c), verdict, s.Old, s.New)
	w.active[c] = true
	if verdict == model.Accepted {
		addWords(w.gone, s.Old)
		addWords(w.kept, s.New)
	}
}

func (w *wordsOfTwo) undo(c *client) {
	w.active[c] = true
	_, err := c.Undo(w.Context(), "", model.Author{Name: "person"})
	w.did("mount %d: undo %v", w.nameOf(c), err)
}

// aWord matches a word that wordsOfTwo.word has made. The parts of a suggestion may follow each other without a space.
var aWord = regexp.MustCompile("[uta][0-9]+x")

func addWords(to map[string]bool, text string) {
	for _, word := range aWord.FindAllString(text, -1) {
		to[word] = true
	}
}

// user types a word, or deletes one of a user, in a Yjs client without the server.
func (w *wordsOfTwo) user(doc *ycrdt.Doc) {
	contents := doc.Text(model.ContentsName)
	raw := contents.String()
	words := aWord.FindAllString(raw, -1)
	if len(words) == 0 {
		return
	}
	word := words[w.IntN(len(words))]
	at := strings.Index(raw, word)
	if w.IntN(3) == 0 && w.byUser[word] {
		doc.Transact(func(tx *ycrdt.Txn) { contents.Delete(tx, at, len(word)) })
		delete(w.byUser, word)
		w.did("a user deletes %s in %q", word, raw)
		return
	}
	typed := w.word("t")
	doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, at+len(word), " "+typed) })
	w.byUser[typed] = true
	w.did("a user types %s after %s in %q", typed, word, raw)
}

func (w *wordsOfTwo) check() {
	v, err := w.mounts[0].Open(w.Context(), w.n)
	noError(w, err)
	original := v.Known().Original(v.Canonical())
	w.did("together: %q, %q by %v", v.Raw(), v.Canonical(), v.CanonicalEdits())
	fail := func(format string, args ...any) {
		w.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.done, "\n"))
	}
	if len(w.active) == 2 {
		// Text that both mounts move may be proposed at two places.
		addWords(w.rewritten, v.Text())
	}
	for k := 1; k <= w.next; k++ {
		for _, by := range []string{"u", "t", "a"} {
			word := fmt.Sprintf("%s%dx", by, k)
			n := strings.Count(original, word)
			switch {
			case n > 1 && !w.kept[word]: // one of two versions may be accepted, and the other rejected
				fail("%s is in the original %q twice", word, original)
			case n == 0 && w.byUser[word] && !w.gone[word]:
				fail("%s is lost", word)
			case n == 1 && by == "a" && !w.kept[word]:
				fail("%s is in the original %q, but nobody accepted it", word, original)
			case strings.Count(v.Text(), word) > 1 && (!w.rewritten[word] || by == "t" && k > w.apartAt):
				fail("%s is in %q twice", word, v.Text())
			}
		}
	}
	clear(w.active)
}
