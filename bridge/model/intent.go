package model

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap"
)

// Intent is what a write is about to do: what its record will say beside the
// Update, and which characters it makes anew. That cannot be told afterwards from
// the two texts: a line that was written twice looks like either of the two.
type Intent struct {
	Record
	Edits []EditSpan `json:"edits,omitempty"`
	// Text is what the file is about to hold, if the write ends before the Store has
	// its record: somebody may have changed the file before it is asked for.
	Text string `json:"text,omitempty"`
	// Before is the text that the file holds, if it is a decision's and the Store does
	// not have it.
	Before string `json:"before,omitempty"`
	// Placed tells where new text stands among deleted characters, for an undo.
	Placed []Placement `json:"placed,omitempty"`
}

// EditSpan is an edit without its text, which the file holds: New bytes in the place
// of Len bytes at Off. A script of them is as in diffwrap.Edit.
type EditSpan struct {
	Off int `json:"off"`
	Len int `json:"len,omitempty"`
	New int `json:"new,omitempty"`
}

// Script are the edits that the write made of have, if they lead from there to raw:
// not if the document was in another state.
func (in *Intent) Script(have, raw string) (edits []diffwrap.Edit, ok bool) {
	pos, at := 0, 0 // in have and in raw
	for _, s := range in.Edits {
		if s.Off < pos || s.Off > len(have) || s.Len < 0 || s.Len > len(have)-s.Off {
			return nil, false
		}
		same := s.Off - pos
		if same > len(raw)-at || have[pos:s.Off] != raw[at:at+same] {
			return nil, false
		}
		at += same
		if s.New < 0 || s.New > len(raw)-at || !utf8.ValidString(have[s.Off:s.Off+s.Len]) || !utf8.ValidString(raw[at:at+s.New]) {
			return nil, false
		}
		edits = append(edits, diffwrap.Edit{Off: s.Off, Len: s.Len, New: raw[at : at+s.New]})
		pos, at = s.Off+s.Len, at+s.New
	}
	return edits, len(edits) > 0 && have[pos:] == raw[at:]
}

// Leads says whether the write made raw of have.
func (in *Intent) Leads(have, raw string) bool {
	_, ok := in.Script(have, raw)
	return ok
}

// Beginning is the text that the write made raw of; "" if that is not to be known.
func (in *Intent) Beginning(raw string) string {
	if in.Decision != nil {
		return cmp.Or(in.Before, in.Decision.Before) // older versions kept it there
	}
	if len(in.Edits) == 0 {
		return ""
	}
	var have strings.Builder
	at, cut := 0, 0 // in raw, and how much of that is inserted
	for _, e := range in.Edits {
		off := e.Off + cut
		if e.Len > 0 || off < at || off > len(raw) || e.New < 0 || e.New > len(raw)-off || !utf8.ValidString(raw[off:off+e.New]) {
			return ""
		}
		have.WriteString(raw[at:off])
		at, cut = off+e.New, cut+e.New
	}
	return have.String() + raw[at:]
}
