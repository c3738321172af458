package semantic

import (
	"math"
	"slices"
)

// vectors has vectors of one length, with 8 bits for each number and a step for each vector. For a ranking, this is as
// good as 32 bits for each number.
type vectors struct {
	dims    int
	numbers []byte // int8s; dims of them for each passage
	step    []float32
	sums    []sum         // hash of the passage, for each row
	rows    map[sum]int32 // row by hash; nil until the next lookup
}

func (vs *vectors) rowOf(s sum) (row int32, ok bool) {
	if vs.rows == nil {
		vs.rows = make(map[sum]int32, len(vs.sums))
		for i, s := range vs.sums {
			vs.rows[s] = int32(i)
		}
	}
	row, ok = vs.rows[s]
	return row, ok
}

func (vs *vectors) compact() {
	vs.rows = nil
	vs.numbers, vs.step, vs.sums = slices.Clip(vs.numbers), slices.Clip(vs.step), slices.Clip(vs.sums)
}

// put adds the vector of a passage. It returns false if v does not have the length of the stored vectors.
func (vs *vectors) put(s sum, v []float32) bool {
	if _, ok := vs.rowOf(s); ok {
		return true
	}
	if len(vs.sums) == 0 {
		vs.dims = len(v)
	}
	if len(v) != vs.dims {
		return false
	}
	row, step := inSteps(v)
	vs.add(s, row, step)
	return true
}

func (vs *vectors) add(s sum, row []byte, step float32) {
	if vs.rows != nil {
		vs.rows[s] = int32(len(vs.sums))
	}
	vs.sums, vs.numbers, vs.step = append(vs.sums, s), append(vs.numbers, row...), append(vs.step, step)
}

func (vs *vectors) row(i int32) []byte { return vs.numbers[int(i)*vs.dims:][:vs.dims] }

// only returns the vectors with the used rows. places maps each old row to its new row.
func (vs *vectors) only(used []int32) (kept *vectors, places map[int32]int32) {
	kept, places = new(vectors), make(map[int32]int32, len(used))
	kept.dims = vs.dims
	for _, i := range used {
		if _, done := places[i]; !done {
			places[i] = int32(len(kept.sums))
			kept.add(vs.sums[i], vs.row(i), vs.step[i])
		}
	}
	return kept, places
}

// scorer returns a function for the similarity of rows to v. The similarity is at most 1. It is 0 for all rows if the
// length of v differs from the length of the vectors.
func (vs *vectors) scorer(v []float32) func(row int32) float64 {
	if len(v) != vs.dims {
		return func(int32) float64 { return 0 }
	}
	to, step := inSteps(v)
	return func(i int32) float64 {
		return min(float64(float32(product(vs.row(i), to))*vs.step[i]*step), 1)
	}
}

// inSteps returns the numbers of v as int8s in units of step. The number with the largest absolute value is 127 or -127
// steps.
func inSteps(v []float32) (row []byte, step float32) {
	row = make([]byte, len(v))
	for _, x := range v {
		step = max(step, x/math.MaxInt8, -x/math.MaxInt8)
	}
	if step > 0 {
		for i, x := range v {
			row[i] = byte(int8(math.Round(float64(x / step))))
		}
	}
	return row, step
}

func product(a, b []byte) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += int32(int8(x[0])) * int32(int8(y[0]))
		s1 += int32(int8(x[1])) * int32(int8(y[1]))
		s2 += int32(int8(x[2])) * int32(int8(y[2]))
		s3 += int32(int8(x[3])) * int32(int8(y[3]))
	}
	for ; i < len(a); i++ {
		s0 += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return s0 + s1 + s2 + s3
}
