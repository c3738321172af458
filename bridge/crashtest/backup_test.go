package crashtest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// rover does this and that to notes. Each text that it types is of its own.
type rover struct {
	p     *process
	rng   *rand.Rand
	typed int
}

var notesOfRover = []string{"Plan.md", "Other.md"}

// word is one that nobody has typed before.
func (r *rover) word(kind string) string {
	r.typed++
	return fmt.Sprintf("%s%d ", kind, r.typed)
}

// cut is a place between the words of a text.
func (r *rover) cut(text string) int {
	places := []int{0, len(text)}
	for i, c := range text {
		if c == ' ' {
			places = append(places, i+1)
		}
	}
	return places[r.rng.IntN(len(places))]
}

// edit inserts a word into a text, or takes one out now and then.
func (r *rover) edit(text, kind string) string {
	if words := strings.SplitAfter(text, " "); r.rng.IntN(4) == 0 && len(words) > 3 {
		i := r.rng.IntN(len(words) - 1)
		return strings.Join(slices.Delete(words, i, i+1), "")
	}
	at := r.cut(text)
	return text[:at] + r.word(kind) + text[at:]
}

func (r *rover) step() error {
	rel := notesOfRover[r.rng.IntN(len(notesOfRover))]
	path := model.Path("Notes/" + rel)
	ctx := r.p.t.Context()
	switch r.rng.IntN(6) {
	case 0, 1:
		return r.save(rel)
	case 2:
		settle()
		return nil
	case 3:
		list, err := r.p.ws.Suggestions(ctx, path)
		if err != nil || len(list) == 0 {
			return err
		}
		verdict := []model.Verdict{model.Accepted, model.Rejected}[r.rng.IntN(2)]
		// What live typing has broken may be no suggestion any more by then.
		_, _ = r.p.ws.Decide(ctx, []string{list[r.rng.IntN(len(list))].ID}, verdict, model.Author{Name: "rob"})
		return nil
	}
	_, err := r.p.ws.Update(ctx, path, model.Author{Name: "claude", Session: "s"}, nil, func(current *model.Version) (string, error) {
		return r.edit(current.Text(), "agent"), nil
	})
	if errors.Is(err, model.ErrRefused) { // a mark in its way
		return nil
	}
	return err
}

// save is a person's: of what the file holds. A moment later nobody takes it for one that is under way, and
// waits with a note's lock held, of which synctest knows nothing.
func (r *rover) save(rel string) error {
	defer time.Sleep(300 * time.Millisecond)
	return r.p.w.disk.Person().Save(filepath.Join(vaultDir, rel), r.edit(r.p.w.notes()[rel], "person"))
}

// restored is a world with another one's vault, in which a store was restored: TestRestoreStopped
// of package store says that this is what a restore leaves.
func (w *world) restored(t testing.TB, backup []byte) *world {
	t.Helper()
	path := filepath.Join(bridgetest.Scratch(t), "store.db")
	_, err := store.Restore(path, bytes.NewReader(backup), store.Options{})
	check(t, err)
	after := w.now()
	after.checkpoint, err = os.ReadFile(filepath.Join(path, "checkpoint.db"))
	check(t, err)
	log, err := after.disk.OpenRoot(storePath)
	check(t, err)
	names, err := log.Names(-1)
	check(t, err)
	for _, name := range names {
		check(t, log.Remove(name))
	}
	check(t, log.Sync())
	return after
}

// A state that was restored beside a vault which has moved on loses nothing that is in the
// vault's files: the notes are the files.
func TestRestoredState(t *testing.T) {
	randomtest.Check(t, 150, func(t testing.TB, rng *rand.Rand) {
		randomtest.Bubble(t, func(t testing.TB) {
			r := &rover{rng: rng}
			dir := bridgetest.Scratch(t)
			w := newWorld(t, []disktest.Volume{{Path: "/", OrdersNames: true}}, map[string]string{"Plan.md": "one two three ", "Other.md": "four five "})
			var err error
			r.p, err = start(t, w, dir)
			check(t, err)
			for range r.rng.IntN(12) {
				check(t, r.step())
			}
			var backup bytes.Buffer
			check(t, r.p.store.Copy(&backup))
			for range r.rng.IntN(12) {
				check(t, r.step())
			}
			if r.rng.IntN(2) == 0 {
				settle()
			}
			killed := r.p.w.restored(t, backup.Bytes())
			r.p.end()

			for range r.rng.IntN(3) {
				r.p.w = killed
				check(t, r.save(notesOfRover[r.rng.IntN(len(notesOfRover))]))
			}
			want := maps.Clone(killed.notes())
			p, err := start(t, killed, bridgetest.Scratch(t))
			check(t, err)
			s, err := p.look()
			check(t, err)
			settle()
			for _, rel := range notesOfRover {
				got := s.notes[model.Path("Notes/"+rel)]
				if killed.notes()[rel] != got {
					t.Errorf("%s is %q, and its file is %q", rel, got, killed.notes()[rel])
				}
				if got != want[rel] {
					t.Errorf("%s is %q, and its file was %q", rel, got, want[rel])
				}
			}
			p.end()
		})
	})
}
