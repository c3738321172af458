package diffwrap

// ByteOrderMark at the start of a note belongs to the note and not to its text: no mark stands before it, and a writer
// neither adds nor takes it. Many programs read a text without it and write it back so.
const ByteOrderMark = "\ufeff"

// putBehindMark is Put for what stands behind a byte order mark.
func (o Options) putBehindMark(raw, accepted string) (Result, error) {
	const n = len(ByteOrderMark)
	if foreign := o.Foreign; foreign != nil {
		o.Foreign = func(start, end int) bool { return foreign(start+n, end+n) }
	}
	r, err := o.put(raw, accepted)
	for i := range r.Edits {
		r.Edits[i].Off += n
	}
	if r.FrontMatter != nil {
		r.FrontMatter = &FrontMatterChange{ByteOrderMark + r.FrontMatter.Before, ByteOrderMark + r.FrontMatter.After}
	}
	return r, err
}
