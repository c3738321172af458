package model

import (
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Past is what a Store knows of the states that a document had.
type Past struct {
	// Update holds every text that the document had, as far as that is kept.
	Update []byte
	// Begin is the oldest state that is known: what came before it, if its Seq is not 0, was
	// kept too long ago, or by an older version. Its time is that of the last change in it.
	Begin Moment
	// Moments are what led from there to the newest state, oldest first.
	Moments []Moment
	Moves   []Moved // oldest first
}

// Moment is a change of a document, or all those that one author made in one minute: the
// record of the last one, without its update.
type Moment struct {
	Record
	Did *ycrdt.Snapshot // the units that it added and deleted, nil if that is not known any more
}

// Moved says that a document got another path.
type Moved struct {
	Time time.Time `json:"time"`
	From Path      `json:"from"`
	To   Path      `json:"to"`
	// After is the number of the last record before.
	After uint64 `json:"after"`
}
