package vault_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
)

// TestWhatThePowerCutShows looks at a note on the disk after a power cut, before relayfs has
// started again. With SyncBefore it is the old one or the new one; without, it may be torn,
// or the test would not see the difference.
func TestWhatThePowerCutShows(t *testing.T) {
	for _, before := range []bool{false, true} {
		t.Run(fmt.Sprintf("SyncBefore %v", before), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testPowerCut(t, before) })
		})
	}
}

func testPowerCut(t *testing.T, before bool) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d := disktest.New(time.Now, disktest.Volume{Path: "/", OrdersNames: true})
	for _, path := range []string{"/vault", "/state"} {
		root, err := d.MakeRoot(path)
		check(err)
		root.Close()
	}
	check(d.Person().Save("/vault/N.md", "text"))
	v, err := vault.New("/vault", vault.Options{Disk: d, Swap: "/state/swap", SyncBefore: before})
	check(err)
	_, stamp, err := v.Read(t.Context(), "N.md")
	check(err)
	const old, replacement = "old text", "the replacement"
	for _, text := range []string{old, replacement} {
		synctest.Wait() // the first save settles at once, the next one after a pause
		stamp, err = v.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte(text), ModTime: time.Now()})
		check(err)
	}
	torn, states := 0, 0
	for cut := range d.PowerCuts(1000) {
		states++
		text, err := cut.Person().Read("/vault/N.md")
		check(err)
		if text != old && text != replacement {
			torn++
		}
	}
	if states < 2 || before && torn > 0 || !before && torn == 0 {
		t.Errorf("%d of %d states show a torn note", torn, states)
	}
	check(v.Close())
}
