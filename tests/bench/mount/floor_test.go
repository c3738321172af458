//go:build linux

package mount

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/disk"
)

// The floor is a mount that does only the necessary work. It answers reads from memory and lets the kernel cache
// everything, as relayfs does. It saves with the system calls of a durable save (docs/durability.md): a record in
// a log, a new file that exchanges its name with the old one, and syncs in the background. It has no documents, no
// suggestions, no programs and no watchers.

type floorDir struct {
	fs.Inode
	saver *saver
	path  string
}

// OnAdd reads the whole folder into memory.
func (d *floorDir) OnAdd(ctx context.Context) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		path := filepath.Join(d.path, e.Name())
		if e.IsDir() {
			d.AddChild(e.Name(), d.NewPersistentInode(ctx, &floorDir{saver: d.saver, path: path}, fs.StableAttr{Mode: syscall.S_IFDIR}), true)
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		f := &floorFile{saver: d.saver, path: path, data: data, modTime: time.Now()}
		d.AddChild(e.Name(), d.NewPersistentInode(ctx, f, fs.StableAttr{Mode: syscall.S_IFREG}), true)
	}
}

type floorListing struct{ fs.DirStream }

func (l floorListing) Readdirent(context.Context) (*fuse.DirEntry, syscall.Errno) {
	if !l.HasNext() {
		return nil, 0
	}
	e, errno := l.Next()
	return &e, errno
}

func (d *floorDir) OpendirHandle(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	var list []fuse.DirEntry
	for name, child := range d.Children() {
		list = append(list, fuse.DirEntry{Name: name, Mode: child.Mode(), Ino: child.StableAttr().Ino})
	}
	return floorListing{fs.NewListDirStream(list)}, fuse.FOPEN_CACHE_DIR | fuse.FOPEN_KEEP_CACHE, 0
}

func (d *floorDir) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	f := &floorFile{saver: d.saver, modTime: time.Now()}
	f.fill(&out.Attr)
	return d.NewPersistentInode(ctx, f, fs.StableAttr{Mode: syscall.S_IFREG}), nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (d *floorDir) Rename(_ context.Context, name string, parent fs.InodeEmbedder, newName string, _ uint32) syscall.Errno {
	f := d.GetChild(name).Operations().(*floorFile)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.path = filepath.Join(parent.(*floorDir).path, newName)
	return f.save()
}

type floorFile struct {
	fs.Inode
	saver *saver

	mu            sync.Mutex // guards the fields below
	path          string     // "" before the file has the name of a note
	data          []byte
	modTime       time.Time
	dirty, synced bool
}

func (f *floorFile) fill(out *fuse.Attr) {
	out.Mode, out.Size = syscall.S_IFREG|0o644, uint64(len(f.data))
	out.SetTimes(&f.modTime, &f.modTime, &f.modTime)
}

func (f *floorFile) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fill(&out.Attr)
	return 0
}

func (f *floorFile) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	if size, ok := in.GetSize(); ok {
		f.data = append(f.data[:min(len(f.data), int(size))], make([]byte, max(0, int(size)-len(f.data)))...)
	}
	f.fill(&out.Attr)
	return 0
}

func (f *floorFile) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_ACCMODE == syscall.O_RDONLY {
		return nil, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH, 0
	}
	if flags&syscall.O_TRUNC != 0 {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.data = nil
	}
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (f *floorFile) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	if off < int64(len(f.data)) {
		n = copy(dest, f.data[off:])
	}
	return fuse.ReadResultData(dest[:n]), 0
}

func (f *floorFile) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if end := int(off) + len(data); end > len(f.data) {
		f.data = append(f.data, make([]byte, end-len(f.data))...)
	}
	copy(f.data[off:], data)
	f.dirty, f.synced, f.modTime = true, false, time.Now()
	return uint32(len(data)), 0
}

func (f *floorFile) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced = true // the rename syncs
	return 0
}

func (f *floorFile) Flush(context.Context, fs.FileHandle) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path == "" {
		return 0
	}
	return f.save()
}

// save is called with f.mu held.
func (f *floorFile) save() syscall.Errno {
	if !f.dirty {
		return 0
	}
	f.dirty = false
	return fs.ToErrno(f.saver.save(filepath.Base(f.path), f.data, f.synced))
}

// saver replaces the files of one folder as relayfs does, with the fewest system calls.
type saver struct {
	dir, state int  // file descriptors of the folder, and of the folder with temporary files
	ordered    bool // the disk makes renames durable in order
	log        *os.File
	names      atomic.Int64

	mu      sync.Mutex // guards the fields below
	waiting []string   // pairs of a replaced file's temporary name and the name of its new file, which is not synced yet
	logged  int64
}

const (
	logRecord   = 300 // bytes; the record of a small change
	settlePause = 50 * time.Millisecond
)

func newSaver(dir string) (s *saver, err error) {
	s = new(saver)
	state := dir + ".floor"
	if err = errors.Join(os.RemoveAll(state), os.Mkdir(state, 0o700)); err != nil { // left by the last mount
		return nil, err
	}
	root, err := (disk.OS{}).OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s.ordered = root.OrdersNames()
	root.Close()
	if s.dir, err = unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, err
	}
	if s.state, err = unix.Open(state, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, err
	}
	s.log, err = os.Create(filepath.Join(state, "log"))
	return s, err
}

func (s *saver) save(name string, data []byte, sync bool) error {
	temp := strconv.FormatInt(s.names.Add(1), 10)
	fd, err := unix.Openat(s.state, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if _, err := unix.Pwrite(fd, data, 0); err != nil {
		return err
	}
	s.mu.Lock()
	_, err = s.log.WriteAt(make([]byte, logRecord), s.logged)
	s.logged += logRecord
	s.mu.Unlock()
	if err == nil && (sync || !s.ordered) {
		err = unix.Fsync(fd)
	}
	if err == nil && !s.ordered {
		err = unix.Fsync(s.state)
	}
	if err == nil {
		err = unix.Renameat2(s.state, temp, s.dir, name, unix.RENAME_EXCHANGE)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting = append(s.waiting, temp, name); len(s.waiting) == 2 {
		time.AfterFunc(settlePause, s.settle)
	}
	return nil
}

// settle syncs new files, their folder and the log, and removes the old files.
func (s *saver) settle() {
	s.mu.Lock()
	round := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	for pair := range slices.Chunk(round, 2) {
		if fd, err := unix.Openat(s.dir, pair[1], unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			_ = unix.Fsync(fd) // an error shows nothing about speed
			unix.Close(fd)
		}
	}
	_ = unix.Fsync(s.dir)
	_ = s.log.Sync()
	for pair := range slices.Chunk(round, 2) {
		_ = unix.Unlinkat(s.state, pair[0], 0)
	}
}
