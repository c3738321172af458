package semantic

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// sparse is a matrix as rows of its non-zero cells.
type sparse struct {
	rows    []row
	columns int
}

type row []cell

type cell struct {
	column int32
	value  float32
}

func (s *sparse) times(x *mat.Dense) *mat.Dense {
	_, width := x.Dims()
	y := mat.NewDense(len(s.rows), width, nil)
	for i, r := range s.rows {
		out := y.RawRowView(i)
		for _, c := range r {
			floats.AddScaled(out, float64(c.value), x.RawRowView(int(c.column)))
		}
	}
	return y
}

func (s *sparse) transposedTimes(x *mat.Dense) *mat.Dense {
	_, width := x.Dims()
	y := mat.NewDense(s.columns, width, nil)
	for i, r := range s.rows {
		in := x.RawRowView(i)
		for _, c := range r {
			floats.AddScaled(y.RawRowView(int(c.column)), float64(c.value), in)
		}
	}
	return y
}

// Parameters of the decomposition: extra dimensions, which make the wanted ones exact, and
// power iterations, which let the large singular values dominate.
const (
	oversample = 10
	rounds     = 3
)

// rightVectors returns the first right singular vectors of s, at most k, as the
// columns of a matrix, by randomized subspace iteration (Halko, Martinsson and Tropp,
// 2011, algorithm 4.4). It returns nil as soon as stop returns true.
func (s *sparse) rightVectors(k int, stop func() bool) *mat.Dense {
	width := min(k+oversample, len(s.rows), s.columns)
	if width == 0 {
		return nil
	}
	r := rand.New(rand.NewPCG(1, 2)) // fixed, so that equal notes yield equal models
	omega := mat.NewDense(s.columns, width, nil)
	omega.Apply(func(_, _ int, _ float64) float64 { return r.NormFloat64() }, omega)
	q := orthonormal(s.times(omega))
	for range rounds {
		if stop() {
			return nil
		}
		q = orthonormal(s.times(orthonormal(s.transposedTimes(q))))
	}
	return leading(s.transposedTimes(q), k)
}

// orthonormal returns an orthonormal basis of the columns of y.
func orthonormal(y *mat.Dense) *mat.Dense {
	_, width := y.Dims()
	return leading(y, width)
}

// leading returns the left singular vectors of b, which has few columns, for the k
// largest singular values that are not zero, by the eigenvectors of bᵀb. b is not zero:
// the rows of a sparse matrix have the length 1.
func leading(b *mat.Dense, k int) *mat.Dense {
	_, width := b.Dims()
	gram := mat.NewSymDense(width, nil)
	gram.SymOuterK(1, b.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		panic("semantic: the eigenvalues of a symmetric matrix do not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil) // ascending
	kept := 0
	for kept < min(k, width) && values[width-1-kept] > values[width-1]*1e-9 {
		kept++
	}
	turn := mat.NewDense(width, kept, nil)
	for j := range kept {
		for i := range width {
			turn.Set(i, j, vectors.At(i, width-1-j)/math.Sqrt(values[width-1-j]))
		}
	}
	var out mat.Dense
	out.Mul(b, turn)
	return &out
}
