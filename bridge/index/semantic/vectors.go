package semantic

import "math"

// vector is the vector of a passage, with 8 bits for each number. For a ranking, this is as good as 32 bits for each
// number.
type vector struct {
	sum     sum
	numbers []byte // int8s, in units of step
	step    float32
}

// put adds the vector of a passage. It returns false if v does not have the length of the other vectors. The caller
// must hold mu.
func (x *Index) put(s sum, v []float32) bool {
	if len(x.vectors) == 0 {
		x.dims = len(v)
	}
	if len(v) != x.dims {
		return false
	}
	numbers, step := inSteps(v)
	x.vectors[s] = &vector{s, numbers, step}
	return true
}

// scorer returns a function for the similarity of vectors to v. The similarity is at most 1. It is 0 for all vectors if
// their length differs from the length of v. The caller must hold mu.
func (x *Index) scorer(v []float32) func(*vector) float64 {
	if len(v) != x.dims {
		return func(*vector) float64 { return 0 }
	}
	to, step := inSteps(v)
	return func(p *vector) float64 {
		return min(float64(float32(product(p.numbers, to))*p.step*step), 1)
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

func product(a, b []byte) (sum int32) {
	for i, x := range a {
		sum += int32(int8(x)) * int32(int8(b[i]))
	}
	return sum
}
