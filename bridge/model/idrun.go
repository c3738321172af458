package model

import (
	"encoding/json"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// IDRun names Len units of a document's text whose identities follow one another.
// Until a change is carried out, what it is about is named by places in the text
// instead: Client is 0 then, and Clock the place in UTF-16 units.
type IDRun struct{ Client, Clock, Len uint64 }

// MarshalJSON writes a run in short: there may be many.
func (r IDRun) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]uint64{r.Client, r.Clock, r.Len})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *IDRun) UnmarshalJSON(data []byte) error {
	var v [3]uint64
	err := json.Unmarshal(data, &v)
	*r = IDRun{v[0], v[1], v[2]}
	return err
}

// RunOf is a run of a document as it is kept.
func RunOf(r ycrdt.Run) IDRun {
	return IDRun{Client: uint64(r.ID.Client), Clock: r.ID.Clock, Len: uint64(r.Len)}
}

// Run is r as the document has it.
func (r IDRun) Run() ycrdt.Run {
	return ycrdt.Run{ID: ycrdt.ID{Client: ycrdt.ClientID(r.Client), Clock: r.Clock}, Len: int(r.Len)}
}

// Last names the last unit.
func (r IDRun) Last() ycrdt.ID { return r.Part(r.Len-1, 1).Run().ID }

// Part is the n units of the run from the one at off on.
func (r IDRun) Part(off, n uint64) IDRun { return IDRun{r.Client, r.Clock + off, n} }

// PlaceRun names units by where they are.
func PlaceRun(from, to int) IDRun { return IDRun{Clock: uint64(from), Len: uint64(to - from)} }
