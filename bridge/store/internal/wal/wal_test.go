package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// memory is a disk.Dir in memory that knows what was synced, and that can stop working.
type memory struct {
	disk.Dir
	names  map[string]*inode // as programs see them
	synced map[string]*inode // as a power cut leaves them, at least
	calls  int
	stopAt int // the call that is the first not to be made; 0 for none
	failAt int // the first call that fails; 0 for none
	fails  int // how many more do after it
}

type inode struct {
	data  []byte
	saved []byte       // what was synced
	dirty map[int]bool // the blocks that the next sync writes
}

// block is the size of a disk's blocks, made small.
const block = 64

var (
	errStopped = errors.New("the machine has stopped")
	errFailed  = errors.New("input/output error")
)

func newDisk() *memory { return &memory{names: map[string]*inode{}, synced: map[string]*inode{}} }

func (d *memory) call() error {
	d.calls++
	if d.stopAt > 0 && d.calls >= d.stopAt {
		return errStopped
	}
	if d.failAt > 0 && d.calls >= d.failAt && d.calls <= d.failAt+d.fails {
		return errFailed
	}
	return nil
}

func (d *memory) Open(name string, flag int, _ fs.FileMode) (disk.File, error) {
	if d.names[name] == nil && flag&os.O_CREATE == 0 {
		return nil, fs.ErrNotExist
	}
	if d.names[name] == nil {
		if err := d.call(); err != nil {
			return nil, err
		}
		d.names[name] = new(inode)
	}
	return &file{d: d, n: d.names[name]}, nil
}

func (d *memory) Names(int) ([]string, error) { return slices.Sorted(maps.Keys(d.names)), nil }

func (d *memory) Rename(oldName string, _ disk.Dir, newName string) error {
	if err := d.call(); err != nil {
		return err
	}
	if d.names[oldName] == nil {
		return fs.ErrNotExist
	}
	d.names[newName] = d.names[oldName]
	delete(d.names, oldName)
	return nil
}

func (d *memory) Remove(name string) error {
	if err := d.call(); err != nil {
		return err
	}
	delete(d.names, name)
	return nil
}

func (d *memory) Sync() error {
	if err := d.call(); err != nil {
		return err
	}
	d.synced = maps.Clone(d.names)
	return nil
}

type file struct {
	disk.File
	d *memory
	n *inode
}

func (f *file) ReadAt(b []byte, off int64) (int, error) {
	if off >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.n.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(b []byte, off int64) (int, error) {
	err := f.d.call()
	switch {
	case err != nil && f.d.calls == f.d.stopAt:
		b = b[:len(b)/2] // the kernel ends a long write of a process that is killed between two pages
	case err != nil:
		return 0, err
	}
	if more := int(off) + len(b) - len(f.n.data); more > 0 {
		f.n.data = append(f.n.data, make([]byte, more)...)
	}
	if f.n.dirty == nil {
		f.n.dirty = make(map[int]bool)
	}
	for at := int(off) / block; at*block < int(off)+len(b); at++ {
		f.n.dirty[at] = true
	}
	return copy(f.n.data[off:], b), err
}

// Datasync does as the kernel does: after one that fails, the next does not write what that one should have.
func (f *file) Datasync() error {
	err := f.d.call()
	if errors.Is(err, errStopped) {
		return err
	}
	dirty := f.n.dirty
	f.n.dirty = nil
	if err != nil {
		return err
	}
	f.n.saved = append(f.n.saved, make([]byte, len(f.n.data)-len(f.n.saved))...)
	for at := range dirty {
		end := min((at+1)*block, len(f.n.data))
		copy(f.n.saved[at*block:end], f.n.data[at*block:end])
	}
	return nil
}

func (f *file) Info() (disk.Info, error) { return disk.Info{Size: int64(len(f.n.data)), Links: 1}, nil }
func (f *file) Close() error             { return nil }

// afterPowerCut is a disk as a power cut leaves it: of each change of a name or of bytes
// that was not synced rng says whether it is there.
func (d *memory) afterPowerCut(rng *rand.Rand) *memory {
	cut := newDisk()
	survived := func(n *inode) *inode {
		data := bytes.Clone(n.saved)
		for at := 0; at < len(n.data); at += block {
			to := min(at+block, len(n.data))
			if rng.IntN(3) == 0 {
				continue
			}
			if len(data) < to {
				data = append(data, make([]byte, to-len(data))...)
			}
			copy(data[at:to], n.data[at:to])
		}
		return &inode{data: data, saved: bytes.Clone(data)}
	}
	done := make(map[*inode]*inode)
	add := func(name string, n *inode) {
		if done[n] == nil {
			done[n] = survived(n)
		}
		cut.names[name] = done[n]
	}
	for name, n := range d.synced {
		if d.names[name] == n || rng.IntN(2) == 0 {
			add(name, n)
		}
	}
	for name, n := range d.names {
		if d.synced[name] != n && rng.IntN(2) == 0 {
			add(name, n)
		}
	}
	cut.synced = maps.Clone(cut.names)
	return cut
}

func body(i int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d,", i), 1+i%40)
}

// session appends to a log until it is told to stop or an error comes, and says what was appended, synced and released.
func session(d *memory, rng *rand.Rand, from, n int, applied LSN) (appended, synced, released LSN, err error) {
	released = applied
	l, err := Open(d, Options{SegmentSize: 1 << 10}, applied, func(lsn LSN, b []byte) error {
		appended = lsn
		if !bytes.Equal(b, body(int(lsn))) {
			return fmt.Errorf("frame %d has %.40q", lsn, b)
		}
		return nil
	})
	if err != nil {
		return 0, 0, released, err
	}
	synced = max(appended, applied)
	appended = synced
	for i := range n {
		lsn, err := l.Append(body(int(appended) + 1))
		if err != nil {
			return appended, synced, released, err
		}
		if lsn != appended+1 {
			return appended, synced, released, fmt.Errorf("append %d has LSN %d, want %d", i, lsn, appended+1)
		}
		appended = lsn
		if rng.IntN(4) == 0 {
			if err := l.Sync(lsn); err != nil {
				return appended, synced, released, err
			}
			synced = lsn
		}
		if rng.IntN(9) == 0 && synced > released {
			released = synced
			if err := l.Release(released); err != nil {
				return appended, synced, released, err
			}
		}
	}
	return appended, synced, released, l.Close()
}

// After a kill at any call everything appended is there, and after a power cut everything
// synced, in order and without a gap, for as many sessions as one likes.
func TestEveryCrash(t *testing.T) {
	states := 0
	randomtest.Check(t, 16, func(t testing.TB, r *rand.Rand) {
		seed := r.Uint64()
		for stop := 1; ; stop++ {
			rng := rand.New(rand.NewPCG(seed, 1))
			d := newDisk()
			d.stopAt = stop
			appended, synced, released, err := session(d, rng, 1, 30, 0)
			if err == nil {
				break // it ran to its end
			}
			if !errors.Is(err, errStopped) {
				t.Fatalf("stop %d: %v", stop, err)
			}
			for try := range uint64(6) {
				states++
				chance := rand.New(rand.NewPCG(seed, try))
				again := d.afterPowerCut(chance)
				want := synced
				if try == 0 { // killed
					again, want = &memory{names: cloneInodes(d.names), synced: map[string]*inode{}}, appended
				}
				got, at, rel, err := session(again, chance, 0, 20, released)
				if err != nil || got < want {
					t.Fatalf("stop %d, try %d: the log goes to %d, want at least %d (appended %d, released %d): %v", stop, try, got-20, want, appended, released, err)
				}
				third := again.afterPowerCut(chance)
				if got, _, _, err := session(third, chance, 0, 1, rel); err != nil || got < at {
					t.Fatalf("stop %d, try %d, again: the log goes to %d, want at least %d: %v", stop, try, got-1, at, err)
				}
			}
		}
	})
	t.Logf("%d states", states)
}

func cloneInodes(names map[string]*inode) map[string]*inode {
	out := make(map[string]*inode)
	for name, n := range names {
		out[name] = &inode{bytes.Clone(n.data), bytes.Clone(n.saved), maps.Clone(n.dirty)}
	}
	return out
}

// An error of the disk loses nothing that was appended before: the log goes on, or says that it does not.
func TestEveryError(t *testing.T) {
	randomtest.Check(t, 8, func(t testing.TB, r *rand.Rand) {
		seed := r.Uint64()
		for fail := 1; ; fail++ {
			rng := rand.New(rand.NewPCG(seed, 2))
			d := newDisk()
			d.failAt = fail
			appended, synced, released, err := session(d, rng, 1, 30, 0)
			if err == nil && d.calls < fail {
				break
			}
			if err != nil && !errors.Is(err, errFailed) {
				t.Fatalf("fail %d: %v", fail, err)
			}
			for try := range uint64(3) {
				chance := rand.New(rand.NewPCG(seed, try))
				again := d.afterPowerCut(chance)
				if got, _, _, err := session(again, chance, 0, 1, released); err != nil || got < synced {
					t.Fatalf("fail %d: the log goes to %d, want at least %d of %d: %v", fail, got-1, synced, appended, err)
				}
			}
		}
	})
}

// A sync that fails is made good by a new segment, not by a second sync.
func TestFailedSync(t *testing.T) {
	d := newDisk()
	l, err := Open(d, Options{}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 3; i++ {
		if _, err := l.Append(body(i)); err != nil {
			t.Fatal(err)
		}
	}
	d.failAt = d.calls + 1
	if err := l.Sync(3); err != nil {
		t.Fatalf("sync: %v", err)
	}
	if d.synced[nameOf(2)] == nil {
		t.Errorf("segments %v, want a second one", slices.Sorted(maps.Keys(d.names)))
	}
	d.failAt = 0
	var got []LSN
	if _, err := Open(d.afterPowerCut(rand.New(rand.NewPCG(1, 1))), Options{}, 0, func(lsn LSN, b []byte) error {
		got = append(got, lsn)
		return nil
	}); err != nil || !slices.Equal(got, []LSN{1, 2, 3}) {
		t.Errorf("after a power cut: frames %v, %v", got, err)
	}
}

// A disk that fails for a while costs nothing that was appended, and the log goes on by itself.
func TestPassingFailure(t *testing.T) {
	randomtest.Check(t, 2, func(t testing.TB, r *rand.Rand) {
		seed := r.Uint64()
		for _, fails := range []int{1, 2, 3, 5, 9, 20} {
			for from := 1; passingFailure(t, seed, from, fails); from++ {
			}
		}
	})
}

// passingFailure has calls fail beginning with the one with number from, and returns false if there were none.
func passingFailure(t testing.TB, seed uint64, from, fails int) bool {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, uint64(from)))
	d := newDisk()
	var l *Log
	var err error
	if l, err = Open(d, Options{SegmentSize: 1 << 10}, 0, nil); err != nil {
		t.Fatal(err)
	}
	d.failAt, d.fails = from, fails
	var frames [][]byte // frames[i] has LSN i+1
	var synced, released LSN
	for i := range 60 {
		b := fmt.Appendf(nil, "%d, try %d %s", len(frames)+1, i, body(i)) // another one after an error
		if _, err := l.Append(b); err == nil {
			frames = append(frames, b)
		}
		last := LSN(len(frames))
		if rng.IntN(4) == 0 && l.Sync(last) == nil {
			synced = last
		}
		if rng.IntN(9) == 0 {
			released = synced
			_ = l.Release(released)
		}
	}
	failed := d.calls >= from
	d.failAt = 0
	b := []byte("when it is over")
	frames = append(frames, b)
	last, err := l.Append(b)
	if err == nil {
		err = l.Sync(last)
	}
	if err != nil || last != LSN(len(frames)) {
		t.Fatalf("seed %d, %d calls from %d on fail; then append %d: %d, %v", seed, fails, from, len(frames), last, err)
	}
	killed := &memory{names: cloneInodes(d.names), synced: map[string]*inode{}}
	for _, again := range []*memory{killed, d.afterPowerCut(rng), d.afterPowerCut(rng)} {
		next := released
		_, err := Open(again, Options{}, released, func(lsn LSN, b []byte) error {
			if next++; lsn != next || !bytes.Equal(b, frames[lsn-1]) {
				return fmt.Errorf("frame %d is %.30q, want %d, %.30q", lsn, b, next, frames[next-1])
			}
			return nil
		})
		if err != nil || next != last {
			t.Fatalf("seed %d, %d calls from %d on fail: the log goes to %d, want %d: %v", seed, fails, from, next, last, err)
		}
	}
	return failed
}

// Damage ends the log; it is never taken for a frame.
func TestDamage(t *testing.T) {
	d := newDisk()
	if _, _, _, err := session(d, rand.New(rand.NewPCG(3, 3)), 1, 60, 0); err != nil {
		t.Fatal(err)
	}
	randomtest.Check(t, 2000, func(t testing.TB, rng *rand.Rand) {
		hurt := &memory{names: cloneInodes(d.names), synced: map[string]*inode{}}
		for _, name := range slices.Sorted(maps.Keys(hurt.names)) {
			n := hurt.names[name]
			for range rng.IntN(3) {
				n.data[rng.IntN(len(n.data))] ^= byte(1 + rng.IntN(255))
			}
			n.data = n.data[:len(n.data)-rng.IntN(2)*rng.IntN(len(n.data))]
			n.saved = bytes.Clone(n.data)
		}
		if _, err := Open(hurt, Options{SegmentSize: 1 << 10}, 0, func(lsn LSN, b []byte) error {
			if !bytes.Equal(b, body(int(lsn))) {
				return fmt.Errorf("frame %d has %.40q", lsn, b)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// What cannot be read any more is said, and nothing of it is removed.
func TestDamageIsSaid(t *testing.T) {
	d := newDisk()
	l, err := Open(d, Options{SegmentSize: 1 << 10}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if _, err := l.Append(body(i + 1)); err != nil {
			t.Fatal(err)
		}
	}
	files := len(d.names)
	for _, tt := range []struct {
		what  string
		spoil func(*memory)
		want  []string // of which files it is said
	}{
		{"nothing", func(*memory) {}, nil},
		{"a frame of the first segment", func(d *memory) { d.names[nameOf(1)].data[headerSize+frameHeader] ^= 1 }, []string{nameOf(1)}},
		{"the header of the second", func(d *memory) { d.names[nameOf(2)].data[3] ^= 1 }, []string{nameOf(2) + lostSuffix}},
	} {
		hurt := &memory{names: cloneInodes(d.names), synced: map[string]*inode{}}
		tt.spoil(hurt)
		var said []string
		again, err := Open(hurt, Options{Cut: func(name string) { said = append(said, name) }}, 0, func(LSN, []byte) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if len(hurt.names) != files {
			t.Errorf("%s: %d files are left of %d", tt.what, len(hurt.names), files)
		}
		for _, name := range tt.want {
			if !slices.Contains(said, name) {
				t.Errorf("%s: it is said of %v, want %s", tt.what, said, name)
			}
		}
		if tt.want == nil && said != nil {
			t.Errorf("%s: it is said of %v", tt.what, said)
		}
		if lsn, err := again.Append([]byte("more")); err != nil || lsn != again.LastLSN() {
			t.Errorf("%s: append: %d, %v", tt.what, lsn, err)
		}
	}
}

// What was released is removed: the folder does not grow.
func TestSpaceIsGivenBack(t *testing.T) {
	dir, err := disk.OS{}.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(dir, Options{SegmentSize: 64 << 10}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 2000 {
		lsn, err := l.Append(make([]byte, 1000))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Sync(lsn), l.Release(lsn)); err != nil {
			t.Fatal(err)
		}
	}
	names, err := dir.Names(-1)
	if err != nil || len(names) > 2 {
		t.Errorf("%d segments after 2 MB in steps that were released, want at most %d: %v", len(names), 2, err)
	}
	if _, err := l.Append(make([]byte, 1<<20)); err != nil {
		t.Errorf("a frame longer than a segment: %v", err)
	}
	if _, err := l.Append(nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an empty frame: %v, want %v", err, ErrTooLarge)
	}
}

func BenchmarkAppend(b *testing.B) {
	dir, err := disk.OS{}.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	l, err := Open(dir, Options{}, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("sync=%t", sync), func(b *testing.B) {
			for b.Loop() {
				lsn, err := l.Append(make([]byte, 4000))
				if err == nil && sync {
					err = l.Sync(lsn)
				}
				if err == nil {
					err = l.Release(lsn)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
