package bridge_test

import (
	"flag"
	"os"
	"testing"

	"github.com/relayfs/relayfs/tests/need"
)

// As with package randomtest, fewer rounds are made with the race detector.
func TestMain(m *testing.M) {
	if need.Raced() {
		if err := flag.Set("rapid.checks", "3"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
