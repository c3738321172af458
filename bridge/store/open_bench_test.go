package store_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
)

// openEnv makes the test binary a process that opens a store, and says what that costs.
const openEnv = "RELAYFS_STORE_OPEN_BENCH"

// manyDocuments is how many documents BenchmarkManyDocuments opens.
const manyDocuments = 100_000

// fillMany stores documents of three records: the text that was there, 1,000 bytes, and two changes of an agent.
func fillMany(b *testing.B, path string) {
	s, err := store.Open(path, store.Options{NoBackground: true})
	if err != nil {
		b.Fatal(err)
	}
	text, word := record(strings.Repeat("some words ", 90)), record("some words that an agent wrote")
	for i := range manyDocuments {
		at, sum := time.Unix(int64(i), 0), make([]byte, 32)
		save := &model.Save{Pre: model.Stamp{Device: 1, Inode: uint64(i), Size: 1000, ModTime: at.UnixNano(), CTime: at.UnixNano()}, Sum: sum}
		save.Post = save.Pre
		agent := word
		agent.Author, agent.Session, agent.Time, agent.Save = "claude", "0123456789abcdef", at, save
		agent.Marks = []model.MarkRecord{{Add: []model.IDRange{{Client: word.Client, Clock: 0, Len: 30}}}}
		id := model.DocID(fmt.Sprintf("%08x-1b4e-4d7a-9c53-%012d", uint32(i)*2654435761, i)) // as random as those of documents
		seq, err := s.Append(id, model.Path(fmt.Sprintf("Folder %d/Note %d.md", i/100, i)), text, agent, agent)
		if err != nil {
			b.Fatal(err)
		}
		s.RecordFileSeq(id, seq, model.ContentSum{byte(i)}, model.Stamp{})
		if i%5000 == 4999 {
			if err := s.Checkpoint(); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkManyDocuments prints what it costs to open a store of 100,000 documents in a process of its own, in
// milliseconds and megabytes of memory beyond those of a process that opens an empty one, and its size on the disk.
func BenchmarkManyDocuments(b *testing.B) {
	path, empty := filepath.Join(b.TempDir(), "full", "store"), filepath.Join(b.TempDir(), "empty", "store")
	for _, p := range []string{path, empty} {
		if err := os.Mkdir(filepath.Dir(p), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	fillMany(b, path)
	var disk int64
	err := filepath.Walk(filepath.Dir(path), func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			disk += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	took, memory, n := 0.0, 0.0, 0.0
	for b.Loop() {
		_, without := openElsewhere(b, empty)
		ms, mb := openElsewhere(b, path)
		took, memory, n = took+ms, memory+mb-without, n+1
	}
	b.ReportMetric(took/n, "ms")
	b.ReportMetric(memory/n, "MB")
	b.ReportMetric(float64(disk)/1e6, "MB-on-disk")
}

func openElsewhere(b *testing.B, path string) (ms, mb float64) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), openEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		_, err = fmt.Sscan(string(out), &ms, &mb)
	}
	if err != nil {
		b.Fatal(err)
	}
	return ms, mb
}

// openOnce prints how long it took to open a store, and the most memory that the process had.
func openOnce(path string) error {
	start := time.Now()
	s, err := store.Open(path, store.Options{NoBackground: true})
	if err != nil {
		return err
	}
	took := time.Since(start)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kb float64
	if _, err := fmt.Sscan(peak, &kb); err != nil {
		return err
	}
	fmt.Println(took.Seconds()*1e3, kb/1e3)
	return s.Close()
}
