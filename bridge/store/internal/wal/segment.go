package wal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/disk"
)

const (
	magic       = "rfswal02"
	headerSize  = 32
	frameHeader = 16
	suffix      = ".seg"
	// writeAhead is the number of bytes that are filled with zeros at a time.
	writeAhead = 256 << 10
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	zeros      [writeAhead]byte
)

type segment struct {
	name  string
	first LSN
	last  LSN // LSN of the last frame; first-1 if there is none
	salt  uint64

	file           disk.File // nil after close and after a failed sync
	end            int64     // offset of the end of the last frame
	preallocatedTo int64     // offset of the end of the zero-filled part
	limit          int64     // maximum length; 0 for a segment of an earlier process
}

func nameOf(number uint64) string { return fmt.Sprintf("%016x%s", number, suffix) }

func numberOf(name string) (uint64, bool) {
	hex, ok := strings.CutSuffix(name, suffix)
	number, err := strconv.ParseUint(hex, 16, 64)
	return number, ok && err == nil && nameOf(number) == name
}

func frameSize(body []byte) int64 { return frameHeader + int64(len(body)) }

func (s *segment) header() []byte {
	h := binary.LittleEndian.AppendUint64([]byte(magic), uint64(s.first))
	h = binary.LittleEndian.AppendUint64(h, s.salt)
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	return append(h, 0, 0, 0, 0)
}

// readHeader reads the header, and reports whether it is blank. A segment with a damaged header gets the largest LSN as
// its first LSN.
func (s *segment) readHeader() (blank bool, err error) {
	h := make([]byte, headerSize)
	if _, err := s.file.ReadAt(h, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	s.first = math.MaxUint64
	if string(h[:8]) == magic && crc32.Checksum(h[:24], castagnoli) == binary.LittleEndian.Uint32(h[24:]) {
		s.first, s.salt = LSN(binary.LittleEndian.Uint64(h[8:])), binary.LittleEndian.Uint64(h[16:])
	}
	return !slices.ContainsFunc(h, func(b byte) bool { return b != 0 }), nil
}

// frames calls fn with the frames of the segment before the first invalid frame. whole reports whether all frames are
// valid.
func (s *segment) frames(fn func(LSN, []byte) error) (whole bool, err error) {
	info, err := s.file.Info()
	if err != nil {
		return false, err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(s.file, headerSize, info.Size-headerSize), int(min(info.Size, writeAhead)))
	head := make([]byte, frameHeader)
	var body []byte
	for at, lsn := int64(headerSize), s.first; at+frameHeader <= info.Size; lsn++ {
		if _, err := io.ReadFull(r, head); err != nil {
			return false, err
		}
		n := int64(binary.LittleEndian.Uint32(head))
		if n == 0 || at+frameHeader+n > info.Size || LSN(binary.LittleEndian.Uint64(head[8:])) != lsn {
			return n == 0, nil
		}
		body = slices.Grow(body[:0], int(n))[:n]
		if _, err := io.ReadFull(r, body); err != nil {
			return false, err
		}
		if s.sum(lsn, body) != binary.LittleEndian.Uint32(head[4:]) {
			return false, nil
		}
		if err := fn(lsn, body); err != nil {
			return false, err
		}
		at += frameHeader + n
	}
	return true, nil
}

func (s *segment) sum(lsn LSN, body []byte) uint32 {
	head := binary.LittleEndian.AppendUint64(nil, s.salt)
	head = binary.LittleEndian.AppendUint64(head, uint64(lsn))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(body)))
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, body)
}

// append writes a frame. After an error the next frame overwrites it.
func (s *segment) append(lsn LSN, body []byte) error {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, frameSize(body)), uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, s.sum(lsn, body))
	b = binary.LittleEndian.AppendUint64(b, uint64(lsn))
	b = append(b, body...)
	if _, err := s.file.WriteAt(b, s.end); err != nil {
		return err
	}
	s.end += int64(len(b))
	s.last = lsn
	s.writeAhead()
	return nil
}

// writeAhead fills the space after the last frame with zeros, if the file ends there. It ignores errors: on a full disk,
// either writing the next frame fails or the frame fits.
func (s *segment) writeAhead() {
	to := min(s.limit, (s.end/writeAhead+1)*writeAhead)
	if s.end < s.preallocatedTo || s.end >= to {
		return
	}
	if _, err := s.file.WriteAt(zeros[:to-s.end], s.end); err == nil {
		s.preallocatedTo = to
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
