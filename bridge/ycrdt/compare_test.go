package ycrdt

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// A row of the table that BenchmarkYjs prints. The engine's figure divided by
// that of Yjs should be at most goal; stretch is what it strives for.
type row struct {
	what          string
	goal, stretch float64
	unit          string
	yjs, own      float64
}

// comparison runs workloads in Node and here, on the same data in dir.
type comparison struct {
	b    *testing.B
	dir  string
	rows []row
}

// BenchmarkYjs runs Yjs in Node next to the engine, on the same data, and
// prints a table of the ratios. It runs once, whatever the benchmark time.
func BenchmarkYjs(b *testing.B) {
	startPeer(b) // skips without Node
	c := &comparison{b: b, dir: b.TempDir()}
	b4 := newTrace(b4Edits, 1, b4Jump)
	c.trace("b4", b4)
	c.single(b4)
	c.notes("plain", plainNote)
	c.notes("edited", editedNote)
	c.longLived()
	c.print()
	b.ReportMetric(0, "ns/op")
}

// node runs a workload in Node.
func (c *comparison) node(workload string) (result struct {
	MS, Bytes       float64
	Structs, Length int
}) {
	c.b.Helper()
	cmd := exec.Command("node", "--expose-gc", "bench.mjs", workload, c.dir)
	cmd.Dir = peerDir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		c.b.Fatalf("node %s: %v", workload, err)
	}
	if err := json.Unmarshal(out, &result); err != nil {
		c.b.Fatal(err)
	}
	return result
}

func (c *comparison) add(what string, goal, stretch float64, unit string, yjs, own float64) {
	c.rows = append(c.rows, row{what, goal, stretch, unit, yjs, own})
}

func (c *comparison) write(name string, data []byte) {
	if err := os.WriteFile(filepath.Join(c.dir, name), data, 0o600); err != nil {
		c.b.Fatal(err)
	}
}

func (c *comparison) read(name string) []byte {
	data, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.b.Fatal(err)
	}
	return data
}

// trace writes a trace for Node.
func (c *comparison) trace(name string, edits []tracedEdit) {
	out := []byte("[")
	for i, e := range edits {
		if i > 0 {
			out = append(out, ',')
		}
		deletes := 0
		if e.char == 0 {
			deletes = 1
		}
		out = fmt.Appendf(out, "%d,%d,%d,%d", e.client, e.pos, deletes, e.char)
	}
	c.write(name+".json", append(out, ']'))
}

func elapsed(fn func()) float64 {
	start := time.Now()
	fn()
	return float64(time.Since(start).Microseconds()) / 1000
}

func medianOf(runs int, fn func()) float64 {
	fn()
	times := make([]float64, runs)
	for i := range times {
		runtime.GC()
		times[i] = elapsed(fn)
	}
	slices.Sort(times)
	return times[runs/2]
}

func load(tb testing.TB, state []byte) *Doc {
	d := NewDoc(Options{})
	if err := d.ApplyUpdate(state); err != nil {
		tb.Fatal(err)
	}
	return d
}

// heapOf returns how much live heap the result of fn holds.
func heapOf(fn func() any) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := fn()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// edit replays a trace in both engines and checks that they end with the same bytes.
func (c *comparison) edit(name string, trace []tracedEdit) (yjs, own float64, state []byte) {
	result := c.node("edit:" + name)
	d := NewDoc(Options{ClientID: 1})
	own = elapsed(func() { play(d, trace) })
	state = d.EncodeStateAsUpdate(nil)
	if !bytes.Equal(state, c.read(name+".state")) {
		c.b.Errorf("%s: the encoded states differ", name)
	}
	c.b.Logf("%s: %d edits, %d structs, %d units, %d bytes", name, len(trace), result.Structs, result.Length, len(state))
	return result.MS, own, state
}

// single measures one document with the history of one writer.
func (c *comparison) single(trace []tracedEdit) {
	yjs, own, state := c.edit("b4", trace)
	c.add("B4*: 259,778 edits one by one", 0.10, 0.04, "ms", yjs, own)
	d := load(c.b, state)
	c.add("B4*: encode, warm", 0.25, 0.10, "ms", c.node("encode:b4").MS, medianOf(15, func() { d.EncodeStateAsUpdate(nil) }))
	c.add("B4*: load, warm", 0.20, 0.08, "ms", c.node("load:b4").MS, medianOf(15, func() { load(c.b, state) }))
	c.add("B4*: heap when loaded", 0.40, 0.27, "MB", c.node("heap:b4").Bytes/1e6, heapOf(func() any { return load(c.b, state) })/1e6)
	updates := remoteEdits(c.b, state, 10_000)
	c.write("b4.updates", frames(updates))
	c.add("B4*: 10,000 remote edits anywhere", 0.50, 0.20, "ms", c.node("remote:b4").MS, elapsed(func() { applyAll(c.b, d, updates) }))
}

func applyAll(tb testing.TB, d *Doc, updates [][]byte) {
	for _, u := range updates {
		if err := d.ApplyUpdate(u); err != nil {
			tb.Fatal(err)
		}
	}
}

// remoteEdits returns n small updates by another client at random positions.
func remoteEdits(tb testing.TB, state []byte, n int) (updates [][]byte) {
	r := rand.New(rand.NewPCG(7, 7))
	d := load(tb, state)
	d.OnUpdate(func(u []byte) { updates = append(updates, u) })
	text := d.Text("t")
	for range n {
		d.Transact(func(tx *Txn) { text.Insert(tx, r.IntN(text.LenIn(tx)), "remote") })
	}
	return updates
}

// frames joins updates, each with its length in front.
func frames(updates [][]byte) (out []byte) {
	for _, u := range updates {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(u))), u...)
	}
	return out
}

// notes measures loading 1,000 small documents in a process that has loaded
// none before: the test binary, run again for this alone.
func (c *comparison) notes(name string, make func(r *rand.Rand) []byte) {
	r := rand.New(rand.NewPCG(1, 1))
	var notes [][]byte
	structs := 0
	for range 1000 {
		note := make(r)
		notes = append(notes, note)
		u, _ := wire.Scan(note)
		structs += u.Structs
	}
	c.write(name+".notes", frames(notes))
	c.b.Logf("%s: %d structs per note", name, structs/len(notes))
	goal, stretch := 0.10, 0.05
	if name == "edited" {
		goal, stretch = 0.25, 0.10
	}
	c.add("load 1,000 "+name+" notes of 2 KB, cold", goal, stretch, "ms", c.node("notes:"+name).MS, coldLoad(c.b, filepath.Join(c.dir, name+".notes")))
}

const coldLoadFile = "YCRDT_COLD_LOAD"

// coldLoad runs TestColdLoad in a process of its own.
func coldLoad(b *testing.B, file string) (ms float64) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestColdLoad$", "-test.v")
	cmd.Env = append(os.Environ(), coldLoadFile+"="+file)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	_, rest, _ := strings.Cut(string(out), "cold load: ")
	if _, err := fmt.Sscanf(rest, "%f ms", &ms); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return ms
}

// TestColdLoad is the other half of coldLoad.
func TestColdLoad(t *testing.T) {
	file := os.Getenv(coldLoadFile)
	if file == "" {
		t.Skip("runs as a part of BenchmarkYjs")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var notes [][]byte
	for len(data) > 0 {
		n := binary.LittleEndian.Uint32(data)
		notes = append(notes, data[4:4+n])
		data = data[4+n:]
	}
	docs := make([]*Doc, 0, len(notes))
	ms := elapsed(func() {
		for _, n := range notes {
			docs = append(docs, load(t, n))
		}
	})
	t.Logf("cold load: %.3f ms for %d", ms, len(docs))
}

func randomProse(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		for range 2 + r.IntN(8) {
			b.WriteByte("etaoinshrdlucmfwypvbgkjqxz"[r.IntN(26)])
		}
		b.WriteByte(' ')
	}
	return b.String()[:n]
}

func plainNote(r *rand.Rand) []byte {
	d := NewDoc(Options{ClientID: ClientID(1 + r.Uint32())})
	d.Transact(func(tx *Txn) { d.Text("t").Insert(tx, 0, randomProse(r, 2048)) })
	return d.EncodeStateAsUpdate(nil)
}

// editedNote is a note of 2 KB that many edits have cut into 409 structs.
func editedNote(r *rand.Rand) []byte {
	d := NewDoc(Options{ClientID: ClientID(1 + r.Uint32())})
	text := d.Text("t")
	d.Transact(func(tx *Txn) { text.Insert(tx, 0, randomProse(r, 2048)) })
	for d.store.Used()-1 < 409 {
		d.Transact(func(tx *Txn) {
			pos := r.IntN(text.LenIn(tx) - 8)
			text.Delete(tx, pos, 4)
			text.Insert(tx, pos, randomProse(r, 4))
		})
	}
	return d.EncodeStateAsUpdate(nil)
}

// longLived measures a document with a million edits by fifty writers.
func (c *comparison) longLived() {
	trace := newTrace(1_000_000, 50, b4Jump)
	c.trace("long", trace)
	yjs, own, state := c.edit("long", trace)
	c.add("long-lived: 1,000,000 edits by 50 clients", 0.10, 0.04, "ms", yjs, own)
	d := load(c.b, state)
	c.add("long-lived: encode, warm", 0.25, 0.10, "ms", c.node("encode:long").MS, medianOf(15, func() { d.EncodeStateAsUpdate(nil) }))
	c.add("long-lived: load, warm", 0.20, 0.08, "ms", c.node("load:long").MS, medianOf(15, func() { load(c.b, state) }))
	c.add("long-lived: heap when loaded", 0.40, 0.27, "MB", c.node("heap:long").Bytes/1e6, heapOf(func() any { return load(c.b, state) })/1e6)
	updates := remoteEdits(c.b, state, 10_000)
	c.write("long.updates", frames(updates))
	c.add("long-lived: 10,000 remote edits anywhere", 0.50, 0.20, "ms", c.node("remote:long").MS, elapsed(func() { applyAll(c.b, d, updates) }))
}

func (c *comparison) print() {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%-42s %12s %12s %7s %6s %8s\n", "", "yjs 13.6.33", "ycrdt", "ratio", "goal", "stretch")
	for _, r := range c.rows {
		ratio := r.own / r.yjs
		mark := ""
		switch {
		case ratio > r.goal:
			mark = "  MISSED"
			c.b.Errorf("%s: ratio %.3f, want at most %.2f", r.what, ratio, r.goal)
		case ratio <= r.stretch:
			mark = "  stretch"
		}
		fmt.Fprintf(&out, "%-42s %9.2f %s %9.2f %s %7.3f %6.2f %8.2f%s\n", r.what, r.yjs, r.unit, r.own, r.unit, ratio, r.goal, r.stretch, mark)
	}
	out.WriteString("* a synthetic trace with the statistics of B4, from a fixed seed; the encoded states are identical\n")
	fmt.Print(out.String()) // a log of the benchmark would be cut short
}
