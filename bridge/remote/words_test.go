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

// words knows which words of some notes must be there. Every word is written once.
type words struct {
	testing.TB
	*rand.Rand
	next      int
	byUser    map[string]bool // users' words that no user has deleted
	gone      map[string]bool // words of an accepted deletion, and of deleted notes
	kept      map[string]bool // agents' words of an accepted addition
	rewritten map[string]bool // words of lines that agents changed
	done      []string
}

func newWords(t testing.TB, r *rand.Rand) words {
	return words{TB: t, Rand: r, byUser: make(map[string]bool), gone: make(map[string]bool), kept: make(map[string]bool), rewritten: make(map[string]bool)}
}

func (w *words) did(format string, args ...any) {
	w.done = append(w.done, fmt.Sprintf(format, args...))
}

func (w *words) fail(format string, args ...any) {
	w.Helper()
	w.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.done, "\n"))
}

func (w *words) word(by string) string {
	w.next++
	word := fmt.Sprintf("%s%dx", by, w.next)
	if by != "a" {
		w.byUser[word] = true
	}
	return word
}

// types types a word, or deletes one of a user, as a user.
func (w *words) types(doc *ycrdt.Doc, path string) {
	contents := doc.Text(model.ContentsName)
	raw := contents.String()
	word, ok := pick(w.Rand, aWord.FindAllString(raw, -1))
	if !ok {
		return
	}
	at := strings.Index(raw, word)
	if w.IntN(3) == 0 && w.byUser[word] {
		doc.Transact(func(tx *ycrdt.Txn) { contents.Delete(tx, at, len(word)) })
		delete(w.byUser, word)
		w.did("a user deletes %s in %s %q", word, path, raw)
		return
	}
	typed := w.word("t")
	doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, at+len(word), " "+typed) })
	w.did("a user types %s after %s in %s %q", typed, word, path, raw)
}

// checkIn checks the words in the original and in the accepted view. once reports whether a rewritten word must not be
// there twice.
func (w *words) checkIn(original, accepted string, once func(by string, k int) bool) {
	w.Helper()
	for k := 1; k <= w.next; k++ {
		for _, by := range []string{"u", "t", "a"} {
			word := fmt.Sprintf("%s%dx", by, k)
			n := strings.Count(original, word)
			switch {
			case n > 1 && !w.kept[word]: // one of two versions may be accepted, and the other rejected
				w.fail("%s is in the original %q twice", word, original)
			case n == 0 && w.byUser[word] && !w.gone[word]:
				w.fail("%s is lost", word)
			case n == 1 && by == "a" && !w.kept[word]:
				w.fail("%s is in the original %q, but nobody accepted it", word, original)
			case strings.Count(accepted, word) > 1 && (!w.rewritten[word] || once(by, k)):
				w.fail("%s is in %q twice", word, accepted)
			}
		}
	}
}

// wordsOfTwo is a note that an agent, a person and two mounts change while the server is away.
type wordsOfTwo struct {
	words
	s       *server
	mounts  []*client
	typist  *typist
	n       model.Path
	apartAt int              // next when the server went away: no mount has read the later words of users before the next check
	active  map[*client]bool // mounts that did something since they met
}

// TestTwoMountsLoseAndDoubleNoWord lets two mounts and a person without the server change and decide on a note. When they meet,
// each word of a user is there once, unless a deletion of it was accepted, and no word is there twice. An agent's word is
// in the original view only if somebody accepted it.
func TestTwoMountsLoseAndDoubleNoWord(t *testing.T) {
	t.Parallel()
	randomtest.CheckFrom(t, 10000, 10, func(t testing.TB, r *rand.Rand) {
		w := &wordsOfTwo{words: newWords(t, r), s: startServer(t, "relay-server"), n: "Team/n.md", active: make(map[*client]bool)}
		w.mounts = []*client{mustOpen(t, w.s, structured), mustOpen(t, w.s, structured)}
		w.typist = w.s.typist(t)
		var text strings.Builder
		for range 3 {
			for i := range 4 {
				text.WriteString(w.word("u") + []string{" ", " ", " ", "\n"}[i])
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
			w.types(doc, "n.md")
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

func (w *wordsOfTwo) check() {
	v, err := w.mounts[0].Open(w.Context(), w.n)
	noError(w, err)
	original := v.Known().Original(v.Canonical())
	w.did("together: %q, %q by %v", v.Raw(), v.Canonical(), v.CanonicalEdits())
	if len(w.active) == 2 {
		// Text that both mounts move may be proposed at two places.
		addWords(w.rewritten, v.Text())
	}
	w.checkIn(original, v.Text(), func(by string, k int) bool { return by == "t" && k > w.apartAt })
	clear(w.active)
}
