package semantic

import (
	"math"
	"math/bits"
	"slices"
)

// vectors holds rough vectors of one length.
type vectors struct {
	dims  int
	signs []uint64 // two rows of which many agree are likely near
	sizes []uint8
	step  []float32
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
	vs.signs, vs.sizes, vs.step, vs.sums = slices.Clip(vs.signs), slices.Clip(vs.sizes), slices.Clip(vs.step), slices.Clip(vs.sums)
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
	row, step := appendSteps(nil, v, maxSize)
	vs.signs, vs.sizes = appendSigns(vs.signs, row), appendSizes(vs.sizes, row)
	vs.add(s, step)
	return true
}

// add makes the last signs and sizes those of a passage.
func (vs *vectors) add(s sum, step float32) {
	if vs.rows != nil {
		vs.rows[s] = int32(len(vs.sums))
	}
	vs.sums, vs.step = append(vs.sums, s), append(vs.step, step)
}

// apart returns how many signs of a row differ from signs.
func (vs *vectors) apart(row int32, signs []uint64) int {
	n := 0
	for i, x := range vs.signsOf(row) {
		n += bits.OnesCount64(x ^ signs[i])
	}
	return n
}

func (vs *vectors) signsOf(row int32) []uint64 {
	return rowIn(vs.signs, row, signWords(vs.dims))
}
func (vs *vectors) sizesOf(row int32) []uint8 {
	return rowIn(vs.sizes, row, sizeBytes(vs.dims))
}

func rowIn[T any](list []T, row int32, width int) []T { return list[int(row)*width:][:width] }

// only returns the vectors with the rows that are used, in the order of places, which says the new
// row of each old one.
func (vs *vectors) only(used []int32) (kept *vectors, places map[int32]int32) {
	kept, places = new(vectors), make(map[int32]int32, len(used))
	kept.dims = vs.dims
	for _, i := range used {
		if _, done := places[i]; !done {
			places[i] = int32(len(kept.sums))
			kept.signs = append(kept.signs, vs.signsOf(i)...)
			kept.sizes = append(kept.sizes, vs.sizesOf(i)...)
			kept.add(vs.sums[i], vs.step[i])
		}
	}
	return kept, places
}

// scorer returns what says how near a row is to a vector: at most 1, and 0 for all if that is of another model.
func (vs *vectors) scorer(v []float32) func(row int32) float64 {
	if len(v) != vs.dims {
		return func(int32) float64 { return 0 }
	}
	to, step := appendSteps(nil, v, math.MaxInt8)
	numbers := make([]int8, len(v))
	return func(row int32) float64 {
		unpackRow(numbers, vs.signsOf(row), vs.sizesOf(row))
		return min(float64(float32(product(numbers, to))*vs.step[row]*step), 1)
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
