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

func (t term) parts() (documents, last uint32, postings term) {
	documents, t = t[len(t.text())+1:].number()
	last, t = t.number()
	return documents, last, t
}

// with returns the term with further postings.
func (t term) with(list []posting) term {
	count, last, postings := t.parts()
	b := append([]byte(t.text()), 0)
	b = binary.AppendUvarint(b, uint64(count)+uint64(len(list)))
	b = binary.AppendUvarint(b, uint64(list[len(list)-1].doc))
	b = append(b, postings...)
	for _, p := range list {
		if delta := 2 * uint64(p.doc-last); p.count == 1 && p.in == 0 {
			b = binary.AppendUvarint(b, delta)
		} else {
			b = append(binary.AppendUvarint(b, delta+1), p.count|uint8(p.in)<<4)
		}
		last = p.doc
	}
	return term(b)
}

func (t term) each(fn func(posting)) {
	_, _, t = t.parts()
	for at := uint32(0); len(t) > 0; {
		var delta uint32
		delta, t = t.number()
		at += delta / 2
		p := posting{at, 1, 0}
		if delta%2 == 1 {
			p.count, p.in = t[0]&maxCount, field(t[0]>>4)
			t = t[1:]
		}
		fn(p)
	}
}

// number decodes a uvarint.
func (t term) number() (n uint32, rest term) {
	for i, shift := 0, 0; ; i, shift = i+1, shift+7 {
		n |= uint32(t[i]&0x7f) << shift
		if t[i] < 0x80 {
			return n, t[i+1:]
		}
	}
}
