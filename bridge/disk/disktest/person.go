package disktest

import (
	"errors"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/relayfs/relayfs/bridge/disk"
)

// Person changes the disk as a user's programs do. Its calls do not trigger Before, so that Before can use it.
type Person struct{ d *Disk }

func (d *Disk) Person() Person { return Person{d} }

// Open opens a folder, for operations that Person lacks.
func (p Person) Open(at string) (disk.Dir, error) { return p.d.openRoot(person, at) }

// Save writes text to a file in place, like a program that opens it with O_TRUNC. It syncs the file and, if the file is
// new, its folder. If the file is leased, Save returns at once, and the text is written when the lease ends. It is
// written to the inode that had the name when Save was called, even if that inode has lost the name since.
func (p Person) Save(at, text string) error {
	err := p.Edit(at, func(string) string { return text })
	if errors.Is(err, syscall.EAGAIN) {
		return p.wait(at, text)
	}
	return err
}

func (p Person) wait(at, text string) error {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	n, err := p.d.find(at)
	if err != nil {
		return err
	}
	n.waiting = append(n.waiting, func() {
		p.d.mu.Lock()
		defer p.d.mu.Unlock()
		p.d.save(n, text)
	})
	return nil
}

// save replaces the content of a file and syncs it. The caller holds mu.
func (d *Disk) save(n *inode, text string) {
	d.edit(n, edit{})
	if text != "" {
		d.edit(n, edit{data: []byte(text)})
	}
	n.sync()
}

// Edit replaces the content of a file, or creates the file, by the result of fn in one step: no other call comes in
// between. If the file is leased, it changes nothing and returns syscall.EAGAIN.
func (p Person) Edit(at string, fn func(text string) string) error {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	n, err := p.d.find(at)
	var up *inode // the folder of a new file
	if errors.Is(err, syscall.ENOENT) {
		if up, err = p.d.find(path.Dir(at)); err != nil {
			return err
		}
		n = p.d.newInode(up.vol, 0o644)
		p.d.rename(link{up, path.Base(at), nil, n})
	}
	if err == nil {
		err = n.mayOpen(os.O_WRONLY)
	}
	if err != nil {
		return err
	}
	p.d.save(n, fn(string(n.data)))
	if up != nil {
		up.sync()
	}
	return nil
}

// SaveByRename writes and syncs a new file and renames it to a path, as editors do.
func (p Person) SaveByRename(at, text string) error {
	temp := path.Join(path.Dir(at), ".#"+path.Base(at))
	if err := p.Save(temp, text); err != nil {
		return err
	}
	d, err := p.Open(path.Dir(at))
	if err != nil {
		return err
	}
	defer d.Close()
	return errors.Join(d.Rename(path.Base(temp), d, path.Base(at)), d.Sync())
}

func (p Person) Read(at string) (string, error) {
	d, err := p.Open(path.Dir(at))
	if err != nil {
		return "", err
	}
	defer d.Close()
	data, _, _, err := disk.ReadFile(d, path.Base(at))
	return string(data), err
}

func (p Person) Files(at string) map[string]string {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	files := make(map[string]string)
	if n, err := p.d.find(at); err == nil {
		n.files(strings.TrimSuffix(at, "/"), files)
	}
	return files
}

func (n *inode) files(at string, into map[string]string) {
	for name, c := range n.names {
		switch {
		case c.isDir():
			c.files(at+"/"+name, into)
		case !c.isLink():
			into[at+"/"+name] = string(c.data)
		}
	}
}
