package randomtest

import (
	"math/rand/v2"
	"testing"
	"time"
)

// source is the random source of one round. It records the draws.
type source struct {
	random rand.Source // nil for a round that draws from script
	script []uint64
	drawn  []uint64
}

func (s *source) reset(random rand.Source) {
	s.random, s.drawn = random, s.drawn[:0]
}

// least is the draw for which every function of rand.Rand returns its minimum, or a value near it. It is not 0, because
// IntN(n) draws again after a 0 unless n is a power of two.
const least = 1 << 32

// maxExtra is the maximum number of draws beyond a round's script. Without this limit, a property that draws until it
// gets a certain value would not end.
const maxExtra = 10_000

type exhausted struct{}

func (s *source) Uint64() uint64 {
	v := uint64(least)
	switch i := len(s.drawn); {
	case s.random != nil:
		v = s.random.Uint64()
	case i < len(s.script):
		v = s.script[i]
	case i > len(s.script)+maxExtra:
		panic(exhausted{})
	}
	s.drawn = append(s.drawn, v)
	return v
}

// shrink returns the shortest and lowest draws that it finds within limit and that fail at the same place as the first
// round. It also returns the round of these draws, or nil if even the original draws do not fail there again.
func shrink(t *testing.T, draws []uint64, first *round, limit time.Duration, property func(testing.TB, *rand.Rand)) ([]uint64, *round) {
	t.Helper()
	best := append([]uint64(nil), draws...)
	var last *round
	deadline := time.Now().Add(limit)
	fails := func(script []uint64) bool {
		if last != nil && time.Now().After(deadline) {
			return false
		}
		src := &source{script: script}
		got := run(t, src, property)
		if !got.failed() || got.where() != first.where() {
			return false
		}
		// Drop unused draws, and trailing minimum values, which the source returns without a script.
		used := min(len(script), len(src.drawn))
		for used > 0 && script[used-1] == least {
			used--
		}
		best, last = append([]uint64(nil), script[:used]...), got
		return true
	}
	if !fails(best) {
		return best, nil
	}
	for better := true; better && time.Now().Before(deadline); {
		better = false
		for size := max(1, len(best)/2); size > 0; size /= 2 {
			for i := len(best) - size; i >= 0; i -= size {
				if i+size > len(best) {
					continue // an earlier deletion has shortened best
				}
				if fails(append(append([]uint64(nil), best[:i]...), best[i+size:]...)) {
					better = true
					continue
				}
				lower := append([]uint64(nil), best...)
				changed := false
				for j := i; j < i+size; j++ {
					changed = changed || lower[j] != least
					lower[j] = least
				}
				better = changed && fails(lower) || better
			}
		}
		for i := 0; i < len(best); i++ {
			better = lowerOne(&best, i, fails) || better
		}
	}
	return best, last
}

// lowerOne lowers one draw. IntN(n) uses the upper half of a draw, or the lower bits if n is a power of two.
func lowerOne(best *[]uint64, i int, fails func([]uint64) bool) (better bool) {
	for _, shift := range []uint{32, 0} {
		for step := uint64(1) << 31; step > 0; step /= 2 {
			if i >= len(*best) || (*best)[i]>>shift&(1<<32-1) < step || shift == 32 && (*best)[i]>>32 == step {
				continue
			}
			lower := append([]uint64(nil), *best...)
			lower[i] -= step << shift
			better = fails(lower) || better
		}
	}
	return better
}
