package remote_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
)

// kinds are the servers that every test of behaviour runs against.
var kinds = []string{"y-websocket", "hocuspocus", "relay-server", "y-sweet"}

// onEach runs a test against each kind of server.
func onEach(t *testing.T, start func(testing.TB, string) *server, test func(*testing.T, *server)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, start(t, kind))
		})
	}
}

// alone starts a server of the test's own, which it may stop.
func alone(t testing.TB, kind string) *server { return startServer(t, kind) }

func TestReadAndWrite(t *testing.T) {
	t.Parallel()
	onEach(t, sharedServer, func(t *testing.T, s *server) {
		p := s.person()
		p.do("create", args{"path": "Plan.md", "text": "one two 🦊 three\n"})
		p.do("legacy", args{"path": "sub/Old.md", "text": "old\n"})
		c := mustOpen(t, s)
		c.awaitText("Team/Plan.md", "one two 🦊 three\n")
		c.awaitText("Team/sub/Old.md", "old\n")

		c.write("Team/Plan.md", func(s string) string { return strings.Replace(s, "three", "four", 1) })
		p.do("awaitText", args{"path": "Plan.md", "includes": "{--three--}{++four++}"})
		p.do("insert", args{"path": "Plan.md", "at": 0, "text": "zero "})
		c.awaitText("Team/Plan.md", "zero one two 🦊 {--three--}{++four++}\n")
		c.awaitSent()

		list, err := c.Suggestions(t.Context(), "Team")
		if err != nil || len(list) != 1 || list[0].Author != "ai" || list[0].Session != "s" {
			t.Errorf("suggestions are %+v, %v", list, err)
		}
		var users map[string]any
		if p.do("users", args{"path": "Plan.md"}, &users); users["ai:ai"] == nil {
			t.Errorf("users are %v", users)
		}
		p.clean()
	})
}

func TestCreateRenameRemove(t *testing.T) {
	t.Parallel()
	onEach(t, sharedServer, func(t *testing.T, s *server) {
		p := s.person()
		c := mustOpen(t, s, direct)
		c.create("Team/a/b/New.md", "new\n")
		c.create("Team/Empty.md", "")
		p.do("awaitText", args{"path": "a/b/New.md", "text": "new\n"})
		p.do("awaitText", args{"path": "Empty.md", "text": ""})
		p.clean()

		c.rename("Team/a", "Team/c")
		p.do("has", args{"path": "c/b/New.md"})
		p.do("gone", args{"path": "a/b/New.md"})
		p.do("rename", args{"from": "c/b/New.md", "to": "Moved.md"})
		c.awaitText("Team/Moved.md", "new\n")
		c.remove("Team/Moved.md")
		p.do("gone", args{"path": "Moved.md"})
		p.do("remove", args{"path": "Empty.md"})
		c.await("the removal", func() bool {
			_, err := c.Stat(t.Context(), "Team/Empty.md")
			return err != nil
		})
		p.clean()
	})
}

// A restart serves at once what was there, without the server.
func TestOffline(t *testing.T) {
	t.Parallel()
	onEach(t, alone, func(t *testing.T, s *server) {
		p := s.person()
		p.do("create", args{"path": "Plan.md", "text": "plan\n"})
		p.do("create", args{"path": "Other.md", "text": "other\n"})
		dir := t.TempDir()
		c, err := open(t, s.address(), s.folder, dir, direct)
		noError(t, err)
		c.awaitText("Team/Plan.md", "plan\n")
		c.awaitText("Team/Other.md", "other\n")
		c.stop()

		address := s.address()
		port := s.port
		s.stop()
		c, err = open(t, address, s.folder, dir, direct)
		noError(t, err)
		c.awaitText("Team/Plan.md", "plan\n")
		c.write("Team/Plan.md", func(s string) string { return s + "offline\n" })
		c.create("Team/New.md", "made offline\n")
		c.rename("Team/Other.md", "Team/Renamed.md")
		c.await("the status", func() bool {
			st := c.source.SyncStatus()
			return !st.Connected && st.Unsent == 3 && strings.Contains(st.LastError, "check the address")
		})
		c.stop()

		s.start(port) // another one, empty: everything comes from the clients
		c, err = open(t, address, s.folder, dir, direct)
		noError(t, err)
		c.awaitSent()
		q := s.person()
		q.do("awaitText", args{"path": "Plan.md", "text": "plan\noffline\n"})
		q.do("awaitText", args{"path": "New.md", "text": "made offline\n"})
		q.do("awaitText", args{"path": "Renamed.md", "text": "other\n"})
		q.clean()
	})
}

// A note that is written again after its deletion was proposed keeps what another client has typed in the meantime.
func TestWrittenAgainAfterADeletion(t *testing.T) {
	t.Parallel()
	onEach(t, sharedServer, func(t *testing.T, s *server) {
		p := s.person()
		p.do("create", args{"path": "A.md", "text": "one\ntwo\n"})
		c := mustOpen(t, s, func(_ *remote.Options, o *bridge.Options) { o.Structure = bridge.StructurePropose })
		c.awaitText("Team/A.md", "one\ntwo\n")
		c.remove("Team/A.md")
		p.do("insert", args{"path": "A.md", "at": 8, "text": "typed\n"})
		c.await("the other client's text", func() bool {
			v, err := c.OpenPendingDelete(t.Context(), "Team/A.md")
			return err == nil && strings.Contains(v.Raw(), "typed")
		})
		c.create("Team/A.md", "uno\ndue\n")
		c.awaitText("Team/A.md", "{--one--}{++uno++}\n{--two--}{++due++}\ntyped\n")
	})
}

// A proposal about a note becomes stale by a change of another client, but not by what relayfs itself writes, also after a
// restart.
func TestStaleProposals(t *testing.T) {
	t.Parallel()
	onEach(t, sharedServer, func(t *testing.T, s *server) {
		p := s.person()
		for _, path := range []string{"A.md", "B.md", "C.md"} {
			p.do("create", args{"path": path, "text": "text of " + path + "\n"})
		}
		dir := t.TempDir()
		start := func() *client {
			c, err := open(t, s.address(), s.folder, dir, func(_ *remote.Options, o *bridge.Options) { o.Structure = bridge.StructurePropose })
			noError(t, err)
			return c
		}
		c := start()
		stale := func() (paths []string) {
			list, err := c.Proposals(t.Context(), "Team")
			noError(t, err)
			if len(list) != 3 {
				t.Fatalf("proposals: %+v", list)
			}
			for _, p := range list {
				if p.Stale {
					paths = append(paths, string(p.Path))
				}
			}
			return paths
		}
		for _, path := range []model.Path{"Team/A.md", "Team/B.md", "Team/C.md"} {
			c.awaitText(path, "text of "+path.Base()+"\n")
			c.write(path, func(s string) string { return "one " + s })
			c.awaitSent()
			c.rename(path, "Team/New "+model.Path(path.Base()))
		}
		c.write("Team/New A.md", func(s string) string { return "two " + s })
		c.write("Team/New B.md", func(s string) string { return "two " + s })
		c.awaitSent()
		if got := stale(); len(got) != 0 {
			t.Errorf("stale: %q", got)
		}
		c.stop()
		c = start()
		if got := stale(); len(got) != 0 {
			t.Errorf("stale after a restart: %q", got)
		}
		c.stop()
		p.do("insert", args{"path": "B.md", "at": 0, "text": "zero "})
		c = start()
		p.do("insert", args{"path": "C.md", "at": 0, "text": "zero "})
		c.await("the changes", func() bool { return len(stale()) == 2 })
		c.stop()
		c = start()
		if got := stale(); !slices.Equal(got, []string{"Team/B.md", "Team/C.md"}) {
			t.Errorf("stale at the end: %q", got)
		}
		p.clean()
	})
}

// Two relayfs and two persons edit the same notes, and end with the same bytes.
func TestConverge(t *testing.T) {
	t.Parallel()
	onEach(t, sharedServer, func(t *testing.T, s *server) {
		p, q := s.person(), s.person()
		paths := []string{"One.md", "Two.md"}
		for _, path := range paths {
			p.do("create", args{"path": path, "text": "start of " + path + "\n"})
		}
		a, b := mustOpen(t, s, direct), mustOpen(t, s, direct)
		for _, path := range paths {
			q.do("has", args{"path": path})
			a.awaitText(model.Path("Team/"+path), "start of "+path+"\n")
			b.awaitText(model.Path("Team/"+path), "start of "+path+"\n")
		}
		var wg sync.WaitGroup
		for i, person := range []*person{p, q} {
			wg.Go(func() { person.do("random", args{"paths": paths, "count": 100, "from": 17 * (i + 1)}) })
		}
		for i, c := range []*client{a, b} {
			wg.Go(func() { c.randomEdits(rand.New(rand.NewPCG(uint64(i), 1)), paths, 40) })
		}
		wg.Wait()
		a.awaitSent()
		b.awaitSent()
		agree(t, paths, []*client{a, b}, []*person{p, q})
		p.clean()
		q.clean()
	})
}

// randomEdits makes count changes of the notes, with characters of all sizes.
func (c *client) randomEdits(r *rand.Rand, paths []string, count int) {
	for range count {
		c.write(model.Path("Team/"+paths[r.IntN(len(paths))]), func(s string) string {
			runes := []rune(s)
			at := r.IntN(len(runes) + 1)
			if len(runes) > 20 && r.IntN(3) == 0 {
				end := min(len(runes), at+1+r.IntN(4))
				return string(runes[:at]) + string(runes[end:])
			}
			pieces := []string{"x", "Yz ", "🐸", "ü\n", "9876543210 "}
			return string(runes[:at]) + pieces[r.IntN(len(pieces))] + string(runes[at:])
		})
	}
}

// agree waits until every note has the same text everywhere: that of the first
// person, who has stopped editing.
func agree(t *testing.T, paths []string, clients []*client, persons []*person) {
	t.Helper()
	for _, path := range paths {
		same := func() bool {
			var want string
			persons[0].do("text", args{"path": path}, &want)
			for _, p := range persons[1:] {
				var got string
				if p.do("text", args{"path": path}, &got); got != want {
					return false
				}
			}
			for _, c := range clients {
				v, err := c.Open(t.Context(), model.Path("Team/"+path))
				if err != nil || v.Raw() != want {
					return false
				}
			}
			return true
		}
		clients[0].await("the same text of "+path+" everywhere", same)
	}
}
