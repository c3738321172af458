package mcpserver_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver"
)

// The tool changes reports each decision after the session's start once, also if the clock was set back before it.
func TestDecisionsAfterTheClockWasSetBack(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "one {++two++} three {++four++}\n")
	accept := func(t *testing.T, ws *bridge.Workspace) {
		t.Helper()
		list, err := ws.Suggestions(t.Context(), "")
		if err == nil {
			_, err = ws.Decide(t.Context(), []string{list[0].ID}, model.Accepted, model.Author{Name: "user"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	start := func(t *testing.T) *bridge.Workspace {
		t.Helper()
		ws, err := bridge.New(bridge.Options{Roots: []bridge.RootSource{{Name: "V", Source: src.Restarted(t), Store: store}}})
		if err == nil {
			err = ws.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		return ws
	}
	accept(t, start(t))
	synctest.Test(t, func(t *testing.T) { // it is the year 2000 in here
		ws := start(t)
		srv := mcpserver.New(ws, mcpserver.Options{Version: "1.0", Toolsets: []string{"vault"}})
		defer srv.Close()
		c := newTools(t, srv)
		accept(t, ws)
		if got := c.ok("changes"); !strings.Contains(got, "four") || strings.Contains(got, "two") {
			t.Errorf("got %q, want the second decision", got)
		}
		if got := c.ok("changes"); got != "Nothing has changed since your last call" {
			t.Errorf("again: got %q", got)
		}
	})
}
