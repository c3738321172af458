package ycrdt_test

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

func TestConvergence(t *testing.T) {
	for seed := range uint64(400) {
		if err := converge(seed, networkOptions{Verify: ycrdt.Check}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongConvergence has documents that grow beyond one leaf and one chunk.
func TestLongConvergence(t *testing.T) {
	if err := converge(1, networkOptions{Peers: 3, Steps: 1000, Verify: ycrdt.Check}); err != nil {
		t.Fatal(err)
	}
}
