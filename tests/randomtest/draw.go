package randomtest

import "math/rand/v2"

func Pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func Some[T any](r *rand.Rand, least, most int, list ...T) []T {
	out := make([]T, Between(r, least, most))
	for i := range out {
		out[i] = Pick(r, list...)
	}
	return out
}

func Between(r *rand.Rand, least, most int) int { return least + r.IntN(most-least+1) }
