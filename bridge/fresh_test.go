package bridge_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

const made = "F/Made.md"

func byAnn(a model.Author) bool { return a.Name == ann.Name }

func TestFreshNote(t *testing.T) {
	const text = "one\ntwo\n"
	person := model.Author{Name: "person"}
	tests := []struct {
		name string
		then func(t *testing.T, f *bridgetest.Fixture)
		want bool
	}{
		{"just made", func(*testing.T, *bridgetest.Fixture) {}, true},
		{"amended by its author", func(t *testing.T, f *bridgetest.Fixture) {
			write(t, f.Workspace, made, bridge.Write{Text: "one\n2\n", By: ann})
		}, true},
		{"emptied by its author", func(t *testing.T, f *bridgetest.Fixture) {
			write(t, f.Workspace, made, bridge.Write{By: ann})
		}, true},
		{"renamed by its author", func(t *testing.T, f *bridgetest.Fixture) {
			for _, names := range [][2]model.Path{{made, "F/Other.md"}, {"F/Other.md", made}} {
				if _, err := f.Workspace.Rename(t.Context(), names[0], names[1], bridge.ChangeRequest{Author: ann}); err != nil {
					t.Fatal(err)
				}
			}
		}, true},
		{"a minute old", func(*testing.T, *bridgetest.Fixture) { time.Sleep(time.Minute + time.Second) }, false},
		{"amended by a person", func(_ *testing.T, f *bridgetest.Fixture) { f.Person(made, f.SourceText(made)+"three\n") }, false},
		{"amended by a person, who took it back", func(_ *testing.T, f *bridgetest.Fixture) {
			old := f.SourceText(made)
			f.Person(made, old+"three\n")
			f.Person(made, old)
		}, false},
		{"amended by a person, not reported yet", func(t *testing.T, f *bridgetest.Fixture) {
			f.Source("F").Person(t).Save("Made.md", "{++one++}")
		}, false},
		{"amended by another author", func(t *testing.T, f *bridgetest.Fixture) {
			write(t, f.Workspace, made, bridge.Write{Text: text + "three\n", By: model.Author{Name: "bob"}})
		}, false},
		{"decided upon", func(t *testing.T, f *bridgetest.Fixture) {
			list, err := f.Suggestions(t.Context(), made)
			if err != nil || len(list) == 0 {
				t.Fatalf("%v, %v", list, err)
			}
			if _, err := f.Decide(t.Context(), []string{list[0].ID}, model.Accepted, person); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"proposed to be renamed", func(t *testing.T, f *bridgetest.Fixture) {
			o := bridge.ChangeRequest{Author: model.Author{Name: "bob"}}
			if _, err := f.Workspace.Rename(t.Context(), made, "F/Other.md", o); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"removed", func(_ *testing.T, f *bridgetest.Fixture) { f.Delete(made) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := bridgetest.New(t, map[string]string{"F/Note.md": "a\n"})
				create(t, f, made, text)
				tt.then(t, f)
				for _, p := range []model.Path{made, "F/Other.md"} {
					if _, fresh := f.FindUntouched(t.Context(), p, byAnn); fresh != (tt.want && p == made) {
						t.Errorf("%s is fresh: %v", p, fresh)
					}
				}
				if _, fresh := f.FindUntouched(t.Context(), "F/Note.md", byAnn); fresh {
					t.Error("a note that was there before is fresh")
				}
			})
		})
	}
}

func create(t *testing.T, f *bridgetest.Fixture, p model.Path, text string) {
	t.Helper()
	if _, err := f.Create(t.Context(), p, bridge.Write{Text: text, By: ann}); err != nil {
		t.Fatal(err)
	}
}

// A fresh note goes without a trace, unless somebody has changed it since.
func TestRetractFresh(t *testing.T) {
	tests := []struct {
		name  string
		since func(*bridgetest.Fixture) // after it was found fresh
		last  func(bridgetest.Person)   // while it is taken away
		want  error
		stays string // part of what the source holds then
	}{
		{name: "as it was"},
		{name: "its author wrote", since: func(f *bridgetest.Fixture) {
			_, _ = f.Write(context.Background(), made, bridge.Write{Text: "anew\n", By: ann})
		}, want: model.ErrConflict, stays: "anew"},
		{name: "a person wrote", since: func(f *bridgetest.Fixture) { f.Person(made, "a person's\n") }, want: model.ErrConflict, stays: "a person's"},
		{name: "a person writes", last: func(p bridgetest.Person) { p.Save("Made.md", "a person's\n") }, want: model.ErrConflict, stays: "a person's"},
		{name: "a person removed it", since: func(f *bridgetest.Fixture) { f.Delete(made) }, want: model.ErrConflict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := bridgetest.NewStore(t)
			f := bridgetest.New(t, map[string]string{"F/Note.md": "a\n"}, func(o *bridge.Options) {
				src := o.Roots[0].Source.(*bridgetest.Source)
				o.Roots[0].Store = store
				o.Roots[0].Source = bridgetest.Meddled{Source: src, Before: func() {
					if tt.last != nil {
						tt.last(src.Person(t))
					}
				}}
			})
			create(t, f, made, "---\ntags: x\n---\none\n")
			fresh, ok := f.FindUntouched(t.Context(), made, byAnn)
			if !ok {
				t.Fatal("a note that was just made is not fresh")
			}
			if tt.since != nil {
				tt.since(f)
			}
			if err := fresh.Retract(t.Context(), nil); !errors.Is(err, tt.want) {
				t.Fatalf("Retract: %v, want %v", err, tt.want)
			}
			if tt.stays != "" {
				if got := f.SourceText(made); !strings.Contains(got, tt.stays) {
					t.Errorf("the source holds %q", got)
				}
				return
			}
			if _, err := f.Stat(t.Context(), made); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("stat: %v", err)
			}
			log, err := store.Journal(10)
			docs, err2 := store.DocIDs()
			if tt.want == nil && (errors.Join(err, err2) != nil || len(log) > 0 || len(docs) > 0) {
				t.Errorf("the store holds %q and %+v, %v", docs, log, errors.Join(err, err2))
			}
			create(t, f, made, "anew\n")
		})
	}
}

func TestNoteID(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"F/Note.md": "a\n", "F/Gone.md": "b\n", "F/Old.md": "c\n", "F/x.txt": "d", "F/dir.md/e.md": "e\n"})
	if _, err := f.Remove(t.Context(), "F/Gone.md", bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Workspace.Rename(t.Context(), "F/Old.md", "F/New.md", bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[model.Path]bool{
		"F/Note.md": true, "F/Gone.md": true, "F/New.md": true, "F/Old.md": false, "F/x.txt": false, "F/dir.md": false,
		"F": false, "F/no.md": false, "F/no/no.md": false, "G/no.md": false, "": false,
	} {
		if got := f.NoteID(p) != 0; got != want {
			t.Errorf("NoteID(%q) is an ID: %v", p, got)
		}
	}
}
