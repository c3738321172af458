package randomtest

import "math/rand/v2"

// Pick returns one of list.
func Pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// Some returns from least to most elements, each one of list.
func Some[T any](r *rand.Rand, least, most int, list ...T) []T {
	out := make([]T, Between(r, least, most))
	for i := range out {
		out[i] = Pick(r, list...)
	}
	return out
}

// Between returns a number from least to most.
func Between(r *rand.Rand, least, most int) int { return least + r.IntN(most-least+1) }
