package remote_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/relaytest"
	"github.com/relayfs/relayfs/bridge/remote/token"
)

// awaitBytes waits until the attachment at p holds data, and is as large as that.
func (c *client) awaitBytes(p model.Path, data []byte) {
	c.t.Helper()
	c.await("the bytes of "+string(p), func() bool {
		f, err := c.OpenFile(c.t.Context(), p, os.O_RDONLY)
		if err != nil {
			return false
		}
		defer f.Close()
		info, err := c.Stat(c.t.Context(), p)
		got, readErr := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
		return err == nil && readErr == nil && info.Size == int64(len(data)) && bytes.Equal(got, data)
	})
}

// An attachment travels by its hash from one client's write to another's directory.
func TestAttachments(t *testing.T) {
	t.Parallel()
	for name, alg := range map[string]token.Algorithm{"legacy": token.Legacy, "CWT": token.HMAC} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, alg)
			withKey := func(o *remote.Options, b *bridge.Options) { o.Key, b.Mode = s.keys[0], bridge.Direct }
			a, b := mustOpen(t, s, withKey), mustOpen(t, s, withKey)
			first, second := []byte("\x89PNG\x00one"), bytes.Repeat([]byte("two\xff"), 1000)
			_, err := a.WriteFile(t.Context(), "Team/pics/A.png", first, bridge.ChangeRequest{})
			noError(t, err)
			a.awaitBytes("Team/pics/A.png", first)
			b.awaitBytes("Team/pics/A.png", first)

			_, err = b.WriteFile(t.Context(), "Team/pics/A.png", second, bridge.ChangeRequest{})
			noError(t, err)
			a.awaitBytes("Team/pics/A.png", second)
			_, err = b.WriteFile(t.Context(), "Team/B.pdf", first, bridge.ChangeRequest{})
			noError(t, err)
			a.awaitBytes("Team/B.pdf", first)

			a.rename("Team/B.pdf", "Team/pics/C.pdf")
			b.awaitBytes("Team/pics/C.pdf", first)
			b.remove("Team/pics/C.pdf")
			a.await("the removal", func() bool { _, err := a.Stat(t.Context(), "Team/pics/C.pdf"); return err != nil })
		})
	}
}

// A server that stores no attachments gets none, in neither mode: a proposal of one could never be accepted.
func TestServersWithoutAttachments(t *testing.T) {
	t.Parallel()
	onEach(t, sharedServer, func(t *testing.T, s *server) {
		stores := s.kind == "relay-server"
		for mode, change := range map[string]func(*remote.Options, *bridge.Options){"suggest": func(*remote.Options, *bridge.Options) {}, "direct": direct} {
			if stores && mode == "direct" {
				continue // TestAttachments
			}
			c := mustOpen(t, s, change)
			c.await("the server's answer", func() bool { return c.source.SyncStatus().Connected })
			for _, name := range []model.Path{"pic.png", "table.base", "data.bin"} {
				p := model.Path("Team").Join(mode + string(name))
				_, err := c.WriteFile(t.Context(), p, []byte("filters: {}\n"), bridge.ChangeRequest{})
				if refused := errors.Is(err, model.ErrReadOnly) && strings.Contains(err.Error(), "stores notes and canvases"); refused == stores || err != nil && !refused {
					t.Errorf("%s: WriteFile(%s): %v", mode, p, err)
				}
				if _, err := c.Stat(t.Context(), p); (err == nil) != stores {
					t.Errorf("%s: Stat(%s): %v", mode, p, err)
				}
				if err := c.CreateFile(t.Context(), p, 0o644, bridge.ChangeRequest{}); mode == "direct" && (err == nil || !strings.Contains(err.Error(), "stores notes and canvases")) {
					t.Errorf("CreateFile(%s): %v", p, err)
				}
			}
			_, err := c.WriteFile(t.Context(), model.Path("Team").Join(mode+".canvas"), []byte("{}"), bridge.ChangeRequest{})
			noError(t, err)
		}
	})
}

// What was fetched is there without the server; what is written then is refused.
func TestAttachmentsOffline(t *testing.T) {
	t.Parallel()
	s := guarded(t, token.Legacy, relaytest.AllTypes...)
	withKey := func(o *remote.Options, b *bridge.Options) { o.Key, b.Mode = s.keys[0], bridge.Direct }
	dir := t.TempDir()
	c, err := open(t, s.address(), s.folder, dir, withKey)
	noError(t, err)
	_, err = c.WriteFile(t.Context(), "Team/A.png", []byte("one"), bridge.ChangeRequest{})
	noError(t, err)
	s.person(s.mint(token.Scope{Kind: token.Server})).clean()
	c.stop()
	address := s.address()
	s.stop()
	c, err = open(t, address, s.folder, dir, withKey)
	noError(t, err)
	c.awaitBytes("Team/A.png", []byte("one"))
	for _, p := range []model.Path{"Team/A.png", "Team/B.png"} {
		if _, err := c.WriteFile(t.Context(), p, []byte("two"), bridge.ChangeRequest{}); !errors.Is(err, model.ErrOffline) {
			t.Errorf("WriteFile(%s) = %v, want ErrOffline", p, err)
		}
	}
	c.awaitBytes("Team/A.png", []byte("one"))
}
