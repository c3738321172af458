package semantic

// Vectors are held here in five bits per number, which rank as well as 32 do: a sign, and a size of 0 to
// maxSize steps, of which each vector has its own.

import (
	"math"
	"slices"
)

// maxSize is the largest number of a row in steps.
const maxSize = 15

// appendSteps adds the numbers of v to list in steps, of which the largest is most.
func appendSteps(list []int8, v []float32, most float32) (_ []int8, step float32) {
	largest := float32(0)
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	if largest == 0 {
		return append(list, make([]int8, len(v))...), 0
	}
	step = largest / most
	for _, x := range v {
		list = append(list, int8(math.Round(float64(x/step))))
	}
	return list, step
}

// signWords and sizeBytes are how much room a row of dims numbers takes.
func signWords(dims int) int { return (dims + 63) / 64 }
func sizeBytes(dims int) int { return (dims + 1) / 2 }

// appendSigns adds a bit for each number: whether it is below zero.
func appendSigns(signs []uint64, row []int8) []uint64 {
	for part := range slices.Chunk(row, 64) {
		var word uint64
		for j, x := range part {
			if x < 0 {
				word |= 1 << j
			}
		}
		signs = append(signs, word)
	}
	return signs
}

// appendSizes adds the sizes of the numbers, two to a byte.
func appendSizes(sizes []uint8, row []int8) []uint8 {
	for part := range slices.Chunk(row, 2) {
		var two uint8
		for j, x := range part {
			two |= uint8(max(x, -x)) << (4 * j)
		}
		sizes = append(sizes, two)
	}
	return sizes
}

// unpackRow puts the numbers with these signs and sizes into row.
func unpackRow(row []int8, signs []uint64, sizes []uint8) {
	for j := range row {
		size := int8(sizes[j/2] >> (4 * (j % 2)) & maxSize)
		below := int8(signs[j/64] >> (j % 64) & 1)
		row[j] = (size ^ -below) + below
	}
}
