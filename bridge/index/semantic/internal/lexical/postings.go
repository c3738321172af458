package lexical

import "encoding/binary"

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

// list has the documents of a term, in order. data has for each of them twice the distance to the previous one, plus
// one if a byte of fields and count follows. Without that byte, the document has the term once, in the body.
type list struct {
	data  []byte
	last  uint32 // the last document
	count uint32
}

func (l *list) add(p posting) {
	if delta := 2 * uint64(p.doc-l.last); p.count == 1 && p.in == 0 {
		l.data = binary.AppendUvarint(l.data, delta)
	} else {
		l.data = append(binary.AppendUvarint(l.data, delta+1), p.count|uint8(p.in)<<4)
	}
	l.last, l.count = p.doc, l.count+1
}

func (l *list) each(fn func(posting)) {
	at := uint32(0)
	for data := l.data; len(data) > 0; {
		delta, size := uint64(data[0]), 1
		if delta >= 0x80 {
			delta, size = binary.Uvarint(data)
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
