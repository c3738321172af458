package wal

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/relayfs/relayfs/bridge/disk"
)

// keepSpares is how many released segments are kept to be used again.
const keepSpares = 2

// folder is the files of a log. It does not know what is synced.
type folder struct {
	dir      disk.Dir
	size     int64      // of a segment
	segments []*segment // oldest first; the last one is written to, if it is open
	spares   []string   // names of files to be used again
	number   uint64     // of the newest segment
	renamed  bool       // names have changed since they were synced
}

// read calls frame with the frames after the given one, and returns the number of the
// last one.
func (f *folder) read(after LSN, frame func(LSN, []byte) error) (last LSN, err error) {
	found, err := f.find()
	if err != nil {
		return 0, err
	}
	last = after
	for _, s := range found {
		if s.first > last+1 {
			// Frames are missing before it, so it was never synced. It must be gone when
			// their LSNs are given to others.
			f.renamed = true
			if err := f.dir.Remove(s.name); err != nil {
				return 0, err
			}
			continue
		}
		f.segments = append(f.segments, s)
		file, err := f.dir.Open(s.name, os.O_RDONLY, 0)
		if err != nil {
			return 0, err
		}
		s.last = s.first - 1
		err = s.frames(file, func(lsn LSN, body []byte) error {
			s.last = lsn
			if lsn <= last {
				return nil
			}
			last = lsn
			return frame(lsn, body)
		})
		file.Close()
		if err != nil {
			return 0, err
		}
	}
	return last, nil
}

// find lists the segments that are in the folder, oldest first. A file without a header,
// or with that of another number, is a spare.
func (f *folder) find() ([]*segment, error) {
	names, err := f.dir.Names(-1)
	if err != nil {
		return nil, err
	}
	var found []*segment
	for _, name := range names {
		number, ok := numberOf(name)
		if !ok {
			continue
		}
		s, err := f.readHeader(name)
		if err != nil {
			return nil, err
		}
		// A power cut may have taken a spare's new name and left its new header. Under the
		// number of that header its frames would count.
		f.number = max(f.number, number, s.number)
		if s.number == number {
			found = append(found, s)
		} else {
			f.spares = append(f.spares, name)
		}
	}
	slices.SortFunc(found, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })
	return found, nil
}

// readHeader returns a segment of number 0 for a file without a header.
func (f *folder) readHeader(name string) (*segment, error) {
	file, err := f.dir.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	h := make([]byte, headerSize)
	if _, err := file.ReadAt(h, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(h[:8]) != magic || crc32.Checksum(h[:32], castagnoli) != binary.LittleEndian.Uint32(h[32:]) {
		return new(segment), nil
	}
	return &segment{
		name: name, number: binary.LittleEndian.Uint64(h[8:]), first: LSN(binary.LittleEndian.Uint64(h[16:])),
		salt: binary.LittleEndian.Uint64(h[24:]),
	}, nil
}

// write writes a frame to the newest segment, or to a new one if it has no room.
func (f *folder) write(lsn LSN, body []byte) error {
	if n := len(f.segments); n > 0 && f.segments[n-1].file != nil && f.segments[n-1].room() >= frameSize(body) {
		return f.segments[n-1].append(lsn, body)
	}
	s, err := f.begin(lsn, frameSize(body))
	if err != nil {
		return err
	}
	if err := s.append(lsn, body); err != nil {
		return errors.Join(err, f.drop(s))
	}
	return nil
}

// begin makes a new segment with room for a frame.
func (f *folder) begin(first LSN, room int64) (*segment, error) {
	number := f.number + 1
	s := &segment{name: nameOf(number), number: number, first: first, last: first - 1, salt: newSalt()}
	s.limit = max(f.size, headerSize+room)
	if n := len(f.spares); n > 0 {
		switch err := f.dir.Rename(f.spares[n-1], f.dir, s.name); {
		case err == nil:
			f.spares = f.spares[:n-1]
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	f.renamed = true
	var err error
	if s.file, err = f.dir.Open(s.name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	f.number = number
	f.segments = append(f.segments, s)
	info, err := s.file.Info()
	if err == nil {
		s.end, s.zeroed = headerSize, max(info.Size, headerSize)
		_, err = s.file.WriteAt(s.header(), 0)
	}
	if err != nil {
		return nil, errors.Join(err, f.drop(s))
	}
	return s, nil
}

// drop removes a segment that has no frames.
func (f *folder) drop(s *segment) error {
	f.segments = slices.DeleteFunc(f.segments, func(x *segment) bool { return x == s })
	return errors.Join(s.close(), f.dir.Remove(s.name))
}

// syncFound syncs the segments that read has found.
func (f *folder) syncFound() error {
	for _, s := range f.segments {
		file, err := f.dir.Open(s.name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(file.Datasync(), file.Close()); err != nil {
			return err
		}
	}
	f.renamed = false
	return f.dir.Sync()
}

// sync returns a function that makes the frames after synced durable. Frames may be
// written while it runs, but nothing released or closed.
func (f *folder) sync(synced LSN) func() error {
	var files []disk.File
	for _, s := range f.segments {
		if s.file != nil && s.last > synced {
			files = append(files, s.file)
		}
	}
	renamed := f.renamed
	f.renamed = false
	return func() error {
		for _, file := range files {
			if err := file.Datasync(); err != nil {
				return err
			}
		}
		if renamed {
			return f.dir.Sync()
		}
		return nil
	}
}

// rewrite writes the frames after synced, whose sync has failed, to new segments and syncs
// these; then it removes those that had them. Synced frames in those are written again, too.
// After an error the segments are those of before, and it can be called again.
func (f *folder) rewrite(synced LSN, unsynced [][]byte) error {
	bad := len(f.segments)
	for bad > 0 && f.segments[bad-1].last > synced {
		bad--
	}
	broken := f.segments[bad:]
	f.segments = slices.Clip(f.segments[:bad])
	if err := f.writeAgain(broken, synced, unsynced); err != nil {
		for _, s := range f.segments[bad:] {
			s.close()
			f.spares = append(f.spares, s.name)
		}
		f.segments = append(f.segments[:bad], broken...)
		return err
	}
	var left []*segment // they only have what is in others, too
	for _, s := range broken {
		s.close()
		if f.dir.Remove(s.name) != nil {
			left = append(left, s)
		}
	}
	f.segments = slices.Insert(f.segments, bad, left...)
	return nil
}

// writeAgain writes the frames of broken up to synced and those after it to new segments, and syncs them.
func (f *folder) writeAgain(broken []*segment, synced LSN, unsynced [][]byte) error {
	type frame struct {
		lsn  LSN
		body []byte
	}
	var kept []frame
	for _, s := range broken {
		if s.first > synced {
			continue
		}
		if err := s.frames(s.file, func(lsn LSN, body []byte) error {
			if lsn <= synced {
				kept = append(kept, frame{lsn, slices.Clone(body)})
			}
			return nil
		}); err != nil {
			return err
		}
	}
	for i, body := range unsynced {
		kept = append(kept, frame{synced + 1 + LSN(i), body})
	}
	for _, fr := range kept {
		if err := f.write(fr.lsn, fr.body); err != nil {
			return err
		}
	}
	f.renamed = true
	return f.sync(0)()
}

// release makes spares of the segments that have nothing after lsn. The last one of them
// is kept as long as it is written to.
func (f *folder) release(lsn LSN) error {
	n := 0
	for n < len(f.segments) && f.segments[n].last <= lsn && (n < len(f.segments)-1 || f.segments[n].file == nil) {
		f.segments[n].close()
		f.spares = append(f.spares, f.segments[n].name)
		n++
	}
	f.segments = slices.Delete(f.segments, 0, n)
	for len(f.spares) > keepSpares {
		if err := f.dir.Remove(f.spares[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		f.spares, f.renamed = f.spares[1:], true
	}
	return nil
}

// closeFull closes the files of segments that have nothing after synced and are not
// written to any more.
func (f *folder) closeFull(synced LSN) {
	for i, s := range f.segments {
		if i < len(f.segments)-1 && s.last <= synced {
			s.close()
		}
	}
}

func (f *folder) close() (err error) {
	for _, s := range f.segments {
		err = errors.Join(err, s.close())
	}
	return err
}
