package semantic

import (
	"math"
	"math/bits"
	"slices"
)

// vectors holds vectors of one length in a byte per number, which ranks as well as four do.
type vectors struct {
	dims int
	data []int8 // row by row
	step []float32
	// signs has the signs of each row, a bit for each number: two rows of which many agree are likely near.
	signs []uint64
	sums  []sum         // of the passages
	rows  map[sum]int32 // by those; nil while nothing is added or looked up
}

// rowOf returns the row of a passage.
func (vs *vectors) rowOf(s sum) (row int32, known bool) {
	if vs.rows == nil {
		vs.rows = make(map[sum]int32, len(vs.sums))
		for i, s := range vs.sums {
			vs.rows[s] = int32(i)
		}
	}
	row, known = vs.rows[s]
	return row, known
}

// rest frees what only changes need.
func (vs *vectors) rest() {
	vs.rows = nil
	vs.data, vs.step, vs.signs, vs.sums = slices.Clip(vs.data), slices.Clip(vs.step), slices.Clip(vs.signs), slices.Clip(vs.sums)
}

// put adds the vector of a passage. It reports whether v has the length of the others.
func (vs *vectors) put(s sum, v []float32) bool {
	if _, known := vs.rowOf(s); known {
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
	i := int32(len(vs.sums))
	if vs.rows != nil {
		vs.rows[s] = i
	}
	vs.sums, vs.step = append(vs.sums, s), append(vs.step, step)
	vs.signs = appendSigns(vs.signs, vs.row(i))
}

func appendSigns(signs []uint64, row []int8) []uint64 {
	for part := range slices.Chunk(row, 64) {
		var word uint64
		for j, x := range part {
			if x < 0 {
				word |= 1 << j
			}
		}
		signs = append(signs, word)
	}
	return signs
}

// apart returns how many signs of a row differ from signs.
func (vs *vectors) apart(row int32, signs []uint64) int {
	n := 0
	for i, x := range vs.signs[int(row)*len(signs):][:len(signs)] {
		n += bits.OnesCount64(x ^ signs[i])
	}
	return n
}

func (vs *vectors) row(i int32) []int8 { return vs.data[int(i)*vs.dims:][:vs.dims] }

// only returns the vectors with the rows that are used, in the order of places, which says the new
// row of each old one.
func (vs *vectors) only(used []int32) (kept *vectors, places map[int32]int32) {
	kept, places = new(vectors), make(map[int32]int32, len(used))
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

// scorer returns what says how near a row is to a vector: at most 1, and 0 for all if that is of another model.
func (vs *vectors) scorer(v []float32) func(row int32) float64 {
	if len(v) != vs.dims {
		return func(int32) float64 { return 0 }
	}
	rough, step := appendRough(nil, v)
	return func(row int32) float64 {
		return min(float64(float32(product(vs.row(row), rough))*vs.step[row]*step), 1)
	}
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
