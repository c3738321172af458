package semantic

import (
	"encoding/binary"
	"iter"
	"math"
)

// A vector of a passage is a string: the sum of the passage, the step, and the numbers as int8s in units of the step.
// For a ranking, 8 bits for each number are as good as 32. The vectors of a note are one string, because many small
// objects take more memory and time than a few large ones.
const vectorHead = len(sum{}) + 4

func newVector(s sum, step float32, numbers []byte) string {
	return string(append(binary.LittleEndian.AppendUint32(s[:], math.Float32bits(step)), numbers...))
}

func parse(vector string) (step float32, numbers string) {
	return math.Float32frombits(uint32At(vector[len(sum{}):], 0)), vector[vectorHead:]
}

// each yields the vectors in a string with their sums.
func (x *Index) each(vectors string) iter.Seq2[sum, string] {
	return func(yield func(sum, string) bool) {
		for size := vectorHead + x.dims; len(vectors) > 0 && yield(sum([]byte(vectors[:len(sum{})])), vectors[:size]); {
			vectors = vectors[size:]
		}
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

// similarity returns the similarity of two vectors of the same length. It is at most 1.
func similarity(a, b string) float64 {
	stepA, rowA := parse(a)
	stepB, rowB := parse(b)
	sum := int32(0)
	times := func(i int) int32 { return int32(int8(rowA[i])) * int32(int8(rowB[i])) }
	for len(rowA) >= 8 && len(rowB) >= 8 { // eight at a time take two thirds of the time
		sum += times(0) + times(1) + times(2) + times(3) + times(4) + times(5) + times(6) + times(7)
		rowA, rowB = rowA[8:], rowB[8:]
	}
	for i := range len(rowA) {
		sum += times(i)
	}
	return min(float64(float32(sum)*stepA*stepB), 1)
}
