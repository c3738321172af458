package folderdoc

import (
	"maps"
	"slices"
	"strings"
)

// ChangeKind says what happened to an entry.
type ChangeKind uint8

const (
	Created ChangeKind = iota
	Removed
	Renamed // with everything below it
	Changed // the attachment's bytes
)

// Change is one difference between two listings.
type Change struct {
	Kind    ChangeKind
	Path    string
	OldPath string // Renamed
	Entry   Entry  // as it is now; of Removed, as it was
}

// Diff returns the steps that lead from one listing to another, in an order in
// which each can be made by itself: no name is taken before it is free, no
// folder goes before what is in it. An entry whose id is at another path now was
// renamed, and what moved along with its folder is not listed again. Both
// listings are those of List, taken before and after a transaction.
func Diff(before, after []Entry) []Change {
	d := differ{at: make(map[string]*step), children: make(map[string]int)}
	d.pair(before, after)
	for len(d.pending) > 0 {
		if !d.pass() && !d.breakCycle() {
			return replaceAll(before, after)
		}
	}
	return d.out
}

// replaceAll is the way between two listings that is always there.
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

// step is an entry on its way; from is "" for a new one, to for one that goes.
type step struct {
	from, to string
	entry    Entry
}

// differ plays the steps on the tree of names.
type differ struct {
	at       map[string]*step // what each path holds at this point
	children map[string]int   // how many names each folder holds
	pending  []*step
	left     []*step // pending, and not made in this pass
	out      []Change
}

// pair finds out what became of each entry.
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
			d.keep(e, now)
		} else if now, ok := newByID[e.ID]; ok && oldByID[e.ID].Path == e.Path && sameKind(e, now) {
			s.to, s.entry = now.Path, now
		}
		kept[s.to] = s.to != ""
		d.put(s.from, s)
		if s.to != s.from {
			leaving = append(leaving, s)
		}
	}
	for i := len(leaving) - 1; i >= 0; i-- { // what lies deep goes first
		if leaving[i].to == "" {
			d.pending = append(d.pending, leaving[i])
		}
	}
	for _, s := range leaving { // folders move before what is in them
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

// unique are the entries whose id is at one path only.
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

// keep notes an entry that stays where it is.
func (d *differ) keep(old, now Entry) {
	if old.Hash != now.Hash || old.Type != now.Type {
		d.out = append(d.out, Change{Kind: Changed, Path: now.Path, Entry: now})
	}
}

func (d *differ) put(p string, s *step) {
	d.at[p] = s
	d.children[parent(p)]++
}

func (d *differ) take(p string) {
	delete(d.at, p)
	d.children[parent(p)]--
}

// pass makes every step that can be made, and says whether there was one.
func (d *differ) pass() bool {
	before := len(d.out)
	d.left = nil
	for _, s := range d.pending {
		if !d.make(s) {
			d.left = append(d.left, s)
		}
	}
	done := len(d.left) < len(d.pending)
	d.pending = d.left
	return done || len(d.out) > before
}

// make makes one step, if its name is free and its folder there.
func (d *differ) make(s *step) bool {
	switch {
	case s.from == s.to: // it moved with its folder
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

// move renames s and everything below it. What was below it and is to stay
// where it was comes back.
func (d *differ) move(s *step) {
	from, to := s.from, s.to
	moved := map[string]*step{from: s}
	if s.entry.Type == TypeFolder {
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
			d.left = append(d.left, x)
		}
		x.from = to + strings.TrimPrefix(p, from)
		d.put(x.from, x)
	}
}

// breakCycle makes a removal and a creation of one file's renaming, so that what
// waits for its name can go on.
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
