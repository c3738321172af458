package checkpoint

import (
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

var ErrLocked = errors.New("store is in use by another process")

// lockTimeout is the maximum time for which Open waits for another process that is about to exit.
const lockTimeout = time.Second

type Options struct {
	Logger    *slog.Logger
	OpenFile  func(name string, flag int, perm fs.FileMode) (*os.File, error) // nil means os.OpenFile
	Committed func()                                                          // if set, is called after each durable change of the file
	History   time.Duration                                                   // time for which the history is kept; 0 means forever
	FreeSpace func(dir string) (uint64, error)                                // if set, returns the free bytes of a folder's disk
	MergeAt   int                                                             // number of separate updates of a document that triggers a merge; 0 means mergeAt
}

type File struct {
	path string
	dir  disk.Dir // folder of the file
	o    Options

	// writing serializes changes and copies of the file. If a writer has to map more of the file, it waits for all
	// readers, and new readers wait for it.
	writing sync.Mutex
	mu      sync.RWMutex // guards the fields below, which Shrink replaces; locked after writing, if both are needed
	db      *bolt.DB
}

func Open(path string, dir disk.Dir, o Options) (*File, error) {
	f := &File{path: path, dir: dir, o: o}
	if err := dir.Remove(filepath.Base(path) + smallerSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var err error
	if f.db, err = openDB(&f.path, o); err != nil {
		return nil, err
	}
	if err := f.prepare(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openDB checks the pages of a bbolt file, and opens it for writing. path is a pointer because the file may be renamed,
// and bbolt opens it again by name for each copy.
func openDB(path *string, o Options) (*bolt.DB, error) {
	db, err := openReadOnly(path, o)
	if err == nil {
		err = db.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	db, _, err = openBolt(path, o, false)
	return db, err
}

// openReadOnly opens a bbolt file and checks its pages. If the file is empty, the error is fs.ErrNotExist.
func openReadOnly(path *string, o Options) (*bolt.DB, error) {
	db, file, err := openBolt(path, o, true) // bbolt has read only the header now, and has the lock
	if err != nil {
		return nil, err
	}
	if err := checkPages(file); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func openBolt(path *string, o Options, readOnly bool) (db *bolt.DB, file *os.File, err error) {
	open := o.OpenFile
	if open == nil {
		open = os.OpenFile
	}
	options := &bolt.Options{Timeout: lockTimeout, PageSize: pageSize, FreelistType: bolt.FreelistMapType, ReadOnly: readOnly}
	options.OpenFile = func(_ string, flag int, perm os.FileMode) (*os.File, error) {
		opened, err := open(*path, flag, perm)
		if err != nil || db != nil {
			return opened, err
		}
		file = opened
		if info, err := file.Stat(); err == nil && info.Size() == 0 && readOnly {
			return file, fs.ErrNotExist // for bbolt, which wants to write its header
		}
		return file, nil
	}
	db, err = bolt.Open(*path, 0o600, options)
	var system syscall.Errno
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		err = ErrLocked
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &system):
		err = Damaged(err)
	}
	return db, file, err
}

func (f *File) prepare() error {
	fresh := false
	err := f.View(func(v View) error {
		if first, _ := v.tx.Cursor().First(); first == nil {
			fresh = true
			return nil
		}
		return checkVersion(v.tx)
	})
	if err != nil || !fresh {
		return err
	}
	if err := f.update(layOut); err != nil {
		return err
	}
	return f.dir.Sync() // make the file's name survive a power cut
}

func (f *File) Close() error { return guard(f.db.Close) }

// update runs fn in a transaction, which is durable when update returns.
func (f *File) update(fn func(*bolt.Tx) error) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	err := guard(func() error { return f.db.Update(fn) })
	if err == nil && f.o.Committed != nil {
		f.o.Committed()
	}
	return err
}

// View calls fn with the current state of the file and returns its error. Views must not be nested.
func (f *File) View(fn func(View) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return guard(func() error { return f.db.View(func(tx *bolt.Tx) error { return fn(View{tx}) }) })
}

// Apply durably applies frames in the order of their LSNs. It applies all or none, and skips frames that the file
// already has.
func (f *File) Apply(entries []*wal.Entry) error {
	return f.update(func(tx *bolt.Tx) error { return f.applyAll(tx, entries) })
}

// ViewWith calls fn with the state that Apply would produce, without changing the file.
func (f *File) ViewWith(entries []*wal.Entry, fn func(View) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return guard(func() error {
		tx, err := f.db.Begin(true) // the transaction maps more of the file only if it is committed
		if err != nil {
			return err
		}
		defer tx.Rollback()
		separate := &File{o: Options{MergeAt: math.MaxInt}} // no query needs merged updates
		if err := separate.applyAll(tx, entries); err != nil {
			return err
		}
		return fn(View{tx})
	})
}

func (f *File) applyAll(tx *bolt.Tx, entries []*wal.Entry) error {
	// A FileMark frame may merge all updates of its document, so skip each FileMark that a later FileMark covers.
	var useful []*wal.Entry // newest frame first
	marked := make(map[model.DocID]uint64)
	for _, e := range slices.Backward(entries) {
		if e.Kind == wal.FileMark {
			if later, ok := marked[e.ID]; ok && later >= e.Seq {
				continue
			}
			marked[e.ID] = e.Seq
		}
		useful = append(useful, e)
	}
	last := View{tx}.Applied()
	for _, e := range slices.Backward(useful) {
		if e.LSN <= last {
			continue
		}
		if err := f.apply(tx, e); err != nil {
			return err
		}
	}
	if len(entries) > 0 {
		last = max(last, entries[len(entries)-1].LSN)
	}
	return bucket(tx, metaBucket).Put([]byte(appliedKey), seqKey(uint64(last)))
}
