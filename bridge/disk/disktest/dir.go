package disktest

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
)

type dir struct {
	d      *Disk
	n      *inode
	user   user
	closed bool
}

func (f *dir) name(name string) (n *inode, unlock func(), err error) {
	f.d.mu.Lock()
	if f.closed {
		return nil, f.d.mu.Unlock, os.ErrClosed
	}
	n, err = f.n.lookup(name)
	return n, f.d.mu.Unlock, err
}

func (f *dir) Close() error {
	_, unlock, err := f.name("")
	defer unlock()
	if errors.Is(err, os.ErrClosed) {
		return err
	}
	f.closed = true
	return nil
}

func (f *dir) Info() (disk.Info, error) {
	_, unlock, err := f.name("")
	defer unlock()
	if errors.Is(err, os.ErrClosed) {
		return disk.Info{}, err
	}
	return f.n.info(), nil
}

func (f *dir) Names(n int) ([]string, error) {
	_, unlock, err := f.name("")
	defer unlock()
	if errors.Is(err, os.ErrClosed) {
		return nil, err
	}
	if f.n.parent == nil { // f was removed
		return nil, syscall.ENOENT
	}
	names := slices.Sorted(maps.Keys(f.n.names))
	if n >= 0 {
		names = names[:min(n, len(names))]
	}
	return names, nil
}

func (f *dir) Stat(name string) (disk.Info, error) {
	n, unlock, err := f.name(name)
	defer unlock()
	if err != nil {
		return disk.Info{}, err
	}
	return n.info(), nil
}

func (f *dir) OpenDir(name string) (disk.Dir, error) {
	n, unlock, err := f.name(name)
	defer unlock()
	if err == nil && !n.isDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, err
	}
	return &dir{d: f.d, n: n, user: f.user}, nil
}

func (f *dir) Readlink(name string) (string, error) {
	n, unlock, err := f.name(name)
	defer unlock()
	switch {
	case err != nil:
		return "", err
	case !n.isLink():
		return "", syscall.EINVAL
	}
	return n.target, nil
}

func (f *dir) Open(name string, flag int, perm fs.FileMode) (disk.File, error) {
	n, unlock, err := f.name(name)
	unlock()
	switch {
	case errors.Is(err, syscall.ENOENT) && flag&os.O_CREATE != 0:
		if err := f.d.call(f.user, "create", f.n, name); err != nil {
			return nil, err
		}
	case err == nil && flag&os.O_TRUNC != 0 && n.mayOpen(flag) == nil:
		if err := f.d.call(f.user, "empty", n, ""); err != nil {
			return nil, err
		}
	}
	n, unlock, err = f.name(name) // a user may have changed the name in the meantime
	defer unlock()
	switch {
	case errors.Is(err, syscall.ENOENT) && flag&os.O_CREATE != 0:
		if f.n.parent == nil {
			return nil, syscall.ENOENT
		}
		n = f.d.newInode(f.n.vol, perm.Perm()&^umask)
		f.d.rename(link{f.n, name, nil, n})
	case err != nil:
		return nil, err
	default:
		if err := n.mayOpen(flag); err != nil {
			return nil, err
		}
		if flag&os.O_TRUNC != 0 {
			f.d.edit(n, edit{})
		}
	}
	return f.d.open(n, f.user, flag), nil
}

// mayOpen returns the error of opening an existing file. The caller holds mu.
func (n *inode) mayOpen(flag int) error {
	writes := flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC) != 0
	switch {
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return syscall.EEXIST
	case n.isLink():
		return syscall.ELOOP
	case n.isDir() && (writes || flag&os.O_CREATE != 0):
		return syscall.EISDIR
	case writes && n.leases > 0:
		return syscall.EAGAIN
	}
	return nil
}

func (f *dir) Symlink(target, name string) error {
	if target == "" {
		return syscall.ENOENT
	}
	return f.add("symlink", name, func() *inode {
		n := f.d.newInode(f.n.vol, linkMode|0o777)
		n.target = target
		return n
	})
}

func (f *dir) Mkdir(name string) error { return f.mkdir(name, 0o777) }

func (f *dir) mkdir(name string, perm fs.FileMode) error {
	return f.add("mkdir", name, func() *inode { return f.d.newInode(f.n.vol, folderMode|perm&^umask) })
}

func (f *dir) add(op, name string, fresh func() *inode) error {
	if err := f.d.call(f.user, op, f.n, name); err != nil {
		return err
	}
	_, unlock, err := f.name(name)
	defer unlock()
	switch {
	case err == nil:
		return syscall.EEXIST
	case !errors.Is(err, syscall.ENOENT) || f.n.parent == nil:
		return err
	}
	f.d.rename(link{f.n, name, nil, fresh()})
	return nil
}

func (f *dir) Rmdir(name string) error {
	return f.remove("rmdir", name, func(n *inode) error {
		switch {
		case !n.isDir():
			return syscall.ENOTDIR
		case len(n.names) > 0:
			return syscall.ENOTEMPTY
		}
		return nil
	})
}

func (f *dir) Remove(name string) error {
	return f.remove("remove", name, func(n *inode) error {
		if n.isDir() {
			return syscall.EISDIR
		}
		return nil
	})
}

func (f *dir) remove(op, name string, may func(*inode) error) error {
	if err := f.d.call(f.user, op, f.n, name); err != nil {
		return err
	}
	n, unlock, err := f.name(name)
	defer unlock()
	if err == nil {
		err = may(n)
	}
	if err == nil {
		f.d.rename(link{f.n, name, n, nil})
	}
	return err
}

// both logs a call with two names and looks them up, with the checks common to all such calls.
func (f *dir) both(op, name string, to disk.Dir, newName string) (t *dir, n, there *inode, unlock func(), err error) {
	t = to.(*dir)
	f.d.mu.Lock()
	at := t.n.path(newName)
	f.d.mu.Unlock()
	if err := f.d.call(f.user, op, f.n, name, at); err != nil {
		return nil, nil, nil, func() {}, err
	}
	f.d.mu.Lock()
	unlock = f.d.mu.Unlock
	switch {
	case f.closed || t.closed:
		return nil, nil, nil, unlock, os.ErrClosed
	case f.n.vol != t.n.vol:
		return nil, nil, nil, unlock, syscall.EXDEV
	}
	if n, err = f.n.lookup(name); err != nil {
		return nil, nil, nil, unlock, err
	}
	there, err = t.n.lookup(newName)
	if errors.Is(err, syscall.ENOENT) {
		err = nil
	}
	return t, n, there, unlock, err
}

func (f *dir) Rename(name string, to disk.Dir, newName string) error {
	t, n, there, unlock, err := f.both("rename", name, to, newName)
	defer unlock()
	if err == nil {
		err = f.mayMove(n, t, there)
	}
	if err != nil || n == there {
		return err
	}
	switch {
	case there == nil:
	case n.isDir() && !there.isDir():
		return syscall.ENOTDIR
	case !n.isDir() && there.isDir():
		return syscall.EISDIR
	case len(there.names) > 0:
		return syscall.ENOTEMPTY
	}
	f.d.rename(link{f.n, name, n, nil}, link{t.n, newName, there, n})
	return nil
}

// mayMove returns the error of moving n from f to the folder t. The caller holds mu.
func (f *dir) mayMove(n *inode, t *dir, there *inode) error {
	switch {
	case t.n.isBelow(n):
		return syscall.EINVAL
	case f.n != t.n && there != nil && f.n.isBelow(there):
		return syscall.ENOTEMPTY
	case there == nil && t.n.parent == nil:
		return syscall.ENOENT
	}
	return nil
}

func (f *dir) RenameNew(name string, to disk.Dir, newName string) error {
	if f.n.vol.NoExchange {
		return errors.ErrUnsupported
	}
	t, n, there, unlock, err := f.both("rename new", name, to, newName)
	defer unlock()
	switch {
	case err != nil:
		return err
	case there != nil:
		return syscall.EEXIST
	}
	if err := f.mayMove(n, t, nil); err != nil {
		return unsupported(err)
	}
	f.d.rename(link{f.n, name, n, nil}, link{t.n, newName, nil, n})
	return nil
}

// unsupported converts EINVAL as package disk does for renameat2.
func unsupported(err error) error {
	if errors.Is(err, syscall.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

func (f *dir) Exchange(name string, other disk.Dir, otherName string) error {
	if f.n.vol.NoExchange {
		return errors.ErrUnsupported
	}
	t, n, there, unlock, err := f.both("exchange", name, other, otherName)
	defer unlock()
	switch {
	case err != nil:
		return err
	case there == nil:
		return syscall.ENOENT
	case t.n.isBelow(n), f.n.isBelow(there):
		return errors.ErrUnsupported
	case n == there:
		return nil
	}
	f.d.rename(link{f.n, name, n, there}, link{t.n, otherName, there, n})
	return nil
}

func (f *dir) Link(name string, to disk.Dir, newName string) error {
	if f.n.vol.NoLinks {
		return syscall.EPERM
	}
	t, n, there, unlock, err := f.both("link", name, to, newName)
	defer unlock()
	switch {
	case err != nil:
		return err
	case there != nil:
		return syscall.EEXIST
	case t.n.parent == nil:
		return syscall.ENOENT
	case n.isDir():
		return syscall.EPERM
	}
	f.d.rename(link{t.n, newName, nil, n})
	return nil
}

func (f *dir) SetTimes(name string, t time.Time) error {
	if err := f.d.call(f.user, "set times", f.n, name, t.UTC().Format("15:04:05.000000000")); err != nil {
		return err
	}
	n, unlock, err := f.name(name)
	defer unlock()
	if err != nil {
		return err
	}
	n.attr.modTime = t.UnixNano()
	f.d.describe(n)
	return nil
}

func (f *dir) Sync() error {
	if err := f.d.call(f.user, "sync", f.n, ""); err != nil {
		return err
	}
	_, unlock, err := f.name("")
	defer unlock()
	if errors.Is(err, os.ErrClosed) {
		return err
	}
	f.n.sync()
	return nil
}

func (f *dir) OrdersNames() bool { return f.n.vol.OrdersNames }
