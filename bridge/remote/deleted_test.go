package remote_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

func proposing(_ *remote.Options, o *bridge.Options) {
	o.Mode, o.Structure = bridge.Suggest, bridge.StructurePropose
}

// notes lists the paths of the notes that a mount shows.
func notes(c *client) (list []model.Path) {
	noError(c.t, c.Walk(context.Background(), "Team", func(i bridge.Info) error {
		if i.Kind == model.KindNote {
			list = append(list, i.Path)
		}
		return nil
	}))
	return list
}

// An accepted deletion is undone. In the meantime a user has typed in the note, which the user's client still shows, or has
// renamed its folder. The note is there once, under the user's name, with the user's words and with the suggestion that it had.
func TestDeletionUndone(t *testing.T) {
	t.Parallel()
	person := model.Author{Name: "person"}
	for _, offline := range []bool{false, true} {
		for _, renamed := range []bool{false, true} {
			for _, restarted := range []bool{false, true} {
				if renamed && !offline {
					continue // the note has two names: the undo and the user each give it one
				}
				t.Run(fmt.Sprintf("offline %v, renamed %v, restarted %v", offline, renamed, restarted), func(t *testing.T) {
					t.Parallel()
					s := startServer(t, "relay-server")
					typist := s.typist(t)
					typist.create("one/a.md", "one two three\n")
					dir, address := t.TempDir(), s.address()
					start := func() *client {
						c, err := open(t, address, s.folder, dir, proposing)
						noError(t, err)
						return c
					}
					here, there := start(), mustOpen(t, s, proposing)
					here.awaitText("Team/one/a.md", "one two three\n")
					here.write("Team/one/a.md", func(text string) string { return strings.Replace(text, "three", "THREE", 1) })
					here.awaitSent()
					there.awaitText("Team/one/a.md", "one two {--three--}{++THREE++}\n")
					want := here.suggestion("Team/one/a.md")
					name, doc := typist.note("one/a.md")
					_, err := here.Remove(t.Context(), "Team/one/a.md", bridge.ChangeRequest{Author: model.Author{Name: "ai"}})
					noError(t, err)
					port := ""
					if offline {
						port = s.lose(here, there)
					}
					list, err := here.Proposals(t.Context(), "Team")
					noError(t, err)
					out, err := here.Decide(t.Context(), []string{list[0].ID}, model.Accepted, person)
					noError(t, err)
					if out.Notes != 1 {
						t.Fatalf("accepted: %+v", out)
					}
					if !offline {
						there.await("the deletion", func() bool { _, err := there.Stat(t.Context(), "Team/one/a.md"); return err != nil })
					}
					contents := doc.Text(model.ContentsName)
					doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, len("one two"), " USER") })
					if !offline {
						typist.sync(name)
					}
					if restarted {
						here.stop()
						here = start()
					}
					at := model.Path("Team/one/a.md")
					if renamed {
						at = "Team/three/a.md"
						noError(t, folderdoc.Open(typist.docs[s.folder]).Rename("one", "three", false))
					}
					out, err = here.Undo(t.Context(), "", person)
					noError(t, err)
					if out.Notes != 1 {
						t.Fatalf("undone: %+v", out)
					}
					if offline {
						s.start(port)
					}
					typist.sync(s.folder)
					typist.sync(name)
					const text = "one two USER {--three--}{++THREE++}\n"
					here.await("the proposal", func() bool {
						list, err := here.Proposals(t.Context(), "Team")
						return err == nil && len(list) == 1 && list[0].Path == at
					})
					list, err = here.Proposals(t.Context(), "Team")
					noError(t, err)
					_, err = here.Decide(t.Context(), []string{list[0].ID}, model.Rejected, person)
					noError(t, err)
					here.awaitText(at, text)
					for _, c := range []*client{here, there} {
						c.await("the note under one name", func() bool { return slices.Equal(notes(c), []model.Path{at}) })
						c.awaitText(at, text)
						if got := c.suggestion(at); got.ID != want.ID || got.Author != want.Author {
							t.Errorf("the suggestion is %+v, was %+v", got, want)
						}
					}
				})
			}
		}
	}
}

// A change by a user is reported by the names that this process has since given to the folder.
func TestReportAfterOwnRename(t *testing.T) {
	t.Parallel()
	s := startServer(t, "relay-server")
	typist := s.typist(t)
	typist.create("one/a.md", "one\n")
	typist.create("one/gone.md", "gone\n")
	a, err := transport.ParseAddress(s.address())
	noError(t, err)
	st, err := store.Open(filepath.Join(t.TempDir(), "store.db"), store.Options{})
	noError(t, err)
	source, err := remote.Open(remote.Options{Address: a, Folder: s.folder, Store: st})
	noError(t, err)
	noError(t, source.Scan(t.Context(), func(model.SourceEntry) {}))
	_, err = source.Document(t.Context(), "one/a.md") // stays connected
	noError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	pause, events, done := make(chan bool), make(chan string, 100), make(chan error)
	go func() {
		done <- source.Run(ctx, func(ev model.SourceEvent) {
			<-pause
			if ev, ok := ev.Next(); ok {
				events <- fmt.Sprint(ev.Kind, " ", ev.Rel)
			}
		})
	}()
	typist.typeBehind("one/a.md", "one", " two")
	typist.create("one/new.md", "new\n")
	noError(t, folderdoc.Open(typist.sync(s.folder)).Delete("one/gone.md"))
	typist.sync(s.folder)
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := source.Document(t.Context(), "one/new.md"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("waited in vain for the new note")
		}
	}
	noError(t, source.Rename(t.Context(), "one", "three", false))
	close(pause)
	want := []string{"changed three/a.md", "created three/new.md", "removed three/gone.md"}
	for seen := make(map[string]bool); len(want) > 0; want = slices.DeleteFunc(want, func(ev string) bool { return seen[ev] }) {
		select {
		case ev := <-events:
			if seen[ev] = true; strings.Contains(ev, "one/") {
				t.Errorf("%s, but the folder is now three", ev)
			}
		case <-time.After(patience):
			t.Fatalf("waited in vain for %q", want)
		}
	}
	cancel()
	noError(t, errors.Join(<-done, source.Close(), st.Close()))
}

// A note that two machines renamed at once has two names. Both show what users type.
func TestNoteWithTwoNames(t *testing.T) {
	t.Parallel()
	s := startServer(t, "relay-server")
	typist := s.typist(t)
	typist.create("a.md", "one\n")
	folder := folderdoc.Open(typist.sync(s.folder))
	again, _ := folder.Get("a.md")
	again.Path = "b.md"
	_, err := folder.Create(again)
	noError(t, err)
	typist.sync(s.folder)
	c := mustOpen(t, s)
	awaitBoth := func(text string) {
		c.awaitText("Team/a.md", text)
		c.awaitText("Team/b.md", text)
	}
	awaitBoth("one\n")
	typist.typeBehind("a.md", "one", " two")
	awaitBoth("one two\n")
}

// Agents on two mounts without the server create notes with one name. Both texts are there, each as a suggestion of its author.
func TestNotesOfOneName(t *testing.T) {
	t.Parallel()
	s := startServer(t, "relay-server")
	typist := s.typist(t)
	typist.create("first.md", "first\n")
	mounts := []*client{mustOpen(t, s, structured), mustOpen(t, s, structured)}
	for _, c := range mounts {
		c.awaitText("Team/first.md", "first\n")
	}
	port := s.lose(mounts...)
	for i, c := range mounts {
		_, err := c.Create(t.Context(), "Team/n.md", bridge.Write{Text: fmt.Sprintf("text %d\n", i), By: model.Author{Name: fmt.Sprint("agent ", i), Session: "s"}})
		noError(t, err)
	}
	s.start(port)
	for _, c := range mounts {
		c.awaitSent()
		c.await("both suggestions", func() bool {
			var got []string
			for _, p := range notes(c) {
				found, err := c.Suggestions(t.Context(), p)
				if err != nil {
					return false
				}
				for _, s := range found {
					got = append(got, s.Author+": "+s.New)
				}
			}
			slices.Sort(got)
			return slices.Equal(got, []string{"agent 0: text 0\n", "agent 1: text 1\n"})
		})
		for _, p := range notes(c) {
			v, err := c.Open(t.Context(), p)
			noError(t, err)
			if original := v.Known().Original(v.Canonical()); strings.Contains(original, "text") {
				t.Errorf("the original of %s is %q", p, original)
			}
		}
	}
}
