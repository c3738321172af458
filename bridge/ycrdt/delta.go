package ycrdt

import (
	"encoding/json"
	"strings"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/edit"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// A textDelta computes the delta of a transaction for a Text in the way of Yjs
// (YTextEvent.delta), formats included.
type textDelta struct {
	tx      *Txn
	ops     []TextOp
	op      opKind
	length  int // of a retain or delete
	text    strings.Builder
	current edit.Attributes   // formats that hold here after tx
	old     edit.Attributes   // formats that held here before tx
	set     map[string]string // formats that tx changed here
}

type opKind uint8

const (
	opNone opKind = iota
	opRetain
	opDelete
	opInsert
)

func (tx *Txn) textDelta(b *ytypes.Branch) []TextOp {
	d := &textDelta{tx: tx, current: edit.Attributes{}, old: edit.Attributes{}, set: map[string]string{}}
	s := tx.edit.Store
	for r := b.Start; r != 0; r = s.Items[r].Right {
		switch it := &s.Items[r]; it.Kind {
		case wire.KindString:
			d.string(it)
		case wire.KindEmbed, wire.KindType:
			d.embed(it)
		case wire.KindFormat:
			d.format(it)
		}
	}
	d.flush()
	for n := len(d.ops); n > 0 && d.ops[n-1].Retain > 0 && d.ops[n-1].Attributes == nil; n-- {
		d.ops = d.ops[:n-1]
	}
	return d.ops
}

// begin makes the current op one of the given kind.
func (d *textDelta) begin(op opKind) {
	if d.op != op {
		d.flush()
		d.op = op
	}
}

// flush finishes the current op.
func (d *textDelta) flush() {
	switch {
	case d.op == opDelete && d.length > 0:
		d.ops = append(d.ops, TextOp{Delete: d.length})
	case d.op == opRetain && d.length > 0:
		d.ops = append(d.ops, TextOp{Retain: d.length, Attributes: parseAttributes(d.set)})
	case d.op == opInsert && d.text.Len() > 0:
		d.ops = append(d.ops, TextOp{Insert: d.text.String(), Attributes: parseAttributes(d.current)})
	}
	d.op, d.length = opNone, 0
	d.text.Reset()
}

func parseAttributes(a map[string]string) map[string]any {
	if len(a) == 0 {
		return nil
	}
	out := make(map[string]any, len(a))
	for k, v := range a {
		var parsed any
		if json.Unmarshal([]byte(v), &parsed) == nil {
			out[k] = parsed
		}
	}
	return out
}

func (d *textDelta) string(it *structs.Item) {
	from, adds := d.tx.edit.Adds(it)
	if !adds {
		from = it.Units()
	}
	if from > 0 {
		d.existing(it, int(from))
	}
	if adds && !it.Deleted() {
		d.begin(opInsert)
		prefix, rest := wire.SliceContent(wire.KindString, d.tx.edit.Store.Arena.Of(it), from)
		d.text.WriteString(prefix)
		d.text.Write(rest)
	}
}

// existing deals with n units that were there before tx.
func (d *textDelta) existing(it *structs.Item, n int) {
	switch {
	case !it.Deleted():
		d.begin(opRetain)
	case d.tx.edit.Removes(it):
		d.begin(opDelete)
	default:
		return
	}
	d.length += n
}

func (d *textDelta) embed(it *structs.Item) {
	if _, adds := d.tx.edit.Adds(it); !adds {
		d.existing(it, 1)
	} else if !it.Deleted() {
		d.flush()
		v := d.tx.doc.lastValue(it)
		d.ops = append(d.ops, TextOp{Embed: v, Attributes: parseAttributes(d.current)})
	}
}

func (d *textDelta) format(it *structs.Item) {
	key, value := edit.FormatOf(d.tx.edit.Store, it)
	_, adds := d.tx.edit.Adds(it)
	effect := true
	switch {
	case adds && !it.Deleted():
		effect = d.formatAdded(key, value)
	case adds:
	case d.tx.edit.Removes(it):
		d.formatRemoved(key, value)
	case !it.Deleted():
		effect = d.formatKept(key, value)
	}
	if !it.Deleted() && effect {
		if d.op == opInsert {
			d.flush()
		}
		d.current.Set(key, value)
	}
}

// formatAdded and formatKept report whether the format has an effect. Yjs
// deletes one that has none on this occasion.
func (d *textDelta) formatAdded(key, value string) bool {
	if d.current.Get(key) == value {
		return value == edit.JSONNull
	}
	d.endRetain()
	if value == d.old.Get(key) {
		delete(d.set, key)
	} else {
		d.set[key] = value
	}
	return true
}

func (d *textDelta) formatRemoved(key, value string) {
	d.old[key] = value
	if current := d.current.Get(key); current != value {
		d.endRetain()
		d.set[key] = current
	}
}

func (d *textDelta) formatKept(key, value string) bool {
	d.old[key] = value
	attr, ok := d.set[key]
	switch {
	case !ok:
		return true
	case attr == value:
		return value == edit.JSONNull
	}
	d.endRetain()
	if value == edit.JSONNull {
		delete(d.set, key)
	} else {
		d.set[key] = value
	}
	return true
}

func (d *textDelta) endRetain() {
	if d.op == opRetain {
		d.flush()
	}
}
