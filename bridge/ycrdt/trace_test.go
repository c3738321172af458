package ycrdt

import (
	"math/rand/v2"
)

// The public trace of the field, known as B4, is the history of a paper by Martin Kleppmann: 182,315 insertions and 77,463
// deletions of one character, after which 104,852 characters are left. No package registry carries it, so the benchmarks use
// a synthetic one of the same size, mix and number of structs, always the same.
const (
	b4Edits   = 259_778
	b4Inserts = 182_315
	b4Jump    = 16 // gives 10,849 structs; B4 has 10,971
)

// A tracedEdit deletes one unit at pos if char is 0, and else inserts char.
type tracedEdit struct {
	client uint32
	pos    int
	char   byte
}

// A typist is one writer of a trace, with a cursor.
type typist struct {
	client uint32
	pos    int
}

// newTrace makes a trace of n edits by the given number of clients. They type in bursts; a burst goes forward or takes back,
// and now and then the cursor jumps. jump is how many bursts pass between jumps.
func newTrace(n, clients, jump int) []tracedEdit {
	r := rand.New(rand.NewPCG(uint64(n), uint64(clients)))
	typists := make([]typist, clients)
	for i := range typists {
		typists[i].client = uint32(1 + i)
	}
	edits := make([]tracedEdit, 0, n)
	length, deleted := 0, 0
	for len(edits) < n {
		t := &typists[r.IntN(clients)]
		if t.pos = min(t.pos, length); r.IntN(jump) == 0 {
			t.pos = r.IntN(length + 1)
		}
		burst := min(1+r.IntN(24), n-len(edits))
		// As many deletions as in B4: 77,463 of 259,778 edits.
		if back := deleted*b4Edits < (b4Edits-b4Inserts)*len(edits); back {
			for ; burst > 0 && t.pos > 0; burst-- {
				t.pos--
				length--
				deleted++
				edits = append(edits, tracedEdit{t.client, t.pos, 0})
			}
			continue
		}
		for ; burst > 0; burst-- {
			edits = append(edits, tracedEdit{t.client, t.pos, "abcdefghijklmnopqrstuvwxyz    \n"[r.IntN(31)]})
			t.pos++
			length++
		}
	}
	return edits
}

// play makes the edits of a trace, one transaction each. It switches the client id of the document as the trace has it.
func play(d *Doc, trace []tracedEdit) {
	text := d.Text("t")
	for _, e := range trace {
		if ClientID(e.client) != d.ClientID() {
			d.clientID.Store(uint64(e.client))
		}
		d.Transact(func(tx *Txn) { makeEdit(tx, text, e) })
	}
}

func makeEdit(tx *Txn, text *Text, e tracedEdit) {
	if e.char == 0 {
		text.Delete(tx, e.pos, 1)
	} else {
		text.Insert(tx, e.pos, string(rune(e.char)))
	}
}
