package lexical

import (
	"encoding/binary"
	"strings"
)

type posting struct {
	doc   uint32
	count uint8 // number of occurrences in the body, at most maxCount
	in    field // the other fields that have the term
}

type field uint8

const (
	inProperties field = 1 << iota
	inTags
	inHeadings
	inTitle
)

// maxCount is the largest count of a posting. More occurrences hardly raise the score of a term.
const maxCount = 15

// term is a term with its documents in one string, so that the many terms of few documents take little memory. It has
// the text, a zero byte, the number of documents, the last document, and the postings in the order of their documents. A
// posting is twice the distance to the previous document, plus one if a byte of fields and count follows. Without that
// byte, the document has the term once, in the body.
type term string

func newTerm(text string) term { return term(text + "\x00\x00\x00") }

func (t term) text() string { return string(t[:strings.IndexByte(string(t), 0)]) }

func (t term) parse() (documents, last uint64, postings string) {
	rest := string(t[len(t.text())+1:])
	documents, n := binary.Uvarint([]byte(rest))
	last, m := binary.Uvarint([]byte(rest[n:]))
	return documents, last, rest[n+m:]
}

// with returns the term with further postings.
func (t term) with(list []posting) term {
	documents, last, postings := t.parse()
	b := append(make([]byte, 0, len(t)+8*len(list)), t.text()+"\x00"...)
	b = binary.AppendUvarint(b, documents+uint64(len(list)))
	b = binary.AppendUvarint(b, uint64(list[len(list)-1].doc))
	b = append(b, postings...)
	for _, p := range list {
		delta := 2 * (uint64(p.doc) - last)
		if p.count == 1 && p.in == 0 {
			b = binary.AppendUvarint(b, delta)
		} else {
			b = append(binary.AppendUvarint(b, delta+1), p.count|uint8(p.in)<<4)
		}
		last = uint64(p.doc)
	}
	return term(b)
}

func (t term) each(fn func(posting)) {
	_, _, data := t.parse()
	at := uint32(0)
	for len(data) > 0 {
		delta, size := uint64(data[0]), 1
		if delta >= 0x80 {
			delta, size = binary.Uvarint([]byte(data))
		}
		at += uint32(delta / 2)
		p := posting{at, 1, 0}
		if delta%2 == 1 {
			p.count, p.in = data[size]&maxCount, field(data[size]>>4)
			size++
		}
		fn(p)
		data = data[size:]
	}
}
