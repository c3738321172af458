package semantic

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
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

// factor is a vector for many scalar products. A multiplication of uint64s does the work of two multiplications:
// (a+b<<32) * (y+x<<32) has a*x+b*y in its upper half.
type factor struct {
	step  float32
	pairs [][4]uint64 // of the numbers 0 and 4, 1 and 5, 2 and 6, 3 and 7 of eight
	shift int32       // product of the numbers and a vector of 128s
}

func newFactor(v []float32) (f factor) {
	row, step := inSteps(v)
	f.step = step
	for part := range slices.Chunk(append(make([]byte, -len(row)&7), row...), 8) {
		var pairs [4]uint64
		for i := range pairs {
			x, y := int8(part[i]), int8(part[i+4])
			pairs[i] = uint64(int64(x)<<32 + int64(y))
			f.shift += 128 * (int32(x) + int32(y))
		}
		f.pairs = append(f.pairs, pairs)
	}
	return f
}

// similarity returns the similarity of the factor and a vector of the same length. It is at most 1.
func (f *factor) similarity(vector string) float64 {
	step, _ := parse(vector)
	return min(float64(float32(f.product(vector))*step*f.step), 1)
}

func (f *factor) product(vector string) int32 {
	const pair = 0x000000ff_000000ff
	rest := vector[len(vector)-8*len(f.pairs):] // for the end of the head, the factor has zeros
	sum := uint64(1 << 31)                      // rounds the lower half, which is signed
	for i := range f.pairs {
		to := &f.pairs[i]
		n := binary.LittleEndian.Uint64([]byte(rest[8*i:][:8])) ^ 0x80808080_80808080 // 128 more, and so not negative
		sum += n&pair*to[0] + n>>8&pair*to[1] + n>>16&pair*to[2] + n>>24&pair*to[3]
	}
	return int32(sum>>32) - f.shift
}
