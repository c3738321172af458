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

// The names of temp files have the following form. Only files that are to become notes have a tag.
//
//	.relayfs-PROCESS-NUMBER[-TAG].tmp

// tag identifies the note and the content of a temp file. From the tag the next process determines the state that a
// crash has left: whether the file got the note's name, whether its bytes are complete, and whether the file under the
// temp name is the pre-image, whose text is in the note's history.
type tag struct {
	path    uint64 // hash of the note's path
	modTime int64  // modification time of the new file
	sum     uint32 // CRC-32C of the new file's bytes
	pre     preImage
}

// preImage is the state of the file that the swap displaces. The zero value means that there is none.
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

func parseTag(name string) (t tag, ok bool) {
	parts := strings.SplitN(strings.TrimSuffix(strings.TrimPrefix(name, vaultdir.TempPrefix), vaultdir.TempSuffix), "-", 3)
	if len(parts) < 3 { // process, number and tag
		return t, false
	}
	_, err := fmt.Sscanf(parts[2], tagFormat, &t.path, &t.modTime, &t.sum, &t.pre.inode, &t.pre.modTime, &t.pre.size)
	return t, err == nil && t.String() == parts[2]
}

// describes reports whether a file is the new file of the swap and is complete.
func (t tag) describes(dir disk.Dir, name string, info *disk.Info) bool {
	return info.ModTime == t.modTime && t.isWhole(dir, name)
}

func (t tag) isWhole(dir disk.Dir, name string) bool {
	data, _, _, err := disk.ReadFile(dir, name)
	return err == nil && sumOf(data) == t.sum
}

// made reports whether a temp file is the new file of the swap, complete or as a crash has left it. A new file gets its
// modification time last. Before that it is empty or complete, except after a power cut or a kill during a long write.
func (t tag) made(dir disk.Dir, name string, info *disk.Info) bool {
	return info.ModTime == t.modTime || info.Size == 0 || t.isWhole(dir, name)
}

// isPreImage reports whether a file is the unchanged pre-image.
func (t tag) isPreImage(info *disk.Info) bool {
	return t.pre != preImage{} && t.pre == preImageOf(info)
}
