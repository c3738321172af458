package disktest_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/disk/disktest"
)

// machine has a folder and in it a note, on its disk.
func machine(t *testing.T, v disktest.Volume) (*disktest.Disk, disk.Dir) {
	t.Helper()
	v.Path = "/"
	d := disktest.New(nil, v)
	root, err := d.MakeRoot("/v")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Person().Save("/v/note", "old text"); err != nil {
		t.Fatal(err)
	}
	top, err := d.OpenRoot("/")
	if err == nil {
		err = top.Sync()
	}
	if err != nil {
		t.Fatal(err)
	}
	return d, root
}

func put(t *testing.T, d disk.Dir, name, text string) disk.File {
	t.Helper()
	f, err := d.Open(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err == nil {
		_, err = f.WriteAt([]byte(text), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// states says what each state has of the folder, "name=text" each.
func states(d *disktest.Disk) []string {
	all := make(map[string]bool)
	for cut := range d.PowerCuts(1000) {
		all[listing(cut)] = true
	}
	return slices.Sorted(maps.Keys(all))
}

func listing(d *disktest.Disk) string {
	var list []string
	for path, text := range d.Person().Files("/") {
		list = append(list, fmt.Sprintf("%s=%s", strings.TrimPrefix(path, "/v/"), strings.ReplaceAll(text, "\x00", "0")))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func check(t *testing.T, d *disktest.Disk, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := states(d); !slices.Equal(got, want) {
		t.Errorf("a power cut leaves\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An exchange can be on the disk before the bytes are; a sync of the file, and then of the folder, ends that.
func TestExchange(t *testing.T) {
	d, root := machine(t, disktest.Volume{OrdersNames: true})
	f := put(t, root, "temp", "new")
	must(t, root.Exchange("temp", root, "note"))
	check(t, d,
		"note=old text",
		"note=old text temp=", "note=old text temp=n", "note=old text temp=000", "note=old text temp=new",
		"note= temp=old text", "note=n temp=old text", "note=000 temp=old text", "note=new temp=old text")
	must(t, f.Datasync())
	check(t, d, "note=old text", "note=old text temp=new", "note=new temp=old text")
	must(t, f.Sync()) // and the names before the last one that are about it
	check(t, d, "note=new temp=old text")
	must(t, root.Remove("temp"))
	check(t, d, "note=new temp=old text", "note=new")
	must(t, root.Sync())
	check(t, d, "note=new")
	if got := listing(d.Killed()); got != "note=new" {
		t.Errorf("a kill leaves %q", got)
	}
}

// Where names have no order, each change is there or not, if it can be.
func TestNamesWithoutOrder(t *testing.T) {
	d, root := machine(t, disktest.Volume{})
	f := put(t, root, "temp", "new")
	must(t, f.Sync())
	must(t, root.Rename("temp", root, "note"))
	must(t, put(t, root, "other", "x").Datasync())
	check(t, d,
		"note=old text", "note=old text temp=new", "note=new",
		"note=old text other=x", "note=old text other=x temp=new", "note=new other=x")
	must(t, root.Sync())
	check(t, d, "note=new other=x")
}

func TestSaveInPlace(t *testing.T) {
	d, root := machine(t, disktest.Volume{OrdersNames: true})
	f, err := root.Open("note", os.O_WRONLY|os.O_TRUNC, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("newer"), 0)
	must(t, err)
	check(t, d, "note=old text", "note=", "note=ne", "note=00000", "note=newer")
}

// What a failed sync has lost, no later one keeps.
func TestFailedSync(t *testing.T) {
	d, root := machine(t, disktest.Volume{OrdersNames: true})
	f := put(t, root, "note", "NEW")
	d.Before(func(disktest.Call) error { return syscall.EIO })
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("sync: %v, want %v", err, syscall.EIO)
	}
	d.Before(nil)
	must(t, f.Sync())
	check(t, d, "note=old text", "note=Nld text", "note=NEW text")
}

// Every state is yielded once, and no more than are asked for.
func TestStatesAreBounded(t *testing.T) {
	d, root := machine(t, disktest.Volume{OrdersNames: true})
	for i := range 6 {
		put(t, root, fmt.Sprint(i), "text")
	}
	for _, limit := range []int{1, 10, 100} {
		seen := make(map[uint64]bool)
		for cut := range d.PowerCuts(limit) {
			if seen[cut.Sum()] {
				t.Errorf("%q twice", listing(cut))
			}
			seen[cut.Sum()] = true
		}
		if len(seen) > limit {
			t.Errorf("%d states, want at most %d", len(seen), limit)
		}
	}
}

func TestKill(t *testing.T) {
	d, root := machine(t, disktest.Volume{OrdersNames: true})
	d.Kill(len(d.Calls()) + 2)
	must(t, root.Mkdir("a"))
	for range 2 {
		if err := root.Mkdir("b"); !errors.Is(err, disktest.ErrKilled) {
			t.Errorf("after a kill: %v, want %v", err, disktest.ErrKilled)
		}
	}
	calls := d.Calls()
	if got, want := calls[len(calls)-1].String(), "mkdir /v/b"; !strings.Contains(got, want) {
		t.Errorf("the last call is %q, want %q", got, want)
	}
}

// A user who saves a file that has a lease on it waits, and saves to what is not the note any more.
func TestSaveDuringALease(t *testing.T) {
	d, root := machine(t, disktest.Volume{OrdersNames: true})
	f, err := root.Open("note", os.O_RDONLY, 0)
	must(t, err)
	release, err := f.Lease()
	must(t, err)
	put(t, root, "temp", "new").Close()
	must(t, d.Person().Save("/v/note", "typed"))
	must(t, root.Exchange("temp", root, "note"))
	if got, want := listing(d), "note=new temp=old text"; got != want {
		t.Errorf("during the lease %q, want %q", got, want)
	}
	release()
	if got, want := listing(d), "note=new temp=typed"; got != want {
		t.Errorf("after the lease %q, want %q", got, want)
	}
	must(t, d.Person().SaveByRename("/v/note", "typed again"))
	if got, want := listing(d), "note=typed again temp=typed"; got != want {
		t.Errorf("after a save by rename %q, want %q", got, want)
	}
}
