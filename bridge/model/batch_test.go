package model

import "testing"

// Several people and tools decide at the same time: an undo takes back one of them.
func TestBatchesOfOneMomentHaveNamesOfTheirOwn(t *testing.T) {
	seen := make(map[string]bool)
	for range 20_000 {
		if b := NewBatch(); seen[b] {
			t.Fatalf("%s twice", b)
		} else {
			seen[b] = true
		}
	}
}
