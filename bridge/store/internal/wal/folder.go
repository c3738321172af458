package wal

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/relayfs/relayfs/bridge/disk"
)

const lostSuffix = ".lost" // suffix of segments that do not continue the log

// segmentSet holds the files of a log. Log tracks which frames are synced.
type segmentSet struct {
	dir          disk.Dir
	size         int64             // size of a new segment in bytes
	onUnreadable func(name string) // called with a segment that cannot be read to its end
	segments     []*segment        // oldest first; frames are written to the last one if it is open and has space
	number       uint64            // number of the newest segment
	renamed      bool              // file names have changed since the last sync
}

// read calls frame with each frame that has a higher LSN than the given LSN, and returns the LSN of the last frame.
// Later frames are written to a new segment. read removes segments with a blank header, which were never synced.
func (f *segmentSet) read(after LSN, frame func(LSN, []byte) error) (last LSN, err error) {
	names, err := f.dir.Names(-1)
	if err != nil {
		return 0, err
	}
	slices.Sort(names) // oldest first, because the numbers have 16 digits
	last = after
	torn := "" // name of the last segment, if it cannot be read to its end
	for _, name := range names {
		number, ok := numberOf(name)
		if !ok {
			continue
		}
		f.number = number
		s := &segment{name: name}
		if s.file, err = f.dir.Open(name, os.O_RDWR, 0); err != nil {
			return 0, err
		}
		f.segments = append(f.segments, s)
		blank, err := s.readHeader()
		switch {
		case err != nil:
		case blank:
			err = f.drop(s)
		case s.first > last+1:
			// The frames before this segment are missing: either the segment was never synced, or the disk has damaged those
			// frames. New frames will reuse the segment's LSNs, so the segment is renamed.
			f.segments, f.renamed = f.segments[:len(f.segments)-1], true
			if err = errors.Join(s.close(), f.dir.Rename(name, f.dir, name+lostSuffix)); err == nil {
				f.onUnreadable(name + lostSuffix)
			}
		default:
			f.renamed = true
			s.last = s.first - 1
			torn = name
			var whole bool
			whole, err = s.frames(func(lsn LSN, body []byte) error {
				s.last = lsn
				if lsn <= last {
					return nil
				}
				last = lsn
				return frame(lsn, body)
			})
			if whole {
				torn = ""
			}
		}
		if err != nil {
			return 0, err
		}
	}
	if torn != "" {
		f.onUnreadable(torn)
	}
	return last, nil
}

// write appends a frame. It returns ErrDeleted if the newest segment has no name any more: the system would accept the
// frame, and delete it with the segment when the log is closed.
func (f *segmentSet) write(lsn LSN, body []byte) error {
	if n := len(f.segments); n > 0 && f.segments[n-1].file != nil {
		last := f.segments[n-1]
		if f.isDeleted(last) {
			return ErrDeleted
		}
		if last.limit-last.end >= frameSize(body) {
			return last.append(lsn, body)
		}
	}
	s, err := f.begin(lsn, frameSize(body))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrDeleted
	}
	if err != nil {
		return err
	}
	if err := s.append(lsn, body); err != nil {
		return errors.Join(err, f.drop(s))
	}
	return nil
}

func (f *segmentSet) isDeleted(s *segment) bool {
	info, err := s.file.Info()
	if err != nil || info.Links > 0 {
		return false
	}
	_, err = f.dir.Stat(s.name) // some file systems do not count names
	return errors.Is(err, fs.ErrNotExist)
}

func (f *segmentSet) begin(first LSN, room int64) (*segment, error) {
	number := f.number + 1
	s := &segment{name: nameOf(number), first: first, last: first - 1, salt: rand.Uint64()}
	s.limit, s.end, s.preallocatedTo = max(f.size, headerSize+room), headerSize, headerSize
	var err error
	if s.file, err = f.dir.Open(s.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	f.number, f.renamed = number, true
	f.segments = append(f.segments, s)
	if _, err = s.file.WriteAt(s.header(), 0); err != nil {
		return nil, errors.Join(err, f.drop(s))
	}
	return s, nil
}

func (f *segmentSet) drop(s *segment) error {
	f.segments = slices.DeleteFunc(f.segments, func(x *segment) bool { return x == s })
	return errors.Join(s.close(), f.dir.Remove(s.name))
}

// sync returns a function that makes all frames with an LSN higher than synced durable. Frames may be written while
// that function runs, but segments must not be released or closed.
func (f *segmentSet) sync(synced LSN) func() error {
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

// rewrite writes the frames after the LSN synced to new segments, because their sync has failed, and syncs these
// segments. The copies in the old segments are equal and harmless. After an error the caller may try again.
func (f *segmentSet) rewrite(synced LSN, unsynced [][]byte) (err error) {
	for _, s := range f.segments {
		if s.last > synced {
			s.close()
			s.last = synced
		}
	}
	old := len(f.segments)
	for i := 0; err == nil && i < len(unsynced); i++ {
		err = f.write(synced+1+LSN(i), unsynced[i])
	}
	f.renamed = true
	if err == nil {
		err = f.sync(synced)()
	}
	for err != nil && len(f.segments) > old {
		err = errors.Join(err, f.drop(f.segments[old]))
	}
	return err
}

// release removes the segments that have no frames after lsn. It keeps the last segment while its file is open.
func (f *segmentSet) release(lsn LSN) error {
	for len(f.segments) > 0 && f.segments[0].last <= lsn && (len(f.segments) > 1 || f.segments[0].file == nil) {
		if err := f.drop(f.segments[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (f *segmentSet) close() (err error) {
	for _, s := range f.segments {
		err = errors.Join(err, s.close())
	}
	return err
}
