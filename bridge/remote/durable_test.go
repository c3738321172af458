package remote_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/store"
)

// What a writer was told is done outlives a power cut: it is in the synced file,
// whatever of it is in the log beside it: that is synced.
func TestPowerCutOffline(t *testing.T) {
	t.Parallel()
	s := startServer(t, "relay-server")
	dir := t.TempDir()
	c, err := open(t, s.address(), s.folder, dir, direct)
	noError(t, err)
	c.create("Team/Old.md", "old\n")
	c.awaitSent()
	address, port := s.address(), s.lose(c)
	c.write("Team/Old.md", func(text string) string { return text + "offline\n" })
	c.create("Team/New.md", "new\n")

	cut := t.TempDir() // what was synced at this moment
	noError(t, os.CopyFS(filepath.Join(cut, "store.db"), os.DirFS(filepath.Join(dir, "store.db"))))
	c.stop()
	c, err = open(t, address, s.folder, cut, direct)
	noError(t, err)
	c.awaitText("Team/New.md", "new\n")
	c.awaitText("Team/Old.md", "old\noffline\n")
	s.start(port)
	c.awaitSent()
	d := mustOpen(t, s, direct)
	d.awaitText("Team/New.md", "new\n")
	d.awaitText("Team/Old.md", "old\noffline\n")
}

// mortalStore keeps a number of changes and then nothing, as if the process had
// been killed.
type mortalStore struct {
	*store.Store
	left atomic.Int64
}

var errKilled = errors.New("killed")

func (s *mortalStore) Append(id model.DocID, p model.Path, recs ...model.Record) (uint64, error) {
	if s.left.Add(-1) < 0 {
		return 0, errKilled
	}
	return s.Store.Append(id, p, recs...)
}

func (s *mortalStore) Sent(id model.DocID, seq uint64) error {
	if s.left.Load() < 0 {
		return errKilled
	}
	return s.Store.Sent(id, seq)
}

// However far a process came before it was killed: each note that it said it had
// made is there after a restart, once, and comes to the server.
func TestKilledBetweenAnyTwoRecords(t *testing.T) {
	t.Parallel()
	for survives := range 16 {
		t.Run(fmt.Sprint(survives), func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "relay-server")
			other := mustOpen(t, s, direct)
			other.create("Team/First.md", "so that there is a folder\n")
			other.awaitSent()
			dir := t.TempDir()
			made := killedAfter(t, s, other, dir, survives)
			c, err := open(t, s.address(), s.folder, dir, direct)
			noError(t, err)
			c.awaitSent()
			for _, p := range made {
				c.awaitText(p, string(p))
				other.awaitText(p, string(p))
			}
		})
	}
}

// killedAfter makes two notes with a store that keeps that many changes, and
// returns those that were said to be made.
func killedAfter(t *testing.T, s *server, other *client, dir string, survives int) (made []model.Path) {
	t.Helper()
	st := &mortalStore{}
	st.left.Store(int64(survives))
	c, err := open(t, s.address(), s.folder, dir, direct, func(o *remote.Options, _ *bridge.Options) {
		st.Store = o.Store.(*store.Store)
		o.Store = st
	})
	if errors.Is(err, errKilled) {
		return nil // it did not come far enough to say anything
	}
	noError(t, err)
	c.killed = true
	for i := range 2 {
		p := model.Path(fmt.Sprintf("Team/%d.md", i))
		if _, err := c.Create(t.Context(), p, bridge.Write{Text: string(p)}); err == nil {
			made = append(made, p)
		}
	}
	c.await("the end", func() bool {
		return st.left.Load() < 0 || !slices.ContainsFunc(made, func(p model.Path) bool {
			_, err := other.Stat(t.Context(), p)
			return err != nil
		})
	})
	c.stop()
	return made
}
