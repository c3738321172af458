package links

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Index holds the names of all notes and files of a workspace and the links between them.
//
// It resolves a link on demand, with maps over folded paths and base names. So adding a note that takes over the links
// of another note changes only entries of the new note, and no answer is ever out of date. The time of Backlinks grows
// with the number of links that end in the same base name.
type Index struct {
	mu    sync.RWMutex     // guards the fields below
	files map[string]*file // notes and files by path
	// paths maps a folded path without ".md" to its files. There are several if names differ only in case or Unicode
	// form.
	paths map[string][]*file
	// names maps a name to its files, the shortest path first.
	names map[name][]*file
	// mentions maps a name to the notes of its root with links that end in it.
	mentions map[name]map[*file]struct{}
}

// name is a folded base name without ".md" in one root.
type name struct{ root, base string }

type file struct {
	path    string
	key     string   // folded path, without ".md"
	targets []string // linkpaths; those that occur only in pending additions come last
	settled int      // number of targets that do not occur only in pending additions
}

func NewIndex() *Index {
	return &Index{
		files:    make(map[string]*file),
		paths:    make(map[string][]*file),
		names:    make(map[name][]*file),
		mentions: make(map[name]map[*file]struct{}),
	}
}

// Set sets the links of a note. pending are the links that it would have with its suggestions accepted.
func (x *Index) Set(path string, settled, pending []Link) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f := x.add(path)
	x.unmention(f)
	targets, more := Targets(settled, pending)
	f.targets, f.settled = append(targets, more...), len(targets)
	x.mention(f)
}

// AddFile adds a file without links: an attachment, or a note that was not read yet. It changes nothing if the file is
// already there.
func (x *Index) AddFile(path string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.add(path)
}

func (x *Index) Remove(path string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range x.under(path) {
		x.remove(f)
	}
}

// Rename moves the note or file at oldPath or, if there is none, everything below oldPath. It replaces files at the new
// paths.
func (x *Index) Rename(oldPath, newPath string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range x.under(oldPath) {
		x.remove(f)
		moved := newPath + strings.TrimPrefix(f.path, oldPath)
		if there := x.files[moved]; there != nil {
			x.remove(there)
		}
		n := x.add(moved)
		n.targets, n.settled = f.targets, f.settled
		x.mention(n)
	}
}

// under returns the file at path, or the files below it. It walks all files only if there is no file at path.
func (x *Index) under(path string) []*file {
	if f := x.files[path]; f != nil {
		return []*file{f}
	}
	var found []*file
	for p, f := range x.files {
		if path == "" || strings.HasPrefix(p, path) && strings.HasPrefix(p[len(path):], "/") {
			found = append(found, f)
		}
	}
	return found
}

func (x *Index) add(path string) *file {
	if f := x.files[path]; f != nil {
		return f
	}
	f := &file{path: path, key: foldPath(path)}
	x.files[path] = f
	x.paths[f.key] = insert(x.paths[f.key], f)
	n := nameOf(path)
	x.names[n] = insert(x.names[n], f)
	return f
}

func (x *Index) remove(f *file) {
	x.unmention(f)
	delete(x.files, f.path)
	take(x.paths, f.key, f)
	take(x.names, nameOf(f.path), f)
}

func nameOf(path string) name { return name{rootOf(path), BaseName(path)} }

func rootOf(path string) string {
	root, _, _ := strings.Cut(path, "/")
	return root
}

func insert(fs []*file, f *file) []*file {
	i, _ := slices.BinarySearchFunc(fs, f, compareFiles)
	return slices.Insert(fs, i, f)
}

func take[K comparable](m map[K][]*file, key K, f *file) {
	i, found := slices.BinarySearchFunc(m[key], f, compareFiles)
	if !found {
		return
	}
	if m[key] = slices.Delete(m[key], i, i+1); len(m[key]) == 0 {
		delete(m, key)
	}
}

func compareFiles(a, b *file) int {
	if d := len(a.path) - len(b.path); d != 0 {
		return d
	}
	return strings.Compare(a.path, b.path)
}

func (x *Index) mention(f *file) {
	for _, t := range f.targets {
		n := f.mentioned(t)
		if x.mentions[n] == nil {
			x.mentions[n] = make(map[*file]struct{})
		}
		x.mentions[n][f] = struct{}{}
	}
}

func (x *Index) unmention(f *file) {
	for _, t := range f.targets {
		n := f.mentioned(t)
		delete(x.mentions[n], f)
		if len(x.mentions[n]) == 0 {
			delete(x.mentions, n)
		}
	}
}

// Mentioning returns the paths of the notes with a link that ends in the base name of path. It includes links in
// pending additions. Only links in these notes can resolve to path.
func (x *Index) Mentioning(path string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found []string
	for f := range x.mentions[nameOf(path)] {
		found = append(found, f.path)
	}
	slices.Sort(found)
	return found
}

// BaseName returns the folded base name of a path or linkpath. A linkpath can resolve only to paths with the same
// BaseName.
func BaseName(path string) string { return baseName(foldPath(path)) }

func (f *file) mentioned(target string) name {
	return name{rootOf(f.path), BaseName(cmp.Or(target, f.path))}
}

// Targets returns the distinct linkpaths of settled in order of appearance, and the linkpaths that only links in pending
// have. The results do not keep the note's text in memory.
func Targets(settled, pending []Link) (targets, more []string) {
	seen := make(map[string]bool, len(settled))
	distinct := func(ls []Link) (list []string) {
		for _, l := range ls {
			if !seen[l.Target] {
				seen[l.Target] = true
				list = append(list, strings.Clone(l.Target))
			}
		}
		return list
	}
	targets = distinct(settled)
	return targets, distinct(pending)
}
