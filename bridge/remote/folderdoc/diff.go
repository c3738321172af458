package folderdoc

import (
	"maps"
	"slices"
	"strings"
)

type ChangeKind uint8

const (
	Created ChangeKind = iota
	Removed
	Renamed // applies to everything below it too
	Changed // the hash or the type of the entry has changed
)

type Change struct {
	Kind    ChangeKind
	Path    string
	OldPath string // old path; only set for Renamed
	Entry   Entry  // the new entry; for Removed, the old entry
}

// Diff returns the steps from one listing to another, in an order in which each step is valid: a name is free before it
// is used, and a folder is empty before it is removed. An entry usually counts as renamed if its ID is at another path.
// Diff does not list entries that moved with their folder. Both listings are results of List, from before and after a
// transaction.
func Diff(before, after []Entry) []Change {
	d := differ{at: make(map[string]*step), children: make(map[string]int)}
	d.pair(before, after)
	for len(d.pending) > 0 {
		if !d.pass() && !d.breakCycle() || d.work > maxWork {
			return replaceAll(before, after)
		}
	}
	return d.out
}

// maxWork is the number of entries that Diff looks at, in less than a second. Renames that wait for each other, and renames of
// folders, take a time that is quadratic in their number.
const maxWork = 5_000_000

// Apply returns a listing after changes. It ignores changes of entries that the listing does not have.
func Apply(list []Entry, changes []Change) []Entry {
	at := make(map[string]Entry, len(list))
	for _, e := range list {
		at[e.Path] = e
	}
	for _, c := range changes {
		switch c.Kind {
		case Created, Changed:
			at[c.Path] = c.Entry
		case Removed:
			delete(at, c.Path)
		case Renamed:
			moved := []string{c.OldPath}
			if c.Entry.Type == TypeFolder {
				for p := range at {
					if below(c.OldPath, p) {
						moved = append(moved, p)
					}
				}
			}
			for _, p := range moved {
				if e, ok := at[p]; ok {
					delete(at, p)
					e.Path = c.Path + strings.TrimPrefix(p, c.OldPath)
					at[e.Path] = e
				}
			}
		}
	}
	return slices.SortedFunc(maps.Values(at), func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

func replaceAll(before, after []Entry) []Change {
	var out []Change
	for _, e := range slices.Backward(before) {
		out = append(out, Change{Kind: Removed, Path: e.Path, Entry: e})
	}
	for _, e := range after {
		out = append(out, Change{Kind: Created, Path: e.Path, Entry: e})
	}
	return out
}

// step is a pending change of an entry. from is "" for a new entry; to is "" for a removed entry.
type step struct {
	from, to string
	entry    Entry
}

type differ struct {
	at        map[string]*step // the steps by the current paths of their entries
	children  map[string]int   // number of names in each folder
	pending   []*step
	remaining []*step // steps still pending after this pass
	out       []Change
	work      int // see maxWork
}

func (d *differ) pair(before, after []Entry) {
	newAt, newByID := make(map[string]Entry, len(after)), unique(after)
	for _, e := range after {
		newAt[e.Path] = e
	}
	oldByID := unique(before)
	kept := make(map[string]bool)
	var leaving []*step
	for _, e := range before {
		s := &step{from: e.Path, entry: e}
		if now, ok := newAt[e.Path]; ok && same(e, now) {
			s.to, s.entry = e.Path, now
			if e.Hash != now.Hash || e.Type != now.Type {
				d.out = append(d.out, Change{Kind: Changed, Path: now.Path, Entry: now})
			}
		} else if now, ok := newByID[e.ID]; ok && oldByID[e.ID].Path == e.Path && sameKind(e, now) {
			s.to, s.entry = now.Path, now
		}
		kept[s.to] = s.to != ""
		d.put(s.from, s)
		if s.to != s.from {
			leaving = append(leaving, s)
		}
	}
	for _, s := range slices.Backward(leaving) { // children before their folders
		if s.to == "" {
			d.pending = append(d.pending, s)
		}
	}
	for _, s := range leaving { // folders before their children
		if s.to != "" {
			d.pending = append(d.pending, s)
		}
	}
	for _, e := range after {
		if !kept[e.Path] {
			d.pending = append(d.pending, &step{to: e.Path, entry: e})
		}
	}
}

func unique(list []Entry) map[string]Entry {
	byID := make(map[string]Entry, len(list))
	twice := make(map[string]bool)
	for _, e := range list {
		if _, again := byID[e.ID]; again || e.ID == "" {
			twice[e.ID] = true
		}
		byID[e.ID] = e
	}
	for id := range twice {
		delete(byID, id)
	}
	return byID
}

func sameKind(a, b Entry) bool { return (a.Type == TypeFolder) == (b.Type == TypeFolder) }

func same(a, b Entry) bool {
	return sameKind(a, b) && (a.Type == TypeFolder || a.ID == b.ID)
}

func (d *differ) put(p string, s *step) {
	d.at[p] = s
	d.children[parent(p)]++
}

func (d *differ) take(p string) {
	delete(d.at, p)
	d.children[parent(p)]--
}

// pass tries each pending step once, and reports whether it made progress.
func (d *differ) pass() bool {
	before := len(d.out)
	d.remaining = nil
	for _, s := range d.pending {
		if d.work++; d.work > maxWork {
			break
		}
		if !d.make(s) {
			d.remaining = append(d.remaining, s)
		}
	}
	done := len(d.remaining) < len(d.pending)
	d.pending = d.remaining
	return done || len(d.out) > before
}

// make applies a step if the step is valid now: a new name must be free and its folder must exist, and a removed folder
// must be empty. It reports whether the step is done.
func (d *differ) make(s *step) bool {
	switch {
	case s.from == s.to: // the entry moved with its folder
		return true
	case s.to == "":
		if d.children[s.from] > 0 {
			return false
		}
		d.take(s.from)
		d.out = append(d.out, Change{Kind: Removed, Path: s.from, Entry: s.entry})
		return true
	case !d.free(s.to):
		return false
	case s.from == "":
		s.from = s.to
		d.put(s.to, s)
		d.out = append(d.out, Change{Kind: Created, Path: s.to, Entry: s.entry})
		return true
	}
	d.out = append(d.out, Change{Kind: Renamed, Path: s.to, OldPath: s.from, Entry: s.entry})
	d.move(s)
	return true
}

func (d *differ) free(p string) bool {
	dir := parent(p)
	return d.at[p] == nil && (dir == "" || d.at[dir] != nil && d.at[dir].entry.Type == TypeFolder)
}

// move renames s and everything below it. It adds a step that moves a child back if the child should stay.
func (d *differ) move(s *step) {
	from, to := s.from, s.to
	moved := map[string]*step{from: s}
	if s.entry.Type == TypeFolder {
		d.work += len(d.at)
		for p, x := range d.at {
			if below(from, p) {
				moved[p] = x
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(moved)) {
		x := moved[p]
		d.take(p)
		if x.from == x.to {
			d.remaining = append(d.remaining, x)
		}
		x.from = to + strings.TrimPrefix(p, from)
		d.put(x.from, x)
	}
}

// breakCycle splits the rename of one file into a removal and a creation, so that the steps that wait for the file's
// old name can proceed.
func (d *differ) breakCycle() bool {
	for _, s := range d.pending {
		if s.from != "" && s.to != "" && s.entry.Type != TypeFolder {
			d.pending = append(d.pending, &step{to: s.to, entry: s.entry})
			s.to = ""
			return true
		}
	}
	return false
}
