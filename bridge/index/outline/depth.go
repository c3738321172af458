package outline

import (
	"fmt"

	"github.com/relayfs/relayfs/diffwrap/block"
)

// DepthError is the error for a text with lists and quotes that nest more deeply than [block.MaxDepth]. Line is the
// first line of the note that does, from 1.
type DepthError struct{ Line int }

func (e *DepthError) Error() string {
	return fmt.Sprintf("line %d: lists and quotes are nested more than %d deep; their markers are read as plain text", e.Line, block.MaxDepth)
}
