package disktest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/randomtest"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/disk/disktest"
)

// twins are the machine's disk and the double, on both of which the same is done.
type twins struct {
	testing.TB
	r     *rand.Rand
	root  [2]string
	disks [2]disk.Disk
	dirs  [][2]disk.Dir
	files [][2]disk.File
	seen  map[[2]uint64][2]disk.Info // what was seen last, by the numbers of the inodes
}

// The same calls have the same results and errors on the double as on a real disk.
func TestDoubleIsLikeTheDisk(t *testing.T) {
	if !strings.HasPrefix(t.TempDir(), "/") {
		t.Skip("no folder for temporary files")
	}
	defer syscall.Umask(syscall.Umask(0o022))
	leases := leasesAt(t)
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		tw := &twins{TB: t, r: r, seen: make(map[[2]uint64][2]disk.Info)}
		tw.root[0] = path.Join(t.TempDir(), "r")
		tw.root[1] = "/r"
		sim := disktest.New(nil, disktest.Volume{Path: "/", OrdersNames: true, NoLeases: !leases})
		tw.disks = [2]disk.Disk{disk.OS{}, sim}
		tw.openRoot("")
		randomtest.Repeat(t, r, tw.compareAll, tw.actions())
		for _, f := range tw.files {
			f[0].Close()
		}
		for _, d := range tw.dirs {
			d[0].Close()
		}
		os.RemoveAll(tw.root[0])
	})
}

func leasesAt(t *testing.T) bool {
	root, err := disk.OS{}.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f, err := root.Open("x", os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if f, err = root.Open("x", os.O_RDONLY, 0); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	release, err := f.Lease()
	if err == nil {
		release()
	}
	return err == nil
}

var (
	someName = []string{"x", "y", "z", "Note.md", "sub", "dir", strings.Repeat("n", 256)}
	someFlag = []int{
		os.O_RDONLY, os.O_RDWR, os.O_WRONLY, os.O_WRONLY | os.O_CREATE | os.O_EXCL, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC,
		os.O_RDWR | os.O_TRUNC, os.O_RDONLY | os.O_CREATE,
	}
	someMode = []fs.FileMode{0o644, 0o600, 0o666, 0o400, 0o755 | fs.ModeSticky}
	someText = []string{"a", "text\n", "", "a longer text of a note\n"}
)

func (tw *twins) dir() [2]disk.Dir { return randomtest.Pick(tw.r, tw.dirs...) }

func (tw *twins) file() [2]disk.File {
	if len(tw.files) == 0 {
		tw.Skip()
	}
	return randomtest.Pick(tw.r, tw.files...)
}

func (tw *twins) name() string { return randomtest.Pick(tw.r, someName...) }

// errs compares errors, and says whether there was none.
func (tw *twins) errs(what string, real, sim error) bool {
	tw.Helper()
	if kind(real) != kind(sim) {
		tw.Fatalf("%s: %v on the disk, %v on the double", what, real, sim)
	}
	return real == nil
}

func kind(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return ""
	case errors.Is(err, io.EOF):
		return "EOF"
	case errors.Is(err, os.ErrClosed):
		return "closed"
	case errors.Is(err, disk.ErrWriters):
		return "writers"
	case errors.Is(err, errors.ErrUnsupported):
		return "unsupported"
	case errors.As(err, &errno):
		return errno.Error()
	}
	return err.Error()
}

// same compares results.
func same[V any](tw *twins, what string, real, sim V) {
	tw.Helper()
	if a, b := fmt.Sprintf("%+v", real), fmt.Sprintf("%+v", sim); a != b {
		tw.Fatalf("%s: %s on the disk, %s on the double", what, a, b)
	}
}

// infos compares descriptions, and how they changed since the last time.
func (tw *twins) infos(what string, real, sim disk.Info) {
	tw.Helper()
	type visible struct {
		Mode  fs.FileMode
		Size  int64
		Links int
		Times int64
	}
	see := func(i disk.Info) visible {
		v := visible{Mode: i.Mode, Size: i.Size, Links: i.Links}
		if i.Mode.IsDir() {
			v.Size = 0
		}
		if i.ModTime < 2e18 && i.ModTime > 9e17 && i.ModTime%1e9 == 123456789 {
			v.Times = i.ModTime // one that was set
		}
		return v
	}
	same(tw, what, see(real), see(sim))
	id := [2]uint64{real.Inode, sim.Inode}
	if last, ok := tw.seen[id]; ok {
		if real.CTime != last[0].CTime && sim.CTime == last[1].CTime {
			tw.Fatalf("%s: the time of change is another one on the disk, and the same on the double", what)
		}
		if real.ModTime != last[0].ModTime && sim.ModTime == last[1].ModTime {
			tw.Fatalf("%s: the time of modification is another one on the disk, and the same on the double", what)
		}
	}
	tw.seen[id] = [2]disk.Info{real, sim}
}

func (tw *twins) openRoot(rel string) {
	a, err0 := tw.disks[0].MakeRoot(path.Join(tw.root[0], rel))
	b, err1 := tw.disks[1].MakeRoot(path.Join(tw.root[1], rel))
	if tw.errs("make root "+rel, err0, err1) {
		tw.addDir(a, b)
	}
}

func (tw *twins) addDir(a, b disk.Dir) {
	tw.dirs = append(tw.dirs, [2]disk.Dir{a, b})
	if len(tw.dirs) > 5 {
		tw.dirs[1][0].Close()
		tw.dirs[1][1].Close()
		tw.dirs = slices.Delete(tw.dirs, 1, 2)
	}
}

func (tw *twins) addFile(a, b disk.File) {
	tw.files = append(tw.files, [2]disk.File{a, b})
	if len(tw.files) > 4 {
		tw.files[0][0].Close()
		tw.files[0][1].Close()
		tw.files = tw.files[1:]
	}
}

func (tw *twins) actions() map[string]func() {
	type two = func(d disk.Dir, name string, to disk.Dir, newName string) error
	names := func(call two) func() {
		return func() {
			from, to, name, newName := tw.dir(), tw.dir(), tw.name(), tw.name()
			tw.errs("call", call(from[0], name, to[0], newName), call(from[1], name, to[1], newName))
		}
	}
	one := func(call func(d disk.Dir, name string) error) func() {
		return func() {
			d, name := tw.dir(), tw.name()
			tw.errs(name, call(d[0], name), call(d[1], name))
		}
	}
	change := func(call func(f disk.File) error) {
		f := tw.file()
		tw.errs("file", call(f[0]), call(f[1]))
	}
	return map[string]func(){
		"mkdir":    one(disk.Dir.Mkdir),
		"rmdir":    one(disk.Dir.Rmdir),
		"remove":   one(disk.Dir.Remove),
		"symlink":  one(func(d disk.Dir, name string) error { return d.Symlink("x", name) }),
		"rename":   names(disk.Dir.Rename),
		"new":      names(disk.Dir.RenameNew),
		"exchange": names(disk.Dir.Exchange),
		"link":     names(disk.Dir.Link),
		"set times": func() {
			d, name, at := tw.dir(), tw.name(), time.Unix(1e9+int64(randomtest.Between(tw.r, 1, 5)), 123456789)
			tw.errs(name, d[0].SetTimes(name, at), d[1].SetTimes(name, at))
		},
		"root": func() { tw.openRoot(randomtest.Pick(tw.r, "", "m", "m/n")) },
		"open folder": func() {
			d, name := tw.dir(), tw.name()
			a, err0 := d[0].OpenDir(name)
			b, err1 := d[1].OpenDir(name)
			if tw.errs(name, err0, err1) {
				tw.addDir(a, b)
			}
		},
		"open": func() {
			d, name, flag, mode := tw.dir(), tw.name(), randomtest.Pick(tw.r, someFlag...), randomtest.Pick(tw.r, someMode...)
			a, err0 := d[0].Open(name, flag, mode)
			b, err1 := d[1].Open(name, flag, mode)
			if tw.errs(name, err0, err1) {
				tw.addFile(a, b)
			}
		},
		"write": func() {
			f, at, text := tw.file(), int64(tw.r.IntN(31)), []byte(randomtest.Pick(tw.r, someText...))
			n, err0 := f[0].WriteAt(text, at)
			m, err1 := f[1].WriteAt(text, at)
			tw.errs("write", err0, err1)
			same(tw, "write", n, m)
		},
		"read": func() {
			f, at, size := tw.file(), int64(tw.r.IntN(31)), tw.r.IntN(41)
			a, b := make([]byte, size), make([]byte, size)
			n, err0 := f[0].ReadAt(a, at)
			m, err1 := f[1].ReadAt(b, at)
			tw.errs("read", err0, err1)
			same(tw, "read", a[:n], b[:m])
		},
		"truncate": func() {
			size := int64(tw.r.IntN(41))
			change(func(f disk.File) error { return f.Truncate(size) })
		},
		"chmod": func() {
			mode := randomtest.Pick(tw.r, someMode...)
			change(func(f disk.File) error { return f.Chmod(mode) })
		},
		"chown": func() { change(func(f disk.File) error { return f.Chown(-1, os.Getgid()) }) },
		"lease": func() {
			change(func(f disk.File) error {
				release, err := f.Lease()
				if err == nil {
					release()
				}
				return err
			})
		},
		"close": func() {
			f := tw.file()
			tw.errs("close", f[0].Close(), f[1].Close())
			tw.files = slices.DeleteFunc(tw.files, func(x [2]disk.File) bool { return x == f })
		},
	}
}

func (tw *twins) compareAll() {
	for _, d := range tw.dirs {
		tw.compare(d)
	}
	for _, f := range tw.files {
		a, err0 := f[0].Info()
		b, err1 := f[1].Info()
		if tw.errs("file", err0, err1) {
			tw.infos("file", a, b)
		}
	}
}

// compare compares what is in a folder.
func (tw *twins) compare(d [2]disk.Dir) {
	a, err0 := d[0].Info()
	b, err1 := d[1].Info()
	if tw.errs("folder", err0, err1) {
		tw.infos("folder", a, b)
	}
	names, err0 := d[0].Names(-1)
	slices.Sort(names)
	others, err1 := d[1].Names(-1)
	tw.errs("names", err0, err1)
	same(tw, "names", names, others)
	for _, name := range names {
		a, err0 := d[0].Stat(name)
		b, err1 := d[1].Stat(name)
		if tw.errs(name, err0, err1) {
			tw.infos(name, a, b)
		}
		data0, _, _, err0 := disk.ReadFile(d[0], name)
		data1, _, _, err1 := disk.ReadFile(d[1], name)
		tw.errs(name, err0, err1)
		if !bytes.Equal(data0, data1) || (data0 == nil) != (data1 == nil) {
			tw.Fatalf("%s holds %q on the disk, %q on the double", name, data0, data1)
		}
		to0, err0 := d[0].Readlink(name)
		to1, err1 := d[1].Readlink(name)
		tw.errs(name, err0, err1)
		same(tw, name, to0, to1)
	}
}
