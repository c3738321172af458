package ycrdt

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// crdtVariable names the folder in which tests/bench/engines.sh builds the engines of Rust.
const crdtVariable = "RELAYFS_CRDT"

// BenchmarkNative replays the trace of BenchmarkYjs, one transaction an edit, here and in two engines of Rust. The floor is
// the same trace here in a single transaction.
func BenchmarkNative(b *testing.B) {
	engines := os.Getenv(crdtVariable)
	if engines == "" {
		b.Skip("tests/bench/engines.sh builds the other engines")
	}
	trace := newTrace(b4Edits, 1, b4Jump)
	var file []byte
	for _, e := range trace {
		file = append(binary.LittleEndian.AppendUint32(file, uint32(e.pos)), e.char)
	}
	path := filepath.Join(b.TempDir(), "trace")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		b.Fatal(err)
	}
	length := 0
	own := medianOf(5, func() {
		d := NewDoc(Options{ClientID: 1})
		play(d, trace)
		length = d.Text("t").Len()
	})
	floor := medianOf(5, func() {
		d := NewDoc(Options{ClientID: 1})
		d.Transact(func(tx *Txn) {
			for _, e := range trace {
				makeEdit(tx, d.Text("t"), e)
			}
		})
	})
	for b.Loop() {
	}
	b.ReportMetric(own, "ms")
	b.ReportMetric(floor, "one-transaction-ms")
	for engine, runs := range map[string]int{"yrs": 1, "diamond-types": 5} {
		least := 0.0
		for range runs {
			out, err := exec.Command(filepath.Join(engines, "release", "crdt"), engine, path).Output()
			if err != nil {
				b.Fatal(err)
			}
			var ms float64
			var theirs int
			if _, err := fmt.Sscan(string(out), &ms, &theirs); err != nil {
				b.Fatal(err)
			}
			if theirs != length {
				b.Errorf("%s ends with %d characters, want %d", engine, theirs, length)
			}
			if least == 0 || ms < least {
				least = ms
			}
		}
		b.ReportMetric(own/least, "of-"+engine)
		b.ReportMetric(floor/least, "floor-of-"+engine)
	}
	b.ReportMetric(3, "of-diamond-types-goal")
	b.ReportMetric(0, "ns/op")
}
