package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// interrupted is a source in which other things happen while relayfs replaces a file.
type interrupted struct {
	*bridgetest.Source
	between func()       // runs after the record is stored and before the file is replaced
	fails   *atomic.Bool // the next Replace fails after its record is stored
}

func (s interrupted) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	prepare := r.BeforeRename
	r.BeforeRename = func(post model.Stamp) error {
		if err := prepare(post); err != nil {
			return err
		}
		if s.fails.CompareAndSwap(true, false) {
			r.Abort()
			return model.ErrNoSpace
		}
		s.between()
		return nil
	}
	return s.Source.Replace(ctx, rel, r)
}

// failingStore is a store whose next Append fails if fails is set.
type failingStore struct {
	model.Store
	fails *atomic.Bool
}

func (s failingStore) Append(id model.DocID, p model.Path, recs ...model.Record) (uint64, error) {
	if s.fails.CompareAndSwap(true, false) {
		return 0, model.ErrNoSpace
	}
	return s.Store.Append(id, p, recs...)
}

// staleWord is a word that an agent or the user adds. The texts of a suggestion join the words of marks that are not adjacent.
var staleWord = regexp.MustCompile(`[a-z]\d+z`)

// TestStaleWrites has agents add, replace and remove words of their own in versions that others have changed since,
// while a user adds lines, also between the record of a write and its file, and decides on suggestions. Some writes fail,
// and relayfs drops the note from memory now and then. After each step the note has each writer's words once.
func TestStaleWrites(t *testing.T) { randomtest.Check(t, 200, staleWrites) }

// TestStaleWritesThatFailed runs sequences that failed in the past.
func TestStaleWritesThatFailed(t *testing.T) {
	for _, seed := range []string{"377664569771", "830006501", "960002954"} {
		t.Setenv("RELAYFS_SEED", seed)
		randomtest.Check(t, 1, staleWrites)
	}
}

func staleWrites(t testing.TB, r *rand.Rand) {
	const path = "F/Note.md"
	bases := map[string]*model.Version{}
	words := map[string]bool{} // words that the note should have, by agents and the user
	rejected := false          // the user has rejected a suggestion
	// Words whose deletion the user has rejected. An agent that did not see such a word may have suggested to delete its line
	// break with another line of that agent's view. Then the word is joined with the word of the next line.
	restored := map[string]bool{}
	made := 0
	var log []string
	var f *bridgetest.Fixture
	person := rand.New(rand.NewPCG(r.Uint64(), 0)) // also used within a write, where r must not end the round
	userAdds := func() {
		made++
		word := fmt.Sprintf("p%dz", made)
		f.Source("F").Person(t).Edit("Note.md", func(raw string) string {
			lines := strings.SplitAfter(raw, "\n")
			for {
				at := person.IntN(len(lines))
				if before := strings.Join(lines[:at], ""); strings.Count(before, "{") == strings.Count(before, "}") {
					return strings.Join(slices.Insert(lines, at, word+"\n"), "")
				}
			}
		})
		words[word] = true
		log = append(log, fmt.Sprintf("user adds %s: %q", word, f.SourceText(path)))
	}
	var noRecord, noFile atomic.Bool // the next Append or Replace fails
	saves := 0
	files := map[string]string{path: "first words here\nmore words\n", "F/Other.md": "other\n"}
	f = bridgetest.New(t, files, func(o *bridge.Options) {
		o.CacheBytes = r.IntN(2)
		root := &o.Roots[0]
		root.Store = failingStore{root.Store, &noRecord}
		root.Source = interrupted{root.Source.(*bridgetest.Source), func() {
			for ; saves > 3; saves-- {
				userAdds()
			}
		}, &noFile}
	})
	noteWords := func() []string {
		var list []string
		for word := range strings.FieldsSeq(diffwrap.Everything.Accepted(f.SourceText(path))) {
			joined := staleWord.FindAllString(word, -1)
			if strings.Join(joined, "") != word || !slices.ContainsFunc(joined, func(w string) bool { return restored[w] }) {
				joined = []string{word}
			}
			list = append(list, joined...)
		}
		return slices.Sorted(slices.Values(list))
	}
	check := func() {
		want := []string{"first", "here", "more", "words", "words"}
		for word, there := range words {
			if there && word != "" {
				want = append(want, word)
			}
		}
		slices.Sort(want)
		if got := noteWords(); !slices.Equal(got, want) {
			t.Errorf("the note has the words %q, want %q", got, want)
		}
		if t.Failed() {
			t.Fatal(strings.Join(log, "\n"))
		}
	}
	for range 5 + r.IntN(40) {
		who := randomtest.Pick(r, "ann", "bob", "carl", "user", "user decides")
		if who == "user decides" {
			list, err := f.Suggestions(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				continue
			}
			s, verdict := randomtest.Pick(r, list...), randomtest.Pick(r, model.Accepted, model.Rejected)
			_, err = f.Decide(t.Context(), []string{s.ID}, verdict, model.Author{Name: "user"})
			log = append(log, fmt.Sprintf("%s: %q to %q: %v: %q", verdict, s.Old, s.New, err, f.SourceText(path)))
			if err == nil && verdict == model.Rejected {
				rejected = true
				for _, w := range staleWord.FindAllString(s.New, -1) {
					words[w] = false
				}
				for _, w := range staleWord.FindAllString(s.Old, -1) {
					words[w], restored[w] = true, true
				}
			}
			check()
			continue
		}
		if who == "user" {
			userAdds()
			continue
		}
		if r.IntN(4) == 0 { // with a small cache, this drops the note from memory
			if _, err := f.Open(t.Context(), "F/Other.md"); err != nil {
				t.Fatal(err)
			}
		}
		made++
		word := fmt.Sprintf("%c%dz", who[0], made)
		if bases[who] == nil || r.IntN(3) == 0 {
			v, err := f.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			bases[who] = v
		}
		if r.IntN(3) == 0 {
			continue
		}
		base := bases[who]
		lines := strings.Split(base.Text(), "\n")
		kind, at := r.IntN(6), r.IntN(len(lines))
		own := ""
		if mine := slices.DeleteFunc(strings.Fields(base.Text()), func(w string) bool { return w[0] != who[0] }); len(mine) > 0 {
			own = randomtest.Pick(r, mine...)
		}
		line := slices.IndexFunc(lines, func(line string) bool { return slices.Contains(strings.Fields(line), own) })
		adds, removes := word, ""
		switch {
		case kind < 2 && own != "":
			there := strings.Split(lines[line], " ")
			i := slices.Index(there, own)
			removes = own
			if kind == 1 {
				there[i] = word
			} else {
				there = slices.Delete(there, i, i+1)
				adds = ""
			}
			lines[line] = strings.Join(there, " ")
			if len(there) == 0 {
				lines = slices.Delete(lines, line, line+1)
			}
		case kind == 2 && lines[at] != "":
			lines[at] += " " + word
		default:
			lines = slices.Insert(lines, at, word)
		}
		text := strings.Join(lines, "\n")
		noRecord.Store(r.IntN(10) == 0)
		noFile.Store(r.IntN(10) == 0)
		saves = r.IntN(6)
		var again []string // words that the write may suggest again
		for _, s := range base.Suggestions() {
			if rejected {
				again = append(again, staleWord.FindAllString(s.Old+" "+s.New, -1)...)
			}
		}
		// Several agents would suggest a word several times.
		unread := r.IntN(3) == 0 && !slices.ContainsFunc(again, func(w string) bool { return w[0] != who[0] })
		res, err := f.Write(t.Context(), path, bridge.Write{Base: base, Unread: unread, Text: text, By: model.Author{Name: who, Session: who}})
		log = append(log, fmt.Sprintf("%s %d, unread %v: %q becomes %q: %v", who, base.Seq(), unread, base.Text(), text, err))
		noRecord.Store(false)
		noFile.Store(false)
		saves = 0
		switch {
		case err == nil:
			log = append(log, fmt.Sprintf("    %d %q", res.Version.Seq(), res.Version.Raw()))
			for _, w := range again {
				if unread {
					words[w] = slices.Contains(noteWords(), w)
				}
			}
			// If another agent's suggestion deletes a word and adds it again, the note may keep the one that was not removed.
			twice := false
			for _, v := range []*model.Version{base, res.Version} {
				twice = twice || strings.Count(v.Raw(), removes) > strings.Count(v.Text(), removes)
			}
			bases[who], words[removes], words[adds] = res.Version, twice && slices.Contains(noteWords(), removes), true
		case !errors.Is(err, model.ErrRefused) && !errors.Is(err, model.ErrNoSpace):
			t.Fatal(err)
		}
		check()
	}
}
