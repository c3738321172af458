package remote_test

import (
	"errors"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
)

// enterEmpty enters a note that nobody has written to: its document is empty.
func (p *person) enterEmpty(name string) {
	p.t.Helper()
	id := "empty-" + name
	p.do("raw", args{"map": "docs", "key": "/" + name + ".md", "value": id})
	p.do("raw", args{"map": "filemeta_v0", "key": "/" + name + ".md", "value": args{"id": id, "version": 0, "type": "markdown"}})
}

// A note whose document the server has nothing of is an empty note, also after a restart
// without the server, until somebody writes to it.
func TestEmptyDocument(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"y-websocket", "hocuspocus"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, kind)
			p := s.person()
			for _, name := range []string{"Typed", "Written", "Left"} {
				p.enterEmpty(name)
			}
			dir := t.TempDir()
			c, err := open(t, s.address(), s.folder, dir, direct)
			noError(t, err)
			for _, note := range []model.Path{"Team/Typed.md", "Team/Written.md", "Team/Left.md"} {
				c.awaitText(note, "")
				if info, err := c.Stat(t.Context(), note); err != nil || info.Size != 0 {
					t.Errorf("%s: %+v, %v", note, info, err)
				}
			}
			p.do("insert", args{"path": "Typed.md", "at": 0, "text": "by a person\n"})
			c.awaitText("Team/Typed.md", "by a person\n")
			c.write("Team/Written.md", func(string) string { return "by an agent\n" })
			p.do("awaitText", args{"path": "Written.md", "text": "by an agent\n"})
			c.awaitSent()
			c.stop()

			p.do("text", args{"path": "Left.md"})
			p.do("offline", nil)
			port := s.port
			s.stop()
			c, err = open(t, s.address(), s.folder, dir, direct)
			noError(t, err)
			for note, text := range map[model.Path]string{"Team/Typed.md": "by a person\n", "Team/Written.md": "by an agent\n", "Team/Left.md": ""} {
				c.awaitText(note, text)
			}
			p.do("insert", args{"path": "Left.md", "at": 0, "text": "while nobody saw it\n"})
			s.start(port)
			p.do("online", nil)
			c.awaitText("Team/Left.md", "while nobody saw it\n")
		})
	}
}

// A note that was never fetched is not empty: what the server has of it is not known.
func TestUnfetchedDocumentIsNotEmpty(t *testing.T) {
	t.Parallel()
	s := startServer(t, "y-websocket")
	p := s.person()
	proxy := newChaos(t, s)
	proxy.calm.Store(true)
	proxy.without = "empty-Note"
	p.enterEmpty("Note")
	dir := t.TempDir()
	c, err := open(t, proxy.address(s), s.folder, dir, direct)
	noError(t, err)
	c.await("the entry", func() bool { return c.source.SyncStatus().Unfetched == 1 })
	c.stop()
	proxy.Close()
	c, err = open(t, proxy.address(s), s.folder, dir, direct)
	noError(t, err)
	if _, err := c.Open(t.Context(), "Team/Note.md"); !errors.Is(err, model.ErrNotFetched) {
		t.Errorf("a note that was never fetched: %v", err)
	}
}
