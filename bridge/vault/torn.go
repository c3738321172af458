package vault

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// A swap gives a new file its name before its bytes are on the disk. So a power cut can
// leave a note whose bytes are missing; then the file that it displaced is there, since
// that is removed last. The names of temp files tell for which note a file was made, and
// what it was to hold, so that the next start finds the two and puts the old one back.
// (What the new one held is in the log, if that was synced.)

// tag says what a new file is for: the note, by a hash of its path, its modification time,
// and the CRC-32C of its bytes.
type tag struct {
	path    uint64
	modTime int64
	sum     uint32
}

func tagOf(rel string, c content) tag {
	return tag{hashOf(rel), c.modTime.UnixNano(), sumOf(c.data)}
}

func hashOf(rel string) uint64 {
	sum := sha256.Sum256([]byte(rel))
	return binary.BigEndian.Uint64(sum[:])
}

func sumOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

func (t tag) String() string { return fmt.Sprintf("%016x-%x-%08x", t.path, t.modTime, t.sum) }

// parseTag reads the tag in the name of a temp file.
func parseTag(name string) (t tag, ok bool) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(name, tempPrefix), tempSuffix), "-")
	if len(parts) < 5 { // process, number, tag
		return t, false
	}
	n, err := fmt.Sscanf(strings.Join(parts[2:5], " "), "%16x %x %8x", &t.path, &t.modTime, &t.sum)
	return t, err == nil && n == 3
}

// leftover is a temp file of an earlier process with a tag.
type leftover struct {
	dir  string // in the vault; "" and swap set for the swap folder
	swap bool
	name string
	tag  tag
}

// tagged deals with leftovers, after a scan that found entries. It says whether it
// has put something back.
func (s *sweep) tagged(found []leftover, entries []model.SourceEntry) (changed bool) {
	if len(found) == 0 {
		return false
	}
	byHash := make(map[uint64]string)
	for _, e := range entries {
		if !e.Dir {
			byHash[hashOf(e.Rel)] = e.Rel
		}
	}
	for _, l := range found {
		rel, known := byHash[l.tag.path]
		put, err := s.one(l, rel, known)
		if err != nil {
			s.v.log.Warn("left-over temp file stays", model.LogPath, l.name, model.LogErr, err)
		}
		changed = changed || put
	}
	return changed
}

func (s *sweep) one(l leftover, rel string, known bool) (put bool, err error) {
	dir := s.v.swaps.dir
	if !l.swap {
		if dir, err = s.v.openFolder(l.dir); err != nil {
			return false, err
		}
		defer dir.Close()
	}
	if known {
		torn, err := s.isTorn(rel, l.tag)
		if err != nil {
			return false, err
		}
		if torn {
			return true, s.putBack(dir, l.name, rel)
		}
	}
	return false, s.dispose(dir, l)
}

// dispose deals with a leftover whose note is whole.
func (s *sweep) dispose(dir disk.Dir, l leftover) error {
	st, err := dir.Stat(l.name)
	if err != nil {
		return err
	}
	switch {
	case isDisplaced(l.name, &st):
		return dir.Remove(l.name)
	case l.tag.is(dir, l.name, &st): // it was never given its name: the log has it, or nobody was told that it is saved
		s.v.unplaced.add(&st)
		return dir.Remove(l.name)
	}
	return s.toRecovered(dir, l.name)
}

// is says whether a file has the modification time and the bytes that it was to have.
func (t tag) is(dir disk.Dir, name string, st *disk.Info) bool {
	if st.ModTime != t.modTime {
		return false
	}
	data, _, _, err := dir.ReadFile(name)
	return err == nil && sumOf(data) == t.sum
}

// isTorn says whether the note at rel is the file with the tag and lacks its bytes.
func (s *sweep) isTorn(rel string, t tag) (bool, error) {
	p, err := s.v.locate(rel)
	if err != nil {
		return false, err
	}
	defer p.Close()
	return p.stat.ModTime == t.modTime && !t.is(p.dir, p.name, &p.stat), nil
}

// putBack gives the name of a torn note to the file that was displaced from it.
func (s *sweep) putBack(dir disk.Dir, name, rel string) error {
	p, err := s.v.locate(rel)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := dir.Exchange(name, p.dir, p.name); err != nil {
		return err
	}
	s.v.log.Warn("a power cut has torn a save; the note is what it was before", model.LogPath, rel)
	if err := s.v.syncDir(p.dir); err != nil {
		return err
	}
	return dir.Remove(name)
}
