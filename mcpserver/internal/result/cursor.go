package result

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// A cursor encodes the position at which a list or search continues. It contains the key of the last item (a path or a
// text position) instead of its number, so that concurrent changes do not shift the remaining items. A checksum of the
// tool, its arguments and the key detects cursors that are mistyped or belong to another call.

// Listing is the cursor argument together with the call that it belongs to. Tools that return lists embed a Listing in
// their arguments.
type Listing struct {
	Cursor string `arg:"cursor" is:"bound" doc:"next_cursor of the last answer"`

	tool, args string
}

// SetCall sets the call to which the cursor belongs. args must not include the paging arguments.
func (l *Listing) SetCall(tool string, args any) { l.tool, l.args = tool, PlainJSON(args) }

const checksumSize = 6

func (l Listing) checksum(key []byte) []byte {
	sum := sha256.Sum256([]byte(l.tool + "\x00" + l.args + "\x00" + string(key)))
	return sum[:checksumSize]
}

// cursorAt returns the cursor after the item with the given key. It panics if key cannot be encoded as JSON.
func (l Listing) cursorAt(key any) string {
	raw, err := json.Marshal(key)
	if err != nil {
		panic("cursor: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(append(l.checksum(raw), raw...))
}

// Decode decodes the cursor into key. given is false if the call has no cursor.
func (l Listing) Decode(key any) (given bool, err error) {
	cursor := strings.TrimSpace(l.Cursor)
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
	return false, InvalidArgument("The argument \"cursor\" was not returned by %s for these arguments. "+
		"Pass next_cursor unchanged with the same other arguments, or omit it to start again.", l.tool)
}

// Continue adds to a text result the cursor that continues after the item with the given key. shown describes the part
// of the list that is shown.
func (l Listing) Continue(res *Result, key any, shown string) {
	res.Next = l.cursorAt(key)
	res.Text = append(res.Text, fmt.Sprintf("[%s next_cursor: %q. Call again with it as cursor and the same other arguments to see more.]", shown, res.Next))
}

type Page struct {
	NextCursor string `json:"next_cursor,omitempty" doc:"Set if there is more: pass it as cursor with the same other arguments"`
}

// FitList returns build(shown, page) for as many items of rest as fit into a result, at most limit. rest has the remaining
// items of a list. show converts an item. key returns the cursor key of rest[i].
func FitList[T, S, R any](l Listing, rest []T, limit int, key func(i int) any, show func(T) S, build func(shown []S, page Page) R) R {
	shown := []S{}
	for cost := 0; len(shown) < min(len(rest), limit) && cost <= Max; {
		item := show(rest[len(shown)])
		shown, cost = append(shown, item), cost+StructuredCost(item)
	}
	return Fit(len(shown), func(m int) R {
		if m == len(rest) {
			return build(shown[:m], Page{})
		}
		return build(shown[:m], Page{l.cursorAt(key(m - 1))})
	})
}

// List returns the items after the cursor, at most limit, as many as fit into a result. The items must be sorted by key.
// show converts an item. listed are the items of the result.
func List[T, K, S, R any](l Listing, items []T, key func(T) K, compare func(a, b K) int, limit int, show func(T) S, build func(shown []S, page Page) R) (res R, listed []T, err error) {
	rest, err := Rest(l, items, key, compare)
	if err != nil {
		return res, nil, err
	}
	res = FitList(l, rest, limit, func(i int) any { return key(rest[i]) }, show, func(shown []S, page Page) R {
		listed = rest[:len(shown)]
		return build(shown, page)
	})
	return res, listed, nil
}

// Rest returns the items after the cursor. The items must be sorted by key.
func Rest[T, K any](l Listing, items []T, key func(T) K, compare func(a, b K) int) ([]T, error) {
	var last K
	given, err := l.Decode(&last)
	if err != nil || !given {
		return items, err
	}
	i, found := slices.BinarySearchFunc(items, last, func(item T, k K) int { return compare(key(item), k) })
	if found {
		i++
	}
	return items[i:], nil
}

// textPos is an offset that can be found again after a change of the text on one side of it.
type textPos struct {
	Off    int    `json:"o,omitzero"`
	Rest   int    `json:"r,omitzero"` // number of bytes after the offset
	Before uint32 `json:"b,omitzero"` // checksum of the text before the offset
	After  uint32 `json:"e,omitzero"`
}

// In returns the offset in text. It returns 0 if the text has changed on both sides. Then some text is listed again,
// but no text is skipped.
func (p textPos) In(text string) int {
	if p.Off >= 0 && p.Off <= len(text) && crc32.ChecksumIEEE([]byte(text[:p.Off])) == p.Before {
		return p.Off
	}
	off := len(text) - p.Rest
	if p.Rest >= 0 && off >= 0 && crc32.ChecksumIEEE([]byte(text[off:])) == p.After {
		return off
	}
	return 0
}

type SearchPos struct {
	Path string  `json:"p"`
	Pos  textPos `json:"s,omitzero"`
}

func SearchPosAt(p model.Path, text string, off int) SearchPos {
	off = min(off, len(text))
	return SearchPos{string(p), textPos{off, len(text) - off, crc32.ChecksumIEEE([]byte(text[:off])), crc32.ChecksumIEEE([]byte(text[off:]))}}
}

// SearchPos decodes the cursor of a search. It returns nil if there is no cursor.
func (l Listing) SearchPos() (*SearchPos, error) {
	var at SearchPos
	if given, err := l.Decode(&at); err != nil || !given {
		return nil, err
	}
	return &at, nil
}
