package vault_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
)

// TestWhatThePowerCutShows looks at a note on the disk after a power cut, before relayfs has started again. With SyncBefore
// it is the old one or the new one; without, it may be torn, or the test would not see the difference.
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

// A change of names outlives a power cut, or it is taken back, for good, because a sync has failed.
func TestChangesOfNamesAreSynced(t *testing.T) {
	changes := map[string]func(context.Context, *vault.Vault) error{
		"make a folder": func(ctx context.Context, v *vault.Vault) error { return v.Mkdir(ctx, "made") },
		"create": func(ctx context.Context, v *vault.Vault) error {
			_, err := v.Create(ctx, "new/M.md", model.NewFile{Data: []byte("new"), Mode: 0o644, ModTime: time.Now()})
			return err
		},
		"link": func(ctx context.Context, v *vault.Vault) error {
			_, err := v.MakeLink(ctx, "M.md", "N.md")
			return err
		},
		"rename": func(ctx context.Context, v *vault.Vault) error { return v.Rename(ctx, "N.md", "M.md", false) },
		"move":   func(ctx context.Context, v *vault.Vault) error { return v.Rename(ctx, "N.md", "sub/M.md", false) },
		"remove": func(ctx context.Context, v *vault.Vault) error { return v.Remove(ctx, "N.md") },
	}
	for name, change := range changes {
		for _, ordered := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, names in order %v", name, ordered), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					for n, over := 1, false; !over; n++ {
						over = testFailingSync(t, ordered, n, change)
					}
				})
			})
		}
	}
}

// testFailingSync has sync number n of a change fail, and says whether there is none.
func testFailingSync(t *testing.T, ordered bool, n int, change func(context.Context, *vault.Vault) error) (over bool) {
	t.Helper()
	d := disktest.New(time.Now, disktest.Volume{Path: "/", OrdersNames: ordered})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sub, err := d.MakeRoot("/vault/sub")
	check(err)
	defer sub.Close()
	check(d.Person().Save("/vault/N.md", "text"))
	for _, path := range []string{"/vault", "/"} {
		dir, err := d.OpenRoot(path)
		check(err)
		check(dir.Sync())
		dir.Close()
	}
	v, err := vault.New("/vault", vault.Options{Disk: d})
	check(err)
	defer v.Close()
	before := namesOn(t, d)
	over = true
	d.Before(func(c disktest.Call) error {
		if c.Op == "sync" {
			n--
		}
		if c.Op != "sync" || n != 0 {
			return nil
		}
		over = false
		return syscall.EIO
	})
	err = change(t.Context(), v)
	d.Before(nil)
	now := namesOn(t, d)
	if (err == nil) == (now == before) {
		t.Errorf("error %v, and there are %s, of %s", err, now, before)
	}
	for cut := range d.PowerCuts(1000) {
		if got := namesOn(t, cut); got != now {
			t.Errorf("after the error %v a power cut leaves %s of %s\n%v", err, got, now, d.Calls())
		}
	}
	return over
}

// namesOn are the names that a change is about. A folder that was made for a file may stay, and the next start sweeps temp
// files.
func namesOn(t *testing.T, d *disktest.Disk) string {
	t.Helper()
	dir, err := d.Person().Open("/vault")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	names, err := dir.Names(-1)
	if err != nil {
		t.Fatal(err)
	}
	names = slices.AppendSeq(names, maps.Keys(d.Person().Files("/vault")))
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == "new" || name == ".trash" || strings.Contains(name, "/.relayfs-")
	})
	slices.Sort(names)
	return strings.Join(names, " ")
}

// A rename succeeds even if the user takes the new name away at once, and that change is reported.
func TestUserMovesWhatWasJustRenamed(t *testing.T) {
	for _, tt := range []struct {
		oldRel, newRel string
		act            func(root disk.Dir) error
		want           string
	}{
		{"one", "three", func(root disk.Dir) error { return root.Rename("three", root, "four") }, "renamed three four"},
		{"N.md", "M.md", func(root disk.Dir) error { return root.Rename("M.md", root, "O.md") }, "renamed M.md O.md"},
		{"N.md", "M.md", func(root disk.Dir) error { return root.Remove("M.md") }, "removed  M.md"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			d := disktest.New(time.Now, disktest.Volume{Path: "/", OrdersNames: true})
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			folder, err := d.MakeRoot("/vault/one")
			check(err)
			folder.Close()
			check(d.Person().Save("/vault/N.md", "1"))
			v, err := vault.New("/vault", vault.Options{Disk: d, MaxWatches: -1})
			check(err)
			defer v.Close()
			check(v.Scan(t.Context(), func(model.SourceEntry) {}))
			var seen []string
			look := v.Follow(func(ev model.SourceEvent) {
				ev, _ = ev.Next()
				seen = append(seen, fmt.Sprint(ev.Kind, " ", ev.OldRel, " ", ev.Rel))
			})
			root, err := d.Person().Open("/vault")
			check(err)
			defer root.Close()
			acted := false
			d.Before(func(disktest.Call) error {
				if _, err := root.Stat(tt.newRel); err == nil && !acted {
					acted = true
					check(tt.act(root))
				}
				return nil
			})
			check(v.Rename(t.Context(), tt.oldRel, tt.newRel, false))
			d.Before(nil)
			if look(); !acted || !slices.Equal(seen, []string{tt.want}) {
				t.Errorf("reported are %q, want %q", seen, tt.want)
			}
		})
	}
}
