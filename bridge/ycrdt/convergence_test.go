package ycrdt_test

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ycrdt/crdttest"
)

func TestConvergence(t *testing.T) {
	for seed := range uint64(400) {
		if err := crdttest.Run(seed, crdttest.Options{Verify: ycrdt.Check}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongConvergence has documents that grow beyond one leaf and one chunk.
func TestLongConvergence(t *testing.T) {
	if err := crdttest.Run(1, crdttest.Options{Peers: 3, Steps: 1000, Verify: ycrdt.Check}); err != nil {
		t.Fatal(err)
	}
}
