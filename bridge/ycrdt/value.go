package ycrdt

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// Undefined is JavaScript's undefined, which Yjs distinguishes from null.
type Undefined = lib0.Undefined

type BigInt = lib0.BigInt

// Object is a JavaScript object. It preserves the order of the keys, which map[string]any loses.
type Object = lib0.Object

// ErrAfterJSON is the error of [ParseJSON] for text after the value.
var ErrAfterJSON = lib0.ErrAfterJSON

// ParseJSON parses a JSON text as JSON.parse does: nil, bool, float64, string, []any or Object. It refuses numbers that
// are too large.
func ParseJSON(text []byte) (any, error) {
	return lib0.ParseJSON(text, func(n json.Number) (any, error) {
		f, err := n.Float64()
		if err != nil {
			return nil, fmt.Errorf("the number %.20s is too large", n)
		}
		return f, nil
	})
}

// FormatNumber returns a number as text. It returns .nan, .inf and -.inf, as in YAML, for the numbers that JSON lacks.
func FormatNumber(f float64) string { return lib0.FormatNumber(f) }

// ParseNumber returns an int64 if s is an integer that fits, and otherwise a float64.
func ParseNumber(s string) any { return lib0.ParseNumber(s) }

// AppendJSON appends a value as JSON.stringify writes it, with null for infinities and NaN.
func AppendJSON(dst []byte, v any) []byte {
	return lib0.AppendJSON(dst, v, func(float64) string { return "null" })
}

type Member = lib0.Member

// A Subdoc refers to a document that is nested in this document. The content of the Subdoc is synchronized separately.
type Subdoc struct {
	GUID string
}

// A Foreign value represents content that this package keeps and relays, but for which it has no API, such as an XML
// element.
type Foreign struct {
	Kind string // name of the type in Yjs, such as "XmlElement"
}

var foreignNames = map[uint8]string{
	wire.TypeXMLElement: "XmlElement", wire.TypeXMLFragment: "XmlFragment",
	wire.TypeXMLHook: "XmlHook", wire.TypeXMLText: "XmlText",
}

// values appends the values of an item to dst, in the form that the application receives.
func (d *Doc) values(it *structs.Item, dst []any) []any {
	s := d.store
	switch it.Kind {
	case wire.KindAny:
		r := lib0.NewReader(s.Arena.Of(it))
		for range it.Length {
			dst = append(dst, r.Any())
		}
	case wire.KindJSON:
		r := lib0.NewReader(s.Arena.Of(it))
		for range it.Length {
			dst = append(dst, jsonValue(r.Bytes()))
		}
	case wire.KindBinary:
		dst = append(dst, slices.Clone(s.Arena.Of(it)))
	case wire.KindEmbed:
		dst = append(dst, jsonValue(s.Arena.Of(it)))
	case wire.KindString:
		for _, unit := range utf16.Encode([]rune(string(s.Arena.Of(it)))) {
			dst = append(dst, string(rune(unit))) // half of a surrogate pair becomes U+FFFD
		}
	case wire.KindType:
		b := s.Branches[it.Off]
		if t := d.wrap(b); t != nil {
			dst = append(dst, t)
		} else {
			dst = append(dst, Foreign{foreignNames[b.TypeRef]})
		}
	case wire.KindDoc:
		r := lib0.NewReader(s.Arena.Of(it))
		dst = append(dst, Subdoc{string(r.Bytes())})
	}
	return dst
}

func (d *Doc) lastValue(it *structs.Item) any {
	values := d.values(it, nil)
	if len(values) == 0 {
		return Undefined{}
	}
	return values[len(values)-1]
}

// jsonValue parses a JSON text. The text was checked when it arrived.
func jsonValue(text []byte) any {
	if string(text) == "undefined" {
		return Undefined{}
	}
	v, _ := ParseJSON(text) // fails for a number beyond the range of float64, which only a hostile peer writes
	return v
}

func encodeValue(dst []byte, v any) ([]byte, error) {
	out, err := lib0.AppendAny(dst, v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrValue, err)
	}
	return out, nil
}

func checkValue(v any) error {
	switch v := v.(type) {
	case []byte:
		return nil
	case sharedType:
		if h := v.base(); h.doc != nil || h.branch.Load() != nil {
			return fmt.Errorf("%w: the %T is already part of a document", ErrValue, v)
		}
		return v.check()
	}
	_, err := encodeValue(nil, v)
	return err
}

// insertValue inserts one value that has passed checkValue between left and right, and returns the new item.
func (tx *Txn) insertValue(v any, left, right structs.Ref, parent int32) (structs.Ref, error) {
	switch v := v.(type) {
	case sharedType:
		if v.base().doc != nil { // the same value occurs twice in one call
			return left, fmt.Errorf("%w: the %T is already part of a document", ErrValue, v)
		}
		r := tx.nest(v, left, right, parent)
		return r, v.fill(tx)
	case []byte:
		return tx.edit.InsertContent(wire.KindBinary, v, 1, left, right, parent), nil
	default:
		content, err := encodeValue(nil, v)
		if err != nil {
			return 0, err
		}
		return tx.edit.InsertContent(wire.KindAny, content, 1, left, right, parent), nil
	}
}
