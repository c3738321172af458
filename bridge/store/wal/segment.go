package wal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/disk"
)

const (
	magic       = "rfswal01"
	headerSize  = 40
	frameHeader = 16
	suffix      = ".seg"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// segment is one file of the log.
type segment struct {
	name   string
	number uint64
	first  LSN
	last   LSN // first-1 while it is empty
	salt   uint64

	file   disk.File // nil unless frames are written, or were and are not synced yet
	end    int64     // behind the last frame
	zeroed int64     // up to where the file is written ahead
	limit  int64     // how long it may become
}

func nameOf(number uint64) string { return fmt.Sprintf("%016x%s", number, suffix) }

func numberOf(name string) (uint64, bool) {
	hex, ok := strings.CutSuffix(name, suffix)
	number, err := strconv.ParseUint(hex, 16, 64)
	return number, ok && err == nil && nameOf(number) == name
}

func frameSize(body []byte) int64 { return frameHeader + int64(len(body)) }

// find lists the segments that are in the folder, oldest first. Files without a header
// of their own are spares.
func (l *Log) find() ([]*segment, error) {
	names, err := l.dir.Names(-1)
	if err != nil {
		return nil, err
	}
	var found []*segment
	for _, name := range names {
		number, ok := numberOf(name)
		if !ok {
			continue
		}
		l.number = max(l.number, number)
		s, err := l.readHeader(name, number)
		if err != nil {
			return nil, err
		}
		if s == nil {
			l.spares = append(l.spares, name)
			continue
		}
		found = append(found, s)
	}
	slices.SortFunc(found, func(a, b *segment) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	return found, nil
}

// readHeader returns nil for a file that has none, or another's.
func (l *Log) readHeader(name string, number uint64) (*segment, error) {
	f, err := l.dir.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := make([]byte, headerSize)
	if _, err := f.ReadAt(h, 0); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, err
	}
	if string(h[:8]) != magic || binary.LittleEndian.Uint64(h[8:]) != number ||
		crc32.Checksum(h[:32], castagnoli) != binary.LittleEndian.Uint32(h[32:]) {
		return nil, nil
	}
	return &segment{
		name: name, number: number, first: LSN(binary.LittleEndian.Uint64(h[16:])),
		salt: binary.LittleEndian.Uint64(h[24:]),
	}, nil
}

func (s *segment) header() []byte {
	h := binary.LittleEndian.AppendUint64([]byte(magic), s.number)
	h = binary.LittleEndian.AppendUint64(h, uint64(s.first))
	h = binary.LittleEndian.AppendUint64(h, s.salt)
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	return append(h, 0, 0, 0, 0)
}

// frames calls fn with the frames of the segment up to the first that is not whole.
func (s *segment) frames(f disk.File, fn func(LSN, []byte) error) error {
	info, err := f.Info()
	if err != nil {
		return err
	}
	head := make([]byte, frameHeader)
	var body []byte
	for at, lsn := int64(headerSize), s.first; at+frameHeader <= info.Size; lsn++ {
		if _, err := f.ReadAt(head, at); err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(head))
		if n == 0 || at+frameHeader+n > info.Size || LSN(binary.LittleEndian.Uint64(head[8:])) != lsn {
			return nil
		}
		body = slices.Grow(body[:0], int(n))[:n]
		if _, err := f.ReadAt(body, at+frameHeader); err != nil {
			return err
		}
		if s.sum(lsn, body) != binary.LittleEndian.Uint32(head[4:]) {
			return nil
		}
		if err := fn(lsn, body); err != nil {
			return err
		}
		at += frameHeader + n
	}
	return nil
}

// sum is the checksum of a frame.
func (s *segment) sum(lsn LSN, body []byte) uint32 {
	head := binary.LittleEndian.AppendUint64(nil, s.salt)
	head = binary.LittleEndian.AppendUint64(head, uint64(lsn))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(body)))
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, body)
}

// begin makes a new segment with room for a frame. mu is held.
func (l *Log) begin(first LSN, room int64) (*segment, error) {
	number := l.number + 1
	s := &segment{name: nameOf(number), number: number, first: first, last: first - 1, salt: newSalt()}
	s.limit = max(l.size, headerSize+room)
	if n := len(l.spares); n > 0 {
		switch err := l.dir.Rename(l.spares[n-1], l.dir, s.name); {
		case err == nil:
			l.spares = l.spares[:n-1]
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	l.renamed = true
	var err error
	if s.file, err = l.dir.Open(s.name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	l.number = number
	var info disk.Info
	if info, err = s.file.Info(); err == nil {
		s.end, s.zeroed = headerSize, max(info.Size, headerSize)
		_, err = s.file.WriteAt(s.header(), 0)
	}
	if err != nil {
		return nil, errors.Join(err, l.drop(s))
	}
	l.segments = append(l.segments, s)
	return s, nil
}

// drop does away with a segment that has no frames. mu is held.
func (l *Log) drop(s *segment) error {
	l.segments = slices.DeleteFunc(l.segments, func(x *segment) bool { return x == s })
	return errors.Join(s.close(), l.dir.Remove(s.name))
}

func newSalt() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// room is how long a frame may be that is appended.
func (s *segment) room() int64 { return s.limit - s.end }

// append writes a frame. After an error the next one is written over what there is of it.
func (s *segment) append(lsn LSN, body []byte) error {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, frameSize(body)), uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, s.sum(lsn, body))
	b = binary.LittleEndian.AppendUint64(b, uint64(lsn))
	b = append(b, body...)
	s.writeAhead(s.end + int64(len(b)))
	if _, err := s.file.WriteAt(b, s.end); err != nil {
		return err
	}
	s.end += int64(len(b))
	s.last = lsn
	s.zeroed = max(s.zeroed, s.end)
	return nil
}

// writeAhead makes sure that the file is written up to at least end. If it cannot be,
// the frame itself will say so, or fit.
func (s *segment) writeAhead(end int64) {
	if end <= s.zeroed {
		return
	}
	to := min(s.limit, (end+writeAhead-1)/writeAhead*writeAhead)
	if to <= s.zeroed {
		return
	}
	if n, err := s.file.WriteAt(make([]byte, to-s.zeroed), s.zeroed); err == nil {
		s.zeroed += int64(n)
	}
}

func (s *segment) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
