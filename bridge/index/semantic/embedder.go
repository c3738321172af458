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

func embedEach(ctx context.Context, texts []string, vector func(text string) []float32) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = vector(text)
	}
	return out, nil
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
