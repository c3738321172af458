package ycrdt

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf16"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// Undefined is JavaScript's undefined, which Yjs tells from null.
type Undefined = lib0.Undefined

// BigInt is a JavaScript BigInt.
type BigInt = lib0.BigInt

// A Subdoc is what a document knows of a document nested in it: its name. Its
// content travels separately.
type Subdoc struct {
	GUID string
}

// A Foreign value stands for content that is kept and relayed but for which
// this package has no API, such as an XML element.
type Foreign struct {
	Kind string // the name of the type in Yjs, such as "XmlElement"
}

var foreignNames = map[uint8]string{
	typeXMLElement: "XmlElement", typeXMLFragment: "XmlFragment",
	typeXMLHook: "XmlHook", typeXMLText: "XmlText",
}

// values appends the units of it, as the application sees them, to dst.
func (s *store) values(doc *Doc, it *item, dst []any) []any {
	switch it.kind {
	case kindAny:
		r := lib0.NewReader(s.bytesOf(it))
		for range it.length {
			dst = append(dst, r.Any())
		}
	case kindJSON:
		r := lib0.NewReader(s.bytesOf(it))
		for range it.length {
			dst = append(dst, jsonValue(r.Bytes()))
		}
	case kindBinary:
		dst = append(dst, slices.Clone(s.bytesOf(it)))
	case kindEmbed:
		dst = append(dst, jsonValue(s.bytesOf(it)))
	case kindString:
		for _, unit := range utf16.Encode([]rune(string(s.bytesOf(it)))) {
			dst = append(dst, string(rune(unit))) // half a pair becomes U+FFFD
		}
	case kindType:
		b := s.branches[it.off]
		if t := s.wrap(doc, b); t != nil {
			dst = append(dst, t)
		} else {
			dst = append(dst, Foreign{foreignNames[b.typeRef]})
		}
	case kindDoc:
		r := lib0.NewReader(s.bytesOf(it))
		dst = append(dst, Subdoc{string(r.Bytes())})
	}
	return dst
}

// lastValue returns the value of a key whose current item is it.
func (s *store) lastValue(doc *Doc, it *item) any {
	values := s.values(doc, it, nil)
	if len(values) == 0 {
		return Undefined{}
	}
	return values[len(values)-1]
}

// jsonValue parses a JSON text that was checked when it arrived.
func jsonValue(text []byte) any {
	if string(text) == "undefined" {
		return Undefined{}
	}
	var v any
	if json.Unmarshal(text, &v) != nil {
		return nil // a number beyond float64, as only a hostile peer writes it
	}
	return v
}

// maxJSONDepth bounds how deep nested types are followed by ToJSON.
const maxJSONDepth = 1000

// toJSON returns v in a form that package encoding/json accepts.
func (s *store) toJSON(v any, depth int) any {
	switch v := v.(type) {
	case sharedType:
		if depth > maxJSONDepth {
			return nil
		}
		return v.json(s, depth+1)
	case Foreign:
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	return v
}

// encodeValue appends the any form of v.
func encodeValue(dst []byte, v any) ([]byte, error) {
	out, err := lib0.AppendAny(dst, v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrValue, err)
	}
	return out, nil
}

// checkValue reports an error if v cannot be stored.
func checkValue(v any) error {
	switch v := v.(type) {
	case []byte:
		return nil
	case sharedType:
		if h := v.base(); h.doc != nil || h.branch.Load() != nil {
			return fmt.Errorf("%w: the %T is part of a document already", ErrValue, v)
		}
		return v.check()
	}
	_, err := encodeValue(nil, v)
	return err
}

// insertValue inserts one value that passed checkValue between left and right
// and returns its item.
func (tx *Txn) insertValue(v any, left, right ref, parent int32) (ref, error) {
	switch v := v.(type) {
	case sharedType:
		if v.base().doc != nil { // one value twice in a call
			return left, fmt.Errorf("%w: the %T is part of a document already", ErrValue, v)
		}
		r := tx.nest(v, left, right, parent)
		return r, v.fill(tx)
	case []byte:
		return tx.insertContent(kindBinary, v, 1, left, right, parent), nil
	default:
		content, err := encodeValue(nil, v)
		if err != nil {
			return 0, err
		}
		return tx.insertContent(kindAny, content, 1, left, right, parent), nil
	}
}

// insertContent inserts an item with the given content of n units.
func (tx *Txn) insertContent(kind uint8, content []byte, n int, left, right ref, parent int32) ref {
	s := tx.store
	r := tx.newLocal(left, right, parent, kind)
	it := &s.items[r]
	it.off, it.size = s.put(content)
	it.length = uint32(n)
	tx.integrate(r)
	return r
}
