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

func (r IDRun) Last() ycrdt.ID {
	return ycrdt.ID{Client: ycrdt.ClientID(r.Client), Clock: r.Clock + r.Len - 1}
}

// Part is the n units of the run from the one at off on.
func (r IDRun) Part(off, n uint64) IDRun { return IDRun{r.Client, r.Clock + off, n} }

// PlaceRun names units by where they are.
func PlaceRun(from, to int) IDRun { return IDRun{Clock: uint64(from), Len: uint64(to - from)} }
