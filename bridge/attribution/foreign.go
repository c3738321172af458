package attribution

import (
	"strings"

	"github.com/relayfs/relayfs/bridge/textmerge"
)

// A writer may amend its own pending suggestions, and nobody else's: what a
// person typed, be it as a mark by hand or inside of somebody's addition, is
// never changed without a mark. Marks carry no author in the text, so who typed
// what is read from the document.

// Foreign says which marks and comments of a marked text are not entirely by the author
// (diffwrap.Options.Foreign).
func (x *Layout) Foreign(author string) func(start, end int) bool {
	var places map[int]int
	return func(start, end int) bool {
		if k, ok := x.MarkAt(start); ok {
			return x.Owners[k].whole != author
		}
		if places == nil {
			places = openersIn(x.Raw)
		}
		from := places[start] // of a comment
		return !x.wroteComment(from, from+textmerge.UTF16Len(x.Raw[start:end]), author)
	}
}

// openersIn are the UTF-16 positions at which comments may begin, by offset.
func openersIn(text string) map[int]int {
	places := make(map[int]int)
	cursor := textmerge.NewCursor(text)
	for at := 0; ; at++ {
		i := strings.Index(text[at:], "{>>")
		if i < 0 {
			return places
		}
		at += i
		places[at] = cursor.PosAt(at)
	}
}
