package semantic

import (
	"math/rand/v2"
	"testing"
)

// The numbers of the factor must contain 127 or -127, or they would be in other steps.
func TestProductIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for n := 1; n < 400; n++ {
		numbers, factor := make([]byte, n), make([]float32, n)
		want := int32(0)
		for i := range factor {
			a, b := int8(r.IntN(256)-128), r.IntN(255)-127
			if i == 0 || n%3 == 0 {
				a, b = -128, -127
			}
			numbers[i], factor[i] = byte(a), float32(b)
			want += int32(a) * int32(b)
		}
		f := newFactor(factor)
		if got := f.product(newVector(sum{255, 1, 127, 128, 3, 4, 128, 255}, 1, numbers)); got != want {
			t.Fatalf("%d numbers: product %d, want %d", n, got, want)
		}
	}
}
