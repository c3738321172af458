package semantic

import "math"

// vectors holds vectors of one length in a byte per number, which ranks as well as four do.
type vectors struct {
	dims int
	data []int8 // row by row
	step []float32
	sums []sum         // of the passages
	rows map[sum]int32 // by those
}

func newVectors() *vectors { return &vectors{rows: make(map[sum]int32)} }

// put adds the vector of a passage. It reports whether v has the length of the others.
func (vs *vectors) put(s sum, v []float32) bool {
	if _, known := vs.rows[s]; known {
		return true
	}
	if len(vs.sums) == 0 {
		vs.dims = len(v)
	}
	if len(v) != vs.dims {
		return false
	}
	data, step := appendRough(vs.data, v)
	vs.data = data
	vs.add(s, step)
	return true
}

// add makes the last row of data that of a passage.
func (vs *vectors) add(s sum, step float32) {
	vs.rows[s] = int32(len(vs.sums))
	vs.sums, vs.step = append(vs.sums, s), append(vs.step, step)
}

func (vs *vectors) row(i int32) []int8 { return vs.data[int(i)*vs.dims:][:vs.dims] }

// only returns the vectors with the rows that are used, in the order of places, which says the new
// row of each old one.
func (vs *vectors) only(used []int32) (kept *vectors, places map[int32]int32) {
	kept, places = newVectors(), make(map[int32]int32, len(used))
	kept.dims = vs.dims
	for _, i := range used {
		if _, done := places[i]; !done {
			places[i] = int32(len(kept.sums))
			kept.data = append(kept.data, vs.row(i)...)
			kept.add(vs.sums[i], vs.step[i])
		}
	}
	return kept, places
}

// appendRough adds v to data, in steps of a 127th of its largest number.
func appendRough(data []int8, v []float32) (_ []int8, step float32) {
	largest := float32(0)
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	if largest == 0 {
		return append(data, make([]int8, len(v))...), 0
	}
	step = largest / math.MaxInt8
	for _, x := range v {
		data = append(data, int8(math.Round(float64(x/step))))
	}
	return data, step
}

// product returns the scalar product of two rows.
func product(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += int32(x[0]) * int32(y[0])
		s1 += int32(x[1]) * int32(y[1])
		s2 += int32(x[2]) * int32(y[2])
		s3 += int32(x[3]) * int32(y[3])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}
