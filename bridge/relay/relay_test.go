package relay_test

import (
	"strings"
	"testing"
)

// kinds are the servers that every test of behaviour runs against.
var kinds = []string{"y-websocket", "hocuspocus"}

// onEach runs a test against each kind of server.
func onEach(t *testing.T, test func(*testing.T, *server)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) { test(t, startServer(t, kind)) })
	}
}

func TestReadAndWrite(t *testing.T) {
	onEach(t, func(t *testing.T, s *server) {
		p := s.person("team")
		p.do("create", args{"path": "Plan.md", "text": "one two 🦊 three\n"})
		p.do("legacy", args{"path": "sub/Old.md", "text": "old\n"})
		c := mustOpen(t, s, "team")
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
	onEach(t, func(t *testing.T, s *server) {
		p := s.person("team")
		c := mustOpen(t, s, "team", direct)
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
	onEach(t, func(t *testing.T, s *server) {
		p := s.person("team")
		p.do("create", args{"path": "Plan.md", "text": "plan\n"})
		p.do("create", args{"path": "Other.md", "text": "other\n"})
		dir := t.TempDir()
		c, err := open(t, s.address(), "team", dir, direct)
		noError(t, err)
		c.await("the first sync", func() bool { return c.source.SyncStatus().Unfetched == 0 })
		c.stop()

		address := s.address()
		port := s.port
		s.stop()
		c, err = open(t, address, "team", dir, direct)
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
		c, err = open(t, address, "team", dir, direct)
		noError(t, err)
		c.awaitSent()
		q := s.person("team")
		q.do("awaitText", args{"path": "Plan.md", "text": "plan\noffline\n"})
		q.do("awaitText", args{"path": "New.md", "text": "made offline\n"})
		q.do("awaitText", args{"path": "Renamed.md", "text": "other\n"})
		q.clean()
	})
}
