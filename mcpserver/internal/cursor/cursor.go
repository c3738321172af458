package cursor

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// A list or a search that does not fit into one answer goes on at a cursor. It
// holds the key of what was listed last, a path or a place in a text, and not its
// number: notes that come and go meanwhile move nothing into or out of the rest.
// In front is a checksum over the tool, the arguments and the key, so that what a
// model has mistyped, or taken from another search, is refused.

// Listing is what a cursor belongs to: a tool, and the arguments that decide what
// it lists.
type Listing struct {
	tool string
	args string
}

// Of describes a call. args are its arguments without the cursor and
// without those that say how much one answer is to hold.
func Of(tool string, args any) Listing { return Listing{tool, answer.PlainJSON(args)} }

const checksumSize = 6

func (l Listing) checksum(key []byte) []byte {
	sum := sha256.Sum256([]byte(l.tool + "\x00" + l.args + "\x00" + string(key)))
	return sum[:checksumSize]
}

// Cursor says that the listing goes on after key.
func (l Listing) Cursor(key any) string {
	raw, err := json.Marshal(key)
	if err != nil {
		panic("cursor: cursor: " + err.Error()) // a key that is not JSON
	}
	return base64.RawURLEncoding.EncodeToString(append(l.checksum(raw), raw...))
}

// After reads a cursor into key. It says false if none was given.
func (l Listing) After(cursor string, key any) (given bool, err error) {
	cursor = strings.TrimSpace(cursor)
	if cursor == "" {
		return false, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil && len(raw) > checksumSize && string(raw[:checksumSize]) == string(l.checksum(raw[checksumSize:])) {
		err = json.Unmarshal(raw[checksumSize:], key)
		if err == nil {
			return true, nil
		}
	}
	return false, answer.WrongArgument("The argument \"cursor\" is not one that %s gave for these arguments. "+
		"Give it exactly as next_cursor says, with the other arguments as they were, or leave it out to begin anew.", l.tool)
}

// MoreAt is what a text result says of the cursor at which it goes on.
func MoreAt(shown, cursor string) string {
	return fmt.Sprintf("[%s next_cursor: %q. Call again with it as cursor and the same other arguments to see more.]", shown, cursor)
}

// spot is a place in a text that may change meanwhile. It is found again if only
// what is before it has changed, or only what is behind it.
type spot struct {
	Off    int    `json:"o,omitzero"`
	Rest   int    `json:"r,omitzero"`
	Before uint32 `json:"b,omitzero"`
	Behind uint32 `json:"e,omitzero"`
}

// SpotAt is the place at off in text.
func SpotAt(text string, off int) spot {
	off = min(off, len(text))
	return spot{off, len(text) - off, crc32.ChecksumIEEE([]byte(text[:off])), crc32.ChecksumIEEE([]byte(text[off:]))}
}

// In is where the place is in text. Where both sides have changed it is the
// beginning: some of the text is listed again then, and none is left out.
func (s spot) In(text string) int {
	if s.Off >= 0 && s.Off <= len(text) && crc32.ChecksumIEEE([]byte(text[:s.Off])) == s.Before {
		return s.Off
	}
	off := len(text) - s.Rest
	if s.Rest >= 0 && off >= 0 && crc32.ChecksumIEEE([]byte(text[off:])) == s.Behind {
		return off
	}
	return 0
}

// Reached is how far a search through notes has come: behind a place in one.
type Reached struct {
	Path string `json:"p"`
	Spot spot   `json:"s,omitzero"`
}

// Reached reads a cursor of a search through notes; nil if none was given.
func (l Listing) Reached(cursor string) (*Reached, error) {
	var at Reached
	if given, err := l.After(cursor, &at); err != nil || !given {
		return nil, err
	}
	return &at, nil
}
