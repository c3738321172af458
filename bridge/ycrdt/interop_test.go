package ycrdt

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var (
	scenarios    = flag.Int("yjs.scenarios", 2000, "how many random scenarios to compare with Yjs")
	scenarioSeed = flag.Int("yjs.seed", 0, "seed of the first scenario; 0 means by the time")
)

// peerDir holds the Node program that runs the real Yjs.
const peerDir = "../../tests/peer"

// A yjsPeer is the running Node program of tests/peer.
type yjsPeer struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// startPeer starts Node. Without Node or the packages it skips the test, but
// fails it in CI, where both have to be there.
func startPeer(t testing.TB) *yjsPeer {
	t.Helper()
	unavailable := t.Skipf
	if os.Getenv("CI") == "true" {
		unavailable = t.Fatalf
	}
	node, err := exec.LookPath("node")
	if err != nil {
		unavailable("no node: %v", err)
	}
	if _, err := os.Stat(filepath.Join(peerDir, "node_modules", "yjs")); err != nil {
		unavailable("no Yjs: run npm ci in tests/peer: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), node, "peer.mjs")
	cmd.Dir = peerDir
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &yjsPeer{in, bufio.NewReaderSize(out, 1<<20)}
}

// scenario asks for the log of the scenario with the given seed.
// The log of a single scenario, as one asks for to repeat a failure, has the
// state after every step.
func (p *yjsPeer) scenario(t *testing.T, seed int) *scenarioLog {
	t.Helper()
	fmt.Fprintf(p.in, `{"cmd":"scenario","seed":%d,"full":%t}`+"\n", seed, *scenarios == 1)
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	return decodeLog(t, line)
}

// TestYjs replays random scenarios of several Yjs documents and expects the
// same bytes, events and content at every step. Repeat a failure with
//
//	go test -run TestYjs -yjs.scenarios 1 -yjs.seed SEED
func TestYjs(t *testing.T) {
	peer := startPeer(t)
	first := *scenarioSeed
	if first == 0 {
		first = int(time.Now().Unix() % 1e9)
	}
	t.Logf("%d scenarios from seed %d on", *scenarios, first)
	for seed := first; seed < first+*scenarios; seed++ {
		if err := replay(peer.scenario(t, seed)); err != nil {
			t.Fatal(err)
		}
	}
}
