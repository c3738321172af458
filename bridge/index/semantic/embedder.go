package semantic

import (
	"context"
	"math"
)

type Embedder interface {
	// ID identifies the vector space. Vectors are comparable if their embedders have the same ID.
	ID() string
	// Embed returns a vector for each text. All vectors have the same length. A zero vector is similar to no text.
	// Embed must be safe for concurrent use.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

func normalize(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
}
