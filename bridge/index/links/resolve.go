package links

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

func (x *Index) Resolve(from string, l Link) (path string, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := x.resolve(from, l.Target)
	if f == nil {
		return "", false
	}
	return f.path, true
}

// Forward returns the link targets of the note at path, in order of appearance and without duplicates. resolved has the
// paths of notes and files, unresolved the linkpaths that resolve to no file or to a file for which isShown returns
// false.
func (x *Index) Forward(path string, isShown func(string) bool) (resolved, unresolved []string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := x.files[path]
	if f == nil {
		return nil, nil
	}
	seen := make(map[*file]bool, f.settled)
	for _, t := range f.targets[:f.settled] {
		switch to := x.resolve(path, t); {
		case to == nil, !isShown(to.path):
			unresolved = append(unresolved, t)
		case !seen[to]:
			seen[to] = true
			resolved = append(resolved, to.path)
		}
	}
	return resolved, unresolved
}

// Backlinks returns the paths of the notes that link to path, sorted. A note may link to itself.
func (x *Index) Backlinks(path string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	to := x.files[path]
	if to == nil {
		return nil
	}
	var found []string
	for f := range x.mentions[nameOf(to.path)] {
		if x.linksTo(f, to) {
			found = append(found, f.path)
		}
	}
	slices.Sort(found)
	return found
}

func (x *Index) linksTo(f, to *file) bool {
	n := nameOf(to.path)
	return slices.ContainsFunc(f.targets[:f.settled], func(t string) bool {
		return f.mentioned(t) == n && x.resolve(f.path, t) == to
	})
}

func (x *Index) resolve(from, target string) *file {
	root, rel, _ := strings.Cut(from, "/")
	dir := path.Dir(rel)
	switch {
	case target == "":
		return x.files[from]
	case isRelative(target):
		return x.relative(root, dir, target)
	case strings.HasPrefix(target, "/"):
		return x.exact(path.Join(root, strings.TrimLeft(target, "/")), target)
	}
	for _, p := range []string{root + "/" + target, path.Join(root, dir) + "/" + target} {
		if f := x.exact(p, target); f != nil {
			return f
		}
	}
	return x.bySuffix(root, target)
}

func isRelative(target string) bool {
	return strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../")
}

// relative resolves "./x" and "../x" from dir. A path that leaves the root resolves to nil.
func (x *Index) relative(root, dir, target string) *file {
	rel := path.Join(dir, target)
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return nil
	}
	return x.exact(root+"/"+rel, target)
}

func (x *Index) exact(p, target string) *file {
	return best(x.paths[foldPath(p)], target)
}

func (x *Index) bySuffix(root, target string) *file {
	key := foldPath(target)
	all := x.names[name{root, baseName(key)}]
	suffix := "/" + key
	for i, f := range all {
		if !strings.HasSuffix(f.key, suffix) || !f.linkable(target) {
			continue
		}
		end := i + 1
		for end < len(all) && len(all[end].path) == len(f.path) && strings.HasSuffix(all[end].key, suffix) {
			end++
		}
		return best(all[i:end], target)
	}
	return nil
}

// best chooses among files that target matches equally well. It prefers an exact spelling, and otherwise the first
// file.
func best(fs []*file, target string) *file {
	var first *file
	for _, f := range fs {
		if !f.linkable(target) {
			continue
		}
		if strings.HasSuffix(f.path, target) || strings.HasSuffix(f.path, target+".md") {
			return f
		}
		if first == nil {
			first = f
		}
	}
	return first
}

// linkable reports whether target may name f. A note may be named with or without its ".md", and any other file only
// with its extension. A link cannot name a file without an extension.
func (f *file) linkable(target string) bool {
	if isNote(f.path) {
		return true
	}
	return path.Ext(f.path) != "" && !isNote(target)
}

func isNote(p string) bool { return strings.EqualFold(path.Ext(p), ".md") }

// foldPath returns the key of equivalent names: NFC, in lower case (as Obsidian compares names), without ".md".
func foldPath(p string) string {
	return strings.TrimSuffix(strings.ToLower(norm.NFC.String(p)), ".md")
}

func baseName(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
