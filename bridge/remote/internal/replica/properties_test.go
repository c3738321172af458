package replica

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/randomtest"
)

const frontmatter = "frontmatter"

// shared is a note with a mirror of its property status. A person and mounts have copies, and the server connects those
// that are not offline.
type shared struct {
	t       testing.TB
	server  *ycrdt.Doc
	person  *ycrdt.Doc
	mounts  []*Document
	offline map[any]bool
}

func share(t testing.TB, person ycrdt.ClientID, mounts ...ycrdt.ClientID) *shared {
	s := &shared{t: t, server: ycrdt.NewDoc(ycrdt.Options{}), person: ycrdt.NewDoc(ycrdt.Options{ClientID: person}), offline: map[any]bool{}}
	contents, mirror := s.person.Text(model.ContentsName), s.person.Map(frontmatter)
	s.person.Transact(func(tx *ycrdt.Txn) {
		contents.Insert(tx, 0, "---\nstatus: draft\nstars: 1\n---\n")
		s.noError(mirror.Set(tx, "status", `"draft"`))
		s.noError(mirror.Set(tx, "stars", "1"))
	})
	for _, client := range mounts {
		s.mounts = append(s.mounts, mount(&memory{}, client))
	}
	s.wait(time.Second)
	return s
}

func mount(store model.Store, client ycrdt.ClientID) *Document {
	return NewSet(Options{Name: "team", Store: store, Client: client, Resync: 20 * time.Second}, alone{}).Document("note")
}

// restart replaces a mount's process by one with another client ID. A repair that waits would end with the process, so
// the restart comes later.
func (s *shared) restart(d *Document, client ycrdt.ClientID) {
	s.t.Helper()
	s.wait(4 * time.Second)
	s.noError(d.Flush())
	next := mount(d.set.Store, client)
	s.mounts[slices.Index(s.mounts, d)], s.offline[next] = next, s.offline[d]
}

func (s *shared) noError(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// wait exchanges updates for some time. An update takes up to a tenth of a second in each direction.
func (s *shared) wait(long time.Duration) {
	s.t.Helper()
	for ; long > 0; long -= 100 * time.Millisecond {
		time.Sleep(100 * time.Millisecond)
		if !s.offline[s.person] {
			s.noError(s.server.ApplyUpdate(s.person.EncodeStateAsUpdate(s.server.EncodeStateVector())))
			s.noError(s.person.ApplyUpdate(s.server.EncodeStateAsUpdate(s.person.EncodeStateVector())))
		}
		for _, d := range s.mounts {
			if s.offline[d] {
				continue
			}
			var vector []byte
			s.noError(d.View(s.t.Context(), func(doc *ycrdt.Doc, _ time.Time) error {
				vector = doc.EncodeStateVector()
				return s.server.ApplyUpdate(doc.EncodeStateAsUpdate(s.server.EncodeStateVector()))
			}))
			s.noError(d.Receive(s.server.EncodeStateAsUpdate(vector), false))
		}
	}
}

// status returns the property in the text and the mirror of doc.
func status(doc *ycrdt.Doc) (text, mirror string) {
	_, text, _ = strings.Cut(doc.Text(model.ContentsName).String(), "status: ")
	text, _, _ = strings.Cut(text, "\n")
	value, _ := doc.Map(frontmatter).Get("status")
	return text, strings.Trim(fmt.Sprint(value), `"`)
}

// retype changes the property in the text alone.
func retype(doc *ycrdt.Doc, tx *ycrdt.Txn, was, value string) {
	contents, at := doc.Text(model.ContentsName), len("---\nstatus: ")
	contents.Delete(tx, at, len(was))
	contents.Insert(tx, at, value)
}

func (s *shared) personSets(value string) {
	s.t.Helper()
	was, _ := status(s.person)
	mirror := s.person.Map(frontmatter)
	s.person.Transact(func(tx *ycrdt.Txn) {
		retype(s.person, tx, was, value)
		s.noError(mirror.Set(tx, "status", `"`+value+`"`))
	})
}

func (s *shared) agentSets(d *Document, value string) {
	s.t.Helper()
	s.noError(d.Change(s.t.Context(), &model.Record{Author: "ai"}, func(doc *ycrdt.Doc) error {
		was, _ := status(doc)
		doc.Transact(func(tx *ycrdt.Txn) { retype(doc, tx, was, value) })
		return nil
	}))
}

// agentStars changes the other property.
func (s *shared) agentStars(d *Document) {
	s.t.Helper()
	s.noError(d.Change(s.t.Context(), &model.Record{Author: "ai"}, func(doc *ycrdt.Doc) error {
		contents := doc.Text(model.ContentsName)
		at := strings.Index(contents.String(), "stars: ") + len("stars: ")
		doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, at, "1") })
		return nil
	}))
}

// agrees returns the value that all copies have in the end, in the text and the mirror. Afterwards it changes the text
// alone, as clients without a mirror do, and expects that the change stays, also when a new mount gets the document.
func (s *shared) agrees() (agreed string) {
	s.t.Helper()
	clear(s.offline)
	s.wait(15 * time.Second)
	agreed, _ = status(s.server)
	s.all(agreed, agreed)
	s.server.Transact(func(tx *ycrdt.Txn) { retype(s.server, tx, agreed, "late") })
	s.wait(5 * time.Second)
	s.mounts = append(s.mounts, mount(&memory{}, 30))
	s.wait(5 * time.Second)
	s.all("late", agreed)
	return agreed
}

func (s *shared) all(wantText, wantMirror string) {
	s.t.Helper()
	check := func(doc *ycrdt.Doc, _ time.Time) error {
		if text, mirror := status(doc); text != wantText || mirror != wantMirror {
			s.t.Errorf("the text has %q, want %q; the mirror has %q, want %q", text, wantText, mirror, wantMirror)
		}
		return nil
	}
	check(s.person, time.Time{})
	for _, d := range s.mounts {
		s.noError(d.View(s.t.Context(), check))
	}
}

// A person's change that arrives long after an agent's concurrent change makes no mixture, whether it wins or loses.
func TestPropertySetLate(t *testing.T) {
	const low, high ycrdt.ClientID = 1, 1<<53 - 1
	for person, want := range map[ycrdt.ClientID]string{high: "mine", low: "done"} {
		synctest.Test(t, func(t *testing.T) {
			s := share(t, person, 10, 20)
			s.offline[s.person] = true
			s.personSets("mine")
			s.agentSets(s.mounts[0], "done")
			s.wait(3 * time.Second)
			if got := s.agrees(); got != want {
				t.Errorf("the value is %q, want %q", got, want)
			}
		})
	}
}

// A repair that waits ends with the set: its store is closed then.
func TestNoRepairAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := share(t, 1<<53-1, 10)
		d := s.mounts[0]
		s.offline[s.person] = true
		s.personSets("mine")
		s.agentSets(d, "done")
		s.wait(100 * time.Millisecond)
		clear(s.offline)
		s.wait(100 * time.Millisecond)
		if len(d.state.conflicts) == 0 {
			t.Fatal("there is no conflict")
		}
		s.noError(d.set.Close())
		closed := len(d.set.Store.(*memory).records)
		time.Sleep(time.Minute)
		if n := len(d.set.Store.(*memory).records) - closed; n > 0 {
			t.Errorf("%d records are stored after Close", n)
		}
	})
}

// Whenever persons and agents set a property, its value is in the end one that somebody has set.
func TestPropertiesSetConcurrently(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		randomtest.Bubble(t, func(t testing.TB) {
			clients := r.Perm(9)
			id := func(i int) ycrdt.ClientID { return ycrdt.ClientID(1 + clients[i]) }
			s := share(t, id(0), id(1), id(2), id(3))
			values := []string{"draft"}
			for i := range 1 + r.IntN(12) {
				value := fmt.Sprintf("v%dz", i)
				d := randomtest.Pick(r, s.mounts...)
				switch r.IntN(7) {
				case 0:
					s.offline[s.person] = !s.offline[s.person]
				case 1:
					s.offline[d] = !s.offline[d]
				case 2:
					s.personSets(value)
					values = append(values, value)
				case 3:
					s.agentSets(d, value)
					values = append(values, value)
				case 4:
					d.evict()
				case 5:
					s.restart(d, ycrdt.ClientID(100+r.IntN(1000)))
				case 6:
					s.agentStars(d)
				}
				if r.IntN(2) == 0 {
					s.wait(time.Duration(r.IntN(30)) * 100 * time.Millisecond)
				}
			}
			if got := s.agrees(); !slices.Contains(values, got) {
				t.Errorf("the value is %q, which nobody has set", got)
			}
		})
	})
}
