package disktest

import (
	"bytes"
	"hash/maphash"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
)

func (n *inode) sync() {
	v := n.vol
	if v.OrdersNames {
		last := -1
		for i, c := range v.journal {
			if c.about(n) {
				last = i
			}
		}
		for _, c := range v.journal[:last+1] {
			c.apply()
		}
		v.journal = slices.Clone(v.journal[last+1:])
	} else if n.isDir() {
		v.syncNames(n)
	}
	n.synced.attr = n.attr
	n.datasync()
}

func (n *inode) datasync() {
	if !n.stale {
		n.synced.data, n.edits = n.data, nil
	}
}

// about reports whether the change affects n, or names in n.
func (c change) about(n *inode) bool {
	return c.of == n || slices.ContainsFunc(c.links, func(l link) bool { return l.dir == n || l.is == n })
}

func (c change) apply() {
	if c.of != nil {
		c.of.synced.attr = c.attr
	}
	for _, l := range c.links {
		delete(l.dir.synced.names, l.name)
	}
	for _, l := range c.links {
		if l.is != nil {
			l.dir.synced.names[l.name] = l.is
		}
	}
}

// fits reports whether the durable names that c changes still refer to the same inodes as before c. The caller holds
// mu.
func (c change) fits() bool {
	return !slices.ContainsFunc(c.links, func(l link) bool { return l.dir.synced.names[l.name] != l.was })
}

// syncNames makes the changes in a folder durable, and the earlier changes on which they depend. The caller holds mu.
func (v *volume) syncNames(dir *inode) {
	type name struct {
		dir  *inode
		name string
	}
	needed := make(map[name]bool)
	durable := make([]bool, len(v.journal))
	for i, c := range slices.Backward(v.journal) {
		durable[i] = slices.ContainsFunc(c.links, func(l link) bool { return l.dir == dir || needed[name{l.dir, l.name}] })
		if durable[i] {
			for _, l := range c.links {
				needed[name{l.dir, l.name}] = true
			}
		}
	}
	var rest []change
	for i, c := range v.journal {
		if durable[i] {
			c.apply()
		} else {
			rest = append(rest, c)
		}
	}
	v.journal = rest
}

// copy copies the machine, including its unsynced changes but not its descriptors. The caller holds mu.
func (d *Disk) copy() *Disk {
	c := &Disk{clock: d.clock, last: d.last, inodes: d.inodes, calls: slices.Clip(d.calls)}
	for _, v := range d.volumes {
		to := &volume{Volume: v.Volume, device: v.device}
		done := make(map[*inode]*inode)
		to.root = v.root.clone(to, done)
		for _, ch := range v.journal {
			ch.of = ch.of.clone(to, done)
			ch.links = slices.Clone(ch.links)
			for i, l := range ch.links {
				ch.links[i] = link{l.dir.clone(to, done), l.name, l.was.clone(to, done), l.is.clone(to, done)}
			}
			to.journal = append(to.journal, ch)
		}
		c.volumes = append(c.volumes, to)
	}
	return c
}

// Killed returns a copy of the machine as a kill of the process leaves it. A power cut can still lose unsynced changes.
func (d *Disk) Killed() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.copy()
}

// PowerCuts yields at most limit distinct states that a power cut could leave now. The selection is the same in each
// run. All changes in the yielded states are durable.
func (d *Disk) PowerCuts(limit int) iter.Seq[*Disk] {
	return d.SomePowerCuts(limit, rand.New(rand.NewPCG(1, uint64(len(d.Calls())))))
}

func (d *Disk) SomePowerCuts(limit int, rng *rand.Rand) iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		if limit <= 0 {
			return
		}
		d.mu.Lock()
		from := d.copy()
		d.mu.Unlock()
		names := from.namesLeft(limit, rng)
		seen := make(map[uint64]bool)
		for _, chosen := range names {
			for cut := range from.contentsLeft(chosen, max(1, limit/len(names)), rng) {
				if sum := cut.Sum(); !seen[sum] {
					seen[sum] = true
					if !yield(cut) {
						return
					}
				}
			}
		}
	}
}

// namesLeft lists at most limit possible outcomes of a power cut; rng selects them if there are more. An outcome states
// for each volume whether each change in its journal survives.
func (d *Disk) namesLeft(limit int, rng *rand.Rand) [][][]bool {
	all := [][][]bool{nil}
	for _, v := range d.volumes {
		var more [][][]bool
		for _, chosen := range some(v.namesLeft(limit), limit, rng) {
			for _, others := range all {
				more = append(more, append(slices.Clone(others), chosen))
			}
		}
		all = more
	}
	return some(all, limit, rng)
}

func some[T any](list []T, n int, rng *rand.Rand) []T {
	if len(list) <= n {
		return list
	}
	out := []T{list[0], list[len(list)-1]}
	for _, i := range rng.Perm(len(list) - 2)[:min(n, len(list)-2)] {
		out = append(out, list[1+i])
	}
	return shuffled(out, rng)[:n]
}

func shuffled[T any](list []T, rng *rand.Rand) []T {
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

const maxSubsets = 1 << 12

func (v *volume) namesLeft(limit int) (left [][]bool) {
	if v.OrdersNames {
		for n := range len(v.journal) + 1 {
			// For consecutive changes of attributes, the first and the last state are enough.
			inner := n > 0 && n < len(v.journal) && v.journal[n-1].of != nil && v.journal[n].of != nil
			if inner {
				continue
			}
			chosen := make([]bool, len(v.journal))
			for i := range n {
				chosen[i] = true
			}
			left = append(left, chosen)
		}
		return left
	}
	var choose func(i int, chosen []bool)
	choose = func(i int, chosen []bool) {
		switch {
		case len(left) >= maxSubsets:
			return
		case i == len(v.journal):
			left = append(left, slices.Clone(chosen))
			return
		}
		choose(i+1, append(chosen, false))
		if c := v.journal[i]; c.fits() {
			c.apply()
			choose(i+1, append(chosen, true))
			c.revert()
		}
	}
	choose(0, nil)
	return left
}

// revert undoes apply. The caller holds mu.
func (c change) revert() {
	for i := range c.links {
		c.links[i].was, c.links[i].is = c.links[i].is, c.links[i].was
	}
	c.apply()
	for i := range c.links {
		c.links[i].was, c.links[i].is = c.links[i].is, c.links[i].was
	}
}

type remainder struct {
	data []byte
	attr attributes
}

// contentsLeft yields at most limit states in which the chosen changes of names survive.
func (d *Disk) contentsLeft(chosen [][]bool, limit int, rng *rand.Rand) iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		with := d.copy()
		old := make(map[*inode]bool) // files that keep their old attributes
		for i, v := range with.volumes {
			for j, c := range v.journal {
				switch {
				case chosen[i][j]:
					c.apply()
				case c.of != nil:
					old[c.of] = true
				}
			}
		}
		files := with.uncertain()
		left := make([][]remainder, len(files))
		total := 1
		for i, n := range files {
			left[i] = n.left(old[n])
			total = min(total*len(left[i]), 1<<30)
		}
		for pick := range picks(left, total, limit, rng) {
			is := make(map[*inode]remainder)
			for i, n := range files {
				is[n] = left[i][pick[i]]
			}
			if !yield(with.cut(is)) {
				return
			}
		}
	}
}

// picks yields ways to choose one remainder for each file: all combinations if there are at most limit. Otherwise it
// yields limit combinations, chosen from nothing, everything, everything except for one file, and random ones.
func picks(left [][]remainder, total, limit int, rng *rand.Rand) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		pick := make([]int, len(left))
		if total <= limit {
			for n := range total {
				for i := range left {
					pick[i] = n % len(left[i])
					n /= len(left[i])
				}
				if !yield(pick) {
					return
				}
			}
			return
		}
		whole := make([]int, len(left))
		for i := range left {
			whole[i] = len(left[i]) - 1
		}
		tries := [][]int{pick, whole}
		for i := range left {
			for k := range left[i][1:] {
				one := slices.Clone(whole)
				one[i] = k
				tries = append(tries, one)
			}
		}
		for n := max(1, limit-len(tries)); n > 0; n-- {
			one := make([]int, len(left))
			for i := range left {
				one[i] = rng.IntN(len(left[i]))
			}
			tries = append(tries, one)
		}
		for _, t := range shuffled(tries, rng)[:limit] {
			if !yield(t) {
				return
			}
		}
	}
}

// uncertain lists the files with unsynced changes that still have a name after the cut. The caller holds mu.
func (d *Disk) uncertain() (files []*inode) {
	seen := make(map[*inode]bool)
	for _, v := range d.volumes {
		v.root.walkSynced(func(_ string, n *inode) {
			if !seen[n] && (len(n.edits) > 0 || n.attr != n.synced.attr) {
				seen[n] = true
				files = append(files, n)
			}
		})
	}
	return files
}

// walkSynced calls fn for all inodes that have a durable name, sorted by path.
func (n *inode) walkSynced(fn func(name string, n *inode)) {
	for _, name := range slices.Sorted(maps.Keys(n.synced.names)) {
		c := n.synced.names[name]
		fn(name, c)
		c.walkSynced(fn)
	}
}

// left lists possible remainders of a file, from none of the unsynced changes to all of them. old is set if the file
// keeps its old attributes. The caller holds mu.
func (n *inode) left(old bool) (left []remainder) {
	later, last := n.synced.attr, n.attr // attributes if bytes are missing, and if no bytes are missing
	switch {
	case !n.vol.OrdersNames:
		later = n.attr
	case old:
		last = n.synced.attr
	}
	add := func(data []byte, attr attributes) {
		if !slices.ContainsFunc(left, func(r remainder) bool { return r.attr == attr && bytes.Equal(r.data, data) }) {
			left = append(left, remainder{data, attr})
		}
	}
	add(n.synced.data, n.synced.attr)
	if len(n.edits) == 0 {
		add(n.data, last)
		return left
	}
	cut, holed, data := n.synced.data, n.synced.data, n.synced.data
	for i, e := range n.edits {
		if i == len(n.edits)-1 && len(e.data) > 1 {
			add(edit{e.at, e.data[:len(e.data)/2]}.apply(data), later)
		}
		data = e.apply(data)
		if e.data == nil {
			cut = e.apply(cut)
		}
		if i > 0 || e.data == nil {
			holed = e.apply(holed)
		}
		if few := len(n.edits) <= maxPrefixes; few || i == len(n.edits)/2 || i == len(n.edits)-2 {
			add(data, later)
		}
	}
	add(edit{at: int64(len(n.data))}.apply(cut), later) // zeros instead of the missing bytes
	add(holed, later)
	add(n.data, last)
	return left
}

// maxPrefixes is the maximum number of writes to one file for which all prefixes are listed.
const maxPrefixes = 6

// cut returns a machine with the durable state and the given remainders of files. The caller holds mu.
func (d *Disk) cut(left map[*inode]remainder) *Disk {
	c := &Disk{clock: d.clock, last: d.last, inodes: d.inodes, calls: slices.Clip(d.calls)}
	for _, v := range d.volumes {
		to := &volume{Volume: v.Volume, device: v.device}
		to.root = v.root.survivor(to, left, make(map[*inode]*inode))
		to.root.parent, to.root.links = to.root, 2+to.root.folders()
		c.volumes = append(c.volumes, to)
	}
	return c
}

func (n *inode) survivor(to *volume, left map[*inode]remainder, done map[*inode]*inode) *inode {
	if c := done[n]; c != nil {
		return c
	}
	c := &inode{vol: to, number: n.number, attr: n.synced.attr, chgTime: n.chgTime, birth: n.birth, data: n.synced.data, target: n.target}
	done[n] = c
	if r, ok := left[n]; ok {
		c.data, c.attr = r.data, r.attr
	}
	c.synced.data, c.synced.attr = c.data, c.attr
	if !n.isDir() {
		return c
	}
	c.names = make(map[string]*inode)
	for name, child := range n.synced.names {
		s := child.survivor(to, left, done)
		c.names[name], s.parent = s, c
		if s.links++; s.isDir() {
			s.links = 2 + s.folders()
		}
	}
	c.synced.names = maps.Clone(c.names)
	return c
}

var seed = maphash.MakeSeed()

// Sum returns a hash of the state. States that differ only in times of change have the same hash. Hashes differ between
// processes.
func (d *Disk) Sum() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	var h maphash.Hash
	h.SetSeed(seed)
	for _, v := range d.volumes {
		v.root.sum(&h)
	}
	return h.Sum64()
}

func (n *inode) sum(h *maphash.Hash) {
	maphash.WriteComparable(h, n.number)
	maphash.WriteComparable(h, n.attr)
	maphash.WriteComparable(h, len(n.data))
	h.Write(n.data)
	h.WriteString(n.target)
	for _, name := range slices.Sorted(maps.Keys(n.names)) {
		h.WriteString(name)
		h.WriteByte('/')
		n.names[name].sum(h)
	}
	h.WriteByte(0)
}
