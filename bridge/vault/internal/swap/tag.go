package swap

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/folder"
)

// The names of temp files are, with the parts that not all of them have in brackets:
//
//	.relayfs-PROCESS-NUMBER[-TAG][-MTIME-SIZE.old].tmp
//
// MTIME-SIZE.old is on a pre-image that was found to be what the swap expected, so that
// its content is in the note's history. It says in which state the file was, in case
// somebody writes to it yet.

// tag says what a new file is for: the note, by a hash of its path, its modification time,
// and the CRC-32C of its bytes.
type tag struct {
	path    uint64
	modTime int64
	sum     uint32
}

func tagOf(rel string, c Content) tag {
	return tag{hashOf(rel), c.ModTime.UnixNano(), sumOf(c.Data)}
}

func hashOf(rel string) uint64 {
	sum := sha256.Sum256([]byte(rel))
	return binary.BigEndian.Uint64(sum[:])
}

func sumOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

func (t tag) String() string { return fmt.Sprintf("%016x-%x-%08x", t.path, t.modTime, t.sum) }

// parseTag reads the tag in the name of a temp file.
func parseTag(name string) (t tag, ok bool) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(name, folder.TempPrefix), folder.TempSuffix), "-")
	if len(parts) < 5 { // process, number, tag
		return t, false
	}
	n, err := fmt.Sscanf(strings.Join(parts[2:5], " "), "%16x %x %8x", &t.path, &t.modTime, &t.sum)
	return t, err == nil && n == 3
}

// describes says whether a file has the modification time and the bytes of the tag.
func (t tag) describes(dir disk.Dir, name string, info *disk.Info) bool {
	if info.ModTime != t.modTime {
		return false
	}
	data, _, _, err := dir.ReadFile(name)
	return err == nil && sumOf(data) == t.sum
}

const displacedSuffix = ".old" + folder.TempSuffix

func displacedName(name string, st model.Stamp) string {
	return fmt.Sprintf("%s-%x-%x%s", strings.TrimSuffix(name, folder.TempSuffix), st.ModTime, st.Size, displacedSuffix)
}

// isDisplaced says whether a temp file is such a pre-image, in the state that info describes.
func isDisplaced(name string, info *disk.Info) bool {
	return strings.HasSuffix(name, fmt.Sprintf("-%x-%x%s", info.ModTime, info.Size, displacedSuffix))
}
