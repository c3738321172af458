package mcpserver_test

import (
	"errors"
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

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// generatedNotes are n notes of about size bytes each, of words as unequally
// frequent as those of a language.
func generatedNotes(n, size int) map[string]string {
	rnd := rand.New(rand.NewPCG(11, 11))
	zipf := rand.NewZipf(rnd, 1.2, 8, 19_999)
	words := make([]string, 20_000)
	syllables := strings.Fields("ka lo mi ter an der sch in on ta re vi no qua per sen for il ma de con tra pel zu ber gan")
	for i := range words {
		for range 1 + rnd.IntN(2) + min(i/300, 2) {
			words[i] += syllables[rnd.IntN(len(syllables))]
		}
	}
	notes := make(map[string]string, n)
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "---\ntags: [t%d]\n---\n# Note %d\n\n", i%50, i)
		for b.Len() < size {
			for range 5 + rnd.IntN(12) {
				b.WriteString(words[zipf.Uint64()])
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "[[Note %d]].\n", rnd.IntN(n))
		}
		notes[fmt.Sprintf("V/d%02d/Note %d.md", i%40, i)] = b.String()
	}
	return notes
}

// writeNotes puts the notes on a file system in memory, where there is one.
func writeNotes(t testing.TB, notes map[string]string) (dir string) {
	t.Helper()
	base := "/dev/shm"
	if _, err := os.Stat(base); err != nil {
		base = t.TempDir()
	}
	dir, err := os.MkdirTemp(base, "relayfs-bench-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, text := range notes {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Shares of ripgrep's time that a search may take at most.
const (
	forSelective = 0.25
	forEveryLine = 1
	forAny       = 3
)

var searches = []struct {
	name, pattern string
	limit         float64
	flags         []any // of the tool
	rg            []string
}{
	{"literal-rare", "Note 4711", forSelective, nil, nil},
	{"literal-absent", "nowhere to be found", forSelective, nil, nil},
	{"selective", `kater \[\[Note 47\d1\]\]`, forSelective, nil, nil},
	{"half-selective", `\[\[Note 47\d1\]\]`, forSelective, nil, nil},
	{"selective-folded", `NOTE 471[12]`, forSelective, []any{"-i", true}, []string{"-i"}},
	{"alternation", `Note 4711|Note 815\b`, forSelective, nil, nil},
	{"multiline", `Note 4711\n+\w+`, forSelective, []any{"multiline", true}, []string{"-U", "--multiline-dotall"}},
	{"every-line", `.`, forEveryLine, []any{"output_mode", "count"}, []string{"-c"}},
	{"every-line-content", `.`, forEveryLine, []any{"output_mode", "content", "head_limit", 0}, []string{"-n"}},
	{"word", `\bkater\b`, forAny, []any{"output_mode", "count"}, []string{"-c"}},
	{"no-literal", `[aeiou]{3,}[xyz]`, forAny, []any{"output_mode", "count"}, []string{"-c"}},
	{"no-literal-folded", `[^a-z\s]{4}$`, forAny, []any{"output_mode", "count", "-i", true}, []string{"-c", "-i"}},
	{"frequent", `ter`, forAny, []any{"output_mode", "count"}, []string{"-c"}},
	{"frequent-folded", `ter`, forAny, []any{"output_mode", "count", "-i", true}, []string{"-c", "-i"}},
	{"multiline-everywhere", `\.\n[a-m]`, forAny, []any{"output_mode", "count", "multiline", true}, []string{"-c", "-U"}},
}

// BenchmarkGrep searches 10,000 notes of 4 KB, and reports the time as a share of
// ripgrep's for the same files in memory, beside the share that it may be.
func BenchmarkGrep(b *testing.B) {
	notes := generatedNotes(10_000, 4<<10)
	dir := writeNotes(b, notes)
	_, srv := serve(b, notes)
	c := newTools(b, srv)
	for _, s := range searches {
		b.Run(s.name, func(b *testing.B) {
			args := append([]any{"pattern", s.pattern, "head_limit", 0}, s.flags...)
			c.ok("grep", args...) // the first search reads the notes and builds the index
			for b.Loop() {
				c.ok("grep", args...)
			}
			own := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(own)/float64(ripgrepTime(b, dir, s.pattern, s.rg)), "of-rg")
			b.ReportMetric(s.limit, "of-rg-limit")
		})
	}
}

// ripgrepTime is the least of a few runs.
func ripgrepTime(b *testing.B, dir, pattern string, flags []string) time.Duration {
	b.Helper()
	if len(flags) == 0 || flags[0] == "-i" || flags[0] == "-U" {
		flags = append([]string{"-l"}, flags...)
	}
	least := time.Hour
	for range 5 {
		cmd := exec.Command("rg", append(append([]string{"--no-config", "--hidden"}, flags...), "-e", pattern, ".")...)
		cmd.Dir = dir
		start := time.Now()
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
			b.Skipf("rg: %v", err)
		}
		least = min(least, time.Since(start))
	}
	return least
}

// BenchmarkIndexMemory reports what the index keeps for each byte of text.
func BenchmarkIndexMemory(b *testing.B) {
	notes := generatedNotes(10_000, 4<<10)
	text := 0
	for _, t := range notes {
		text += len(t)
	}
	f, srv := serve(b, notes)
	c := newTools(b, srv)
	err := f.Walk(b.Context(), "", func(e bridge.Info) error {
		if e.Kind != model.KindNote {
			return nil
		}
		_, err := f.Open(b.Context(), e.Path)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
	}
	before := heap()
	c.ok("grep", "pattern", "nowhere to be found")
	b.ReportMetric(float64(heap()-before)/float64(text), "of-text")
	b.ReportMetric(0.5, "of-text-limit")
	runtime.KeepAlive(srv)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkReadEdit measures the two tools that are called most, on 10,000 notes.
func BenchmarkReadEdit(b *testing.B) {
	_, srv := serve(b, generatedNotes(10_000, 4<<10))
	c := newTools(b, srv)
	c.ok("list_suggestions") // reads the notes
	path := func(i int) string { return fmt.Sprintf("V/d%02d/Note %d.md", i%10_000%40, i%10_000) }
	b.Run("read", func(b *testing.B) {
		percentiles(b, func(i int) { c.ok("read", "file_path", path(i)) })
	})
	b.Run("edit", func(b *testing.B) {
		for i := range 10_000 {
			c.ok("read", "file_path", path(i))
		}
		percentiles(b, func(i int) {
			// A session remembers the notes read last.
			c.ok("edit", "file_path", path(9_999-i%4000), "old_string", "# Note", "new_string", fmt.Sprintf("# Note %d Note", i))
		})
	})
}

// percentiles reports the median and the 99th percentile of fn's time, in
// microseconds.
func percentiles(b *testing.B, fn func(i int)) {
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		fn(i)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(1000, "p50-limit-µs")
	b.ReportMetric(10_000, "p99-limit-µs")
}
