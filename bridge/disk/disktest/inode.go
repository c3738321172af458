package disktest

import (
	"io/fs"
	"maps"
	"path"
	"syscall"

	"github.com/relayfs/relayfs/bridge/disk"
)

const (
	folderMode = fs.ModeDir
	linkMode   = fs.ModeSymlink
	umask      = 0o022
	maxName    = 255
)

// attributes are the metadata of a file except its names.
type attributes struct {
	mode     fs.FileMode
	uid, gid int
	modTime  int64
}

// inode is a file, a folder or a symlink. Disk.mu guards it.
type inode struct {
	vol     *volume
	number  uint64
	attr    attributes
	chgTime int64
	birth   int64
	data    []byte // content of a file; the slice is never modified
	target  string // target of a symlink
	names   map[string]*inode
	parent  *inode // folder of the newest name; nil for a removed folder
	links   int

	writers int // number of descriptors open for writing
	leases  int
	waiting []func() // saves of users that wait for the end of all leases

	// The fields of synced survive a power cut if the inode keeps a durable name.
	synced struct {
		attr  attributes
		data  []byte
		names map[string]*inode
	}
	edits []edit // changes since synced.data
	stale bool   // a sync has failed, so the edits stay uncertain
}

type edit struct {
	at   int64
	data []byte // nil for a truncation or extension to the length at
}

func (e edit) apply(data []byte) []byte {
	if e.data == nil {
		out := make([]byte, e.at)
		copy(out, data)
		return out
	}
	out := make([]byte, max(int64(len(data)), e.at+int64(len(e.data))))
	copy(out, data)
	copy(out[e.at:], e.data)
	return out
}

// newInode returns an inode without a name. The caller holds mu.
func (d *Disk) newInode(v *volume, mode fs.FileMode) *inode {
	d.inodes++
	now := d.now()
	n := &inode{vol: v, number: d.inodes, attr: attributes{mode: mode, modTime: now}, chgTime: now, birth: now}
	n.synced.attr = n.attr
	if n.isDir() {
		n.names, n.synced.names = map[string]*inode{}, map[string]*inode{}
	}
	return n
}

func (n *inode) isDir() bool  { return n.attr.mode.IsDir() }
func (n *inode) isLink() bool { return n.attr.mode.Type() == linkMode }

func (n *inode) info() disk.Info {
	size := int64(len(n.data))
	switch {
	case n.isLink():
		size = int64(len(n.target))
	case n.isDir():
		size = 4096
	}
	return disk.Info{
		Device: n.vol.device, Inode: n.number, Mode: n.attr.mode, Size: size,
		ModTime: n.attr.modTime, CTime: n.chgTime, Birth: n.birth, Links: n.links, UID: n.attr.uid, GID: n.attr.gid,
	}
}

// lookup finds a name in a folder. The caller holds mu.
func (n *inode) lookup(name string) (*inode, error) {
	switch {
	case !n.isDir():
		return nil, syscall.ENOTDIR
	case n.parent == nil: // n was removed
		return nil, syscall.ENOENT
	case len(name) > maxName:
		return nil, syscall.ENAMETOOLONG
	}
	if c := n.names[name]; c != nil {
		return c, nil
	}
	return nil, syscall.ENOENT
}

// path returns the path of name in the folder n for the log. If name is empty, it returns the path of the file n. The
// caller holds mu.
func (n *inode) path(name string) string {
	switch {
	case n.parent == n:
		return path.Join(n.vol.Path, name)
	case n.parent != nil:
		for at, c := range n.parent.names {
			if c == n {
				return path.Join(n.parent.path(at), name)
			}
		}
	}
	return path.Join("(removed)", name)
}

// isBelow reports whether n is the given inode or below it. The caller holds mu.
func (n *inode) isBelow(up *inode) bool {
	for ; n != nil; n = n.parent {
		if n == up {
			return true
		}
		if n.parent == n {
			return false
		}
	}
	return false
}

func (d *Disk) edit(n *inode, e edit) {
	n.data = e.apply(n.data)
	n.edits = append(n.edits, e)
	n.attr.modTime = d.now()
	n.chgTime = n.attr.modTime
}

// describe records a change of n's attributes. The caller holds mu.
func (d *Disk) describe(n *inode) {
	n.chgTime = d.now()
	if n.vol.OrdersNames {
		n.vol.journal = append(n.vol.journal, change{of: n, attr: n.attr})
	}
}

type link struct {
	dir     *inode
	name    string
	was, is *inode
}

// change is the effect of one call on names, or on the attributes of a file. A power cut keeps all of it or nothing.
type change struct {
	links []link
	of    *inode // set if there are no links
	attr  attributes
}

func (d *Disk) rename(links ...link) {
	now := d.now()
	v := links[0].dir.vol
	for _, l := range links {
		if l.was != nil {
			l.was.leave(l.dir)
			delete(l.dir.names, l.name)
		}
		l.dir.attr.modTime, l.dir.chgTime = now, now
	}
	for _, l := range links {
		if l.is != nil {
			l.is.enter(l.dir)
			l.dir.names[l.name] = l.is
		}
		for _, n := range []*inode{l.was, l.is} {
			if n != nil {
				n.chgTime = now
			}
		}
	}
	v.journal = append(v.journal, change{links: links})
}

func (n *inode) leave(dir *inode) {
	n.links--
	if n.isDir() {
		n.parent = nil
		n.links, dir.links = 0, dir.links-1
	}
}

func (n *inode) enter(dir *inode) {
	n.links++
	n.parent = dir
	if n.isDir() {
		n.links, dir.links = 2+n.folders(), dir.links+1
	}
}

func (n *inode) folders() (count int) {
	for _, c := range n.names {
		if c.isDir() {
			count++
		}
	}
	return count
}

// clone copies n and all inodes reachable from it. The caller holds mu.
func (n *inode) clone(to *volume, done map[*inode]*inode) *inode {
	if n == nil {
		return nil
	}
	if c := done[n]; c != nil {
		return c
	}
	c := new(inode)
	*c = *n
	done[n] = c
	c.vol, c.writers, c.leases, c.waiting = to, 0, 0, nil
	c.parent = n.parent.clone(to, done)
	c.names, c.synced.names = maps.Clone(n.names), maps.Clone(n.synced.names)
	for _, names := range []map[string]*inode{c.names, c.synced.names} {
		for name, child := range names {
			names[name] = child.clone(to, done)
		}
	}
	return c
}
