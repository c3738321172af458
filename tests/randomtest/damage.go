package randomtest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// huge are lengths and numbers that a reader must not believe, as words of 8 bytes.
var huge = []uint64{0, 1, 1<<31 - 1, 1 << 32, 1<<53 - 1, 1 << 62, 1<<63 - 1, 1<<64 - 1}

// Damage returns data as a broken disk, an interrupted copy or a hostile peer may have left it: with other bits, words of
// 8 bytes, blocks of zeros, and parts that are missing or there twice.
func Damage(r *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	for range 1 + r.IntN(4) {
		if len(data) == 0 {
			return data
		}
		at := r.IntN(len(data))
		to := at + 1 + r.IntN(min(len(data)-at, 1<<r.IntN(14)))
		switch r.IntN(8) {
		case 0, 1:
			data[at] ^= 1 << r.IntN(8)
		case 2:
			data[at] = byte(r.Uint32())
		case 3:
			word := r.Uint64()
			if r.IntN(2) == 0 {
				word = huge[r.IntN(len(huge))]
			}
			copy(data[at:], binary.LittleEndian.AppendUint64(nil, word)[:1+r.IntN(8)])
		case 4:
			clear(data[at:to])
		case 5:
			data = slices.Delete(data, at, to)
		case 6:
			data = slices.Insert(data, at, bytes.Clone(data[at:to])...)
		case 7:
			data = data[:at]
		}
	}
	return data
}
