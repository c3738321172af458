package filereplace

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// The names of temp files are, with what not all of them have in brackets:
//
//	.relayfs-PROCESS-NUMBER[-TAG].tmp

// tag says what a file is for that is to become a note, so that the next process finds out
// what a crash has left: whether the file has got the name, whether its bytes are whole,
// and whether the file under the temp name is the pre-image, whose text the note's history
// has.
type tag struct {
	path    uint64 // a hash of the note's
	modTime int64  // of the file
	sum     uint32 // CRC-32C of its bytes
	pre     preImage
}

// preImage is the state of the file that was to be displaced; the zero value is none.
type preImage struct {
	inode         uint64
	modTime, size int64
}

func tagOf(rel string, c Content) tag {
	t := tag{path: hashOf(rel), modTime: c.ModTime.UnixNano(), sum: sumOf(c.Data)}
	if c.oldInfo != nil {
		t.pre = preImageOf(c.oldInfo)
	}
	return t
}

func preImageOf(info *disk.Info) preImage { return preImage{info.Inode, info.ModTime, info.Size} }

func hashOf(rel string) uint64 {
	sum := sha256.Sum256([]byte(rel))
	return binary.BigEndian.Uint64(sum[:])
}

func sumOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

const tagFormat = "%016x-%x-%08x-%x-%x-%x"

func (t tag) String() string {
	return fmt.Sprintf(tagFormat, t.path, t.modTime, t.sum, t.pre.inode, t.pre.modTime, t.pre.size)
}

// parseTag reads the tag in the name of a temp file.
func parseTag(name string) (t tag, ok bool) {
	parts := strings.SplitN(strings.TrimSuffix(strings.TrimPrefix(name, vaultdir.TempPrefix), vaultdir.TempSuffix), "-", 3)
	if len(parts) < 3 { // process, number, tag
		return t, false
	}
	_, err := fmt.Sscanf(parts[2], tagFormat, &t.path, &t.modTime, &t.sum, &t.pre.inode, &t.pre.modTime, &t.pre.size)
	return t, err == nil && t.String() == parts[2]
}

// describes says whether a file is the new one, with all of its bytes.
func (t tag) describes(dir disk.Dir, name string, info *disk.Info) bool {
	return info.ModTime == t.modTime && t.isWhole(dir, name)
}

func (t tag) isWhole(dir disk.Dir, name string) bool {
	data, _, _, err := dir.ReadFile(name)
	return err == nil && sumOf(data) == t.sum
}

// made says whether a temp file is the new one, as it was made or as a crash has left it. It gets
// its modification time last; until then it is empty or has all its bytes, except for a power cut, or a kill in
// the middle of a long write.
func (t tag) made(dir disk.Dir, name string, info *disk.Info) bool {
	return info.ModTime == t.modTime || info.Size == 0 || t.isWhole(dir, name)
}

// isPreImage says whether a file is the one that was to be displaced, as it was then.
func (t tag) isPreImage(info *disk.Info) bool {
	return t.pre != preImage{} && t.pre == preImageOf(info)
}
