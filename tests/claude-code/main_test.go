package claudecode

import (
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

func TestMain(m *testing.M) { harness.MainFull(m) }
