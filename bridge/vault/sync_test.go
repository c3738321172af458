package vault_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
)

// TestWhatThePowerCutShows looks at a note on the disk after a power cut, before relayfs has
// started again. With SyncBefore it is the old one or the new one; without, it may be torn,
// or the test would not see the difference.
func TestWhatThePowerCutShows(t *testing.T) {
	const old, replacement = "old text", "the replacement"
	for _, before := range []bool{false, true} {
		t.Run(fmt.Sprintf("SyncBefore %v", before), func(t *testing.T) {
			d := disktest.New(time.Now, disktest.Volume{Path: "/", OrdersNames: true})
			for _, path := range []string{"/vault", "/state"} {
				root, err := d.MakeRoot(path)
				if err != nil {
					t.Fatal(err)
				}
				root.Close()
			}
			if err := d.Person().Save("/vault/N.md", old); err != nil {
				t.Fatal(err)
			}
			var later []func()
			v, err := vault.New("/vault", vault.Options{
				Disk: d, Swap: "/state/swap", SyncBefore: before,
				Background: func(work func()) { later = append(later, work) },
			})
			if err != nil {
				t.Fatal(err)
			}
			_, stamp, err := v.Read(t.Context(), "N.md")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := v.Replace(t.Context(), "N.md", model.Replacement{Expect: stamp, Data: []byte(replacement), ModTime: time.Now()}); err != nil {
				t.Fatal(err)
			}
			torn, states := 0, 0
			for cut := range d.PowerCuts(1000) {
				states++
				switch text, err := cut.Person().Read("/vault/N.md"); {
				case err != nil:
					t.Error(err)
				case text != old && text != replacement:
					torn++
				}
			}
			if states < 2 || before && torn > 0 || !before && torn == 0 {
				t.Errorf("%d of %d states show a torn note", torn, states)
			}
			for _, work := range later {
				go work()
			}
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
