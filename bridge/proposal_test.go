package bridge_test

import (
	"errors"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
)

func TestWriteFileInDirectMode(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "x\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	for _, data := range []string{"{}", `{"nodes":[]}`, ""} {
		if _, err := f.WriteFile(t.Context(), "Notes/sub/Map.canvas", []byte(data), bridge.Restructure{}); err != nil {
			t.Fatal(err)
		}
		if got := f.SourceText("Notes/sub/Map.canvas"); got != data {
			t.Errorf("file holds %q, want %q", got, data)
		}
		if info, err := f.Stat(t.Context(), "Notes/sub/Map.canvas"); err != nil || info.Size != int64(len(data)) {
			t.Errorf("stat: %+v, %v", info, err)
		}
	}
	if _, err := f.WriteFile(t.Context(), plan, nil, bridge.Restructure{}); !errors.Is(err, bridge.ErrNotNote) {
		t.Errorf("write of a note as a file: %v", err)
	}
}
