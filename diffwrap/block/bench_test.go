package block

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkScan scans the notes of the tests of the lens, again and again.
func BenchmarkScan(b *testing.B) {
	files, err := filepath.Glob("../testdata/notes/*.md")
	if err != nil || len(files) == 0 {
		b.Fatal("no notes", err)
	}
	var text strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		text.Write(append(data, "\n\n"...))
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		Scan(text.String())
	}
}
