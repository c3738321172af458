package bridge_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// A user moves another note with a suggestion over the note to which an agent writes, and relayfs follows the move before
// or after the write. The moved note keeps its text and its suggestion, and the agent gets an error.
func TestWriteWhileAnotherNoteMovesOver(t *testing.T) {
	for i := range 4 {
		written, followed := []string{"V/Other.md", "V/N.md"}[:1+i/2], i%2 == 0
		t.Run(fmt.Sprintf("%v, followed %v", written, followed), func(t *testing.T) {
			var f *bridgetest.Fixture
			var moves atomic.Bool
			settle := func() {
				if err := f.Source("V").Settle(t.Context()); err != nil {
					t.Error(err)
				}
			}
			f = bridgetest.New(t, map[string]string{"V/N.md": "one two\nthree\n", "V/Other.md": "far from here\nelse where\n"}, func(o *bridge.Options) {
				root := &o.Roots[0]
				root.Source = interrupted{root.Source.(*bridgetest.Source), func() {
					if moves.CompareAndSwap(true, false) {
						f.Source("V").Person(t).Rename("Other.md", "N.md")
						if followed {
							settle()
						}
					}
				}, new(atomic.Bool)}
			})
			s := &staleNote{t, f, f.Source("V")}
			for _, p := range written {
				v := open(t, f.Workspace, model.Path(p))
				write(t, f.Workspace, model.Path(p), bridge.Write{Base: v, Text: v.Text() + "b001\n", By: bob})
			}
			read, want := s.open(), f.SourceText("V/Other.md")
			moves.Store(true)
			_, err := f.Write(t.Context(), "V/N.md", bridge.Write{Base: read, Text: strings.Replace(read.Text(), "two", "two a001", 1), By: ann})
			if !errors.Is(err, model.ErrConflict) {
				t.Errorf("the write returns %v", err)
			}
			settle()
			if got, shown := f.SourceText("V/N.md"), s.open().Raw(); got != want || shown != want {
				t.Errorf("the file has %q and the note %q, want %q", got, shown, want)
			}
			if list := pendingOf(t, f.Workspace); len(list) != 1 || list[0].Author != bob.Name {
				t.Errorf("the suggestions are %+v", list)
			}
		})
	}
}

// A user moves a note, and another note to its path. A write of the first note by its ID does not reach the other one.
func TestWriteOfANoteThatHasLeftItsPath(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/N.md": "one\n", "V/Other.md": "two\n"})
	read, id := open(t, f.Workspace, "V/N.md"), f.NoteID("V/N.md")
	f.Rename("V/N.md", "V/Moved.md")
	f.Rename("V/Other.md", "V/N.md")
	wr := bridge.Write{ID: id, Base: read, Text: "one\na001\n", By: ann}
	if _, err := f.Write(t.Context(), "V/N.md", wr); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the write returns %v", err)
	}
	if got := f.SourceText("V/N.md"); got != "two\n" {
		t.Errorf("the other note has %q", got)
	}
	write(t, f.Workspace, "V/Moved.md", wr)
}
