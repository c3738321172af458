package bridge_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// fullStore is a store that can store nothing while full is set, as on a full disk. It still reads.
type fullStore struct {
	*bridgetest.Store
	full atomic.Bool
}

func (s *fullStore) room() error {
	if s.full.Load() {
		return model.ErrNoSpace
	}
	return nil
}

func (s *fullStore) Append(id model.DocID, p model.Path, recs ...model.Record) (uint64, error) {
	if err := s.room(); err != nil {
		return 0, err
	}
	return s.Store.Append(id, p, recs...)
}

func (s *fullStore) Relocate(docs []model.StoredDoc) error {
	if err := s.room(); err != nil {
		return err
	}
	return s.Store.Relocate(docs)
}

func (s *fullStore) RecordSave(id model.DocID, seq uint64, save model.Save) error {
	if err := s.room(); err != nil {
		return err
	}
	return s.Store.RecordSave(id, seq, save)
}

func (s *fullStore) RecordFileSeq(id model.DocID, seq uint64, sum model.ContentSum, file model.Stamp) {
	if s.room() == nil {
		s.Store.RecordFileSeq(id, seq, sum, file)
	}
}

// A full disk of the state folder keeps no reader from a note, whatever a user has done with its file while relayfs was
// stopped. Readers get the text that they get with room on the disk. Writes fail and change nothing. Once there is room,
// the note has every word once.
func TestReadsOnAFullStateDisk(t *testing.T) {
	const text = "one two three four five six seven eight nine ten\n"
	for name, user := range map[string]func(p bridgetest.Person){
		"types":                  func(p bridgetest.Person) { p.Edit("Plan.md", func(raw string) string { return raw + "typed\n" }) },
		"types in an addition":   func(p bridgetest.Person) { editPlan(p, "added", "add typed ed") },
		"types in a deletion":    func(p bridgetest.Person) { editPlan(p, "{--three ", "{--three typed ") },
		"takes an addition out":  func(p bridgetest.Person) { editPlan(p, "{++added ++}", "") },
		"restores the old text":  func(p bridgetest.Person) { p.Save("Plan.md", text) },
		"writes another note":    func(p bridgetest.Person) { p.Remove("Plan.md"); p.Save("Plan.md", "typed anew\n") },
		"writes another, marked": func(p bridgetest.Person) { p.Remove("Plan.md"); p.Save("Plan.md", "typed {++anew++}\n") },
		"moves":                  func(p bridgetest.Person) { p.Rename("Plan.md", "Moved.md") },
		"moves and types": func(p bridgetest.Person) {
			raw := p.Content("Plan.md")
			p.Remove("Plan.md")
			p.Save("Moved.md", raw+"typed\n")
		},
		"exchanges": func(p bridgetest.Person) {
			p.Rename("Plan.md", "Moved.md")
			p.Rename("Other.md", "Plan.md")
			p.Rename("Moved.md", "Other.md")
		},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(full bool) map[string]string {
				src, store := bridgetest.NewSource(t), &fullStore{Store: bridgetest.NewStore(t)}
				person := src.Person(t)
				person.Save("Plan.md", text)
				person.Save("Other.md", "another note with other words\n")
				ws := process(t, src, store)
				write(t, ws, plan, bridge.Write{Text: strings.Replace(text, "three ", "", 1), By: ann})
				write(t, ws, plan, bridge.Write{Text: strings.Replace(open(t, ws, plan).Text(), "eight ", "eight added ", 1), By: ann})
				for unsettled := true; unsettled; { // until the store has recorded the saves, a file with an older text may be torn
					paths, err := store.Unsettled()
					if err != nil {
						t.Fatal(err)
					}
					unsettled = len(paths) > 0
					time.Sleep(time.Millisecond)
				}
				user(person)
				before := filesOf(person)

				store.full.Store(full)
				ws = process(t, src, store)
				texts := make(map[string]string)
				for range 2 {
					for rel := range before {
						v, err := ws.Open(t.Context(), model.Path("Notes/"+rel))
						if err != nil {
							t.Fatalf("full: %v: %v", full, err)
						}
						texts[rel] = v.Text()
					}
				}
				pendingOf(t, ws)
				if full {
					for rel := range before {
						v := open(t, ws, model.Path("Notes/"+rel))
						if _, err := ws.Write(t.Context(), model.Path("Notes/"+rel), bridge.Write{Base: v, Text: v.Text() + "refused\n", By: bob}); err == nil {
							t.Errorf("%s was written on a full disk", rel)
						}
					}
					for rel, raw := range filesOf(person) {
						if raw != before[rel] {
							t.Errorf("%s changed from %q to %q", rel, before[rel], raw)
						}
					}
				}
				bases := make(map[string]*model.Version)
				for rel := range before {
					bases[rel] = open(t, ws, model.Path("Notes/"+rel))
				}
				store.full.Store(false)
				for rel, base := range bases { // a write from the version that was read on the full disk
					write(t, ws, model.Path("Notes/"+rel), bridge.Write{Base: base, Text: base.Text() + "more\n", By: bob})
				}
				for _, ws := range []*bridge.Workspace{ws, process(t, src, store)} {
					for rel := range before {
						if got, want := open(t, ws, model.Path("Notes/"+rel)).Text(), texts[rel]+"more\n"; got != want {
							t.Errorf("full: %v: %s has %q, want %q", full, rel, got, want)
						}
					}
					for _, s := range pendingOf(t, ws) {
						texts[string(s.Path)+" "+s.Author+" "+s.Old+">"+s.New] = string(s.Author)
					}
				}
				return texts
			}
			healthy, full := read(false), read(true)
			for key, want := range healthy {
				if got, ok := full[key]; !ok || got != want {
					t.Errorf("%s: on a full disk %q, want %q", key, got, want)
				}
			}
			for key := range full {
				if _, ok := healthy[key]; !ok {
					t.Errorf("only on a full disk: %s", key)
				}
			}
		})
	}
}

func editPlan(p bridgetest.Person, old, new string) {
	p.Edit("Plan.md", func(raw string) string {
		if !strings.Contains(raw, old) {
			panic(raw)
		}
		return strings.Replace(raw, old, new, 1)
	})
}

func filesOf(p bridgetest.Person) map[string]string {
	files := make(map[string]string)
	for _, name := range p.Names() {
		if strings.HasSuffix(name, ".md") {
			files[name] = p.Content(name)
		}
	}
	return files
}

// The same holds for a note that relayfs follows and then drops from memory, and that has no record yet.
func TestReadsOfFollowedNotesOnAFullStateDisk(t *testing.T) {
	full := &fullStore{Store: bridgetest.NewStore(t)}
	full.full.Store(true)
	f := bridgetest.New(t, map[string]string{"V/N.md": "one {++two++} {>>why<<}\n", "V/Other.md": ""}, func(o *bridge.Options) {
		o.CacheBytes, o.Roots[0].Store = 1, full
	})
	open(t, f.Workspace, "V/N.md")
	f.Person("V/N.md", "one {++two {--three++} {>>why<<}\n") // which marks count depends on the records
	open(t, f.Workspace, "V/Other.md")
	if got, want := open(t, f.Workspace, "V/N.md").Raw(), f.SourceText("V/N.md"); got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}
