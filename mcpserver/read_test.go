package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadLayout(t *testing.T) {
	many := strings.Repeat("x\n", 2500)
	for _, tt := range []struct {
		name, doc string
		args      []any
		want      string // the blocks of the result
	}{
		{"layout", "a\nb\n", nil, "     1\ta\n     2\tb"},
		{"no final newline", "a\nb", nil, "     1\ta\n     2\tb"},
		{"blank lines", "\n\na\n\n", nil, "     1\t\n     2\t\n     3\ta\n     4\t"},
		{"CRLF and BOM", "\ufeffa\r\nb\r\n", nil, "     1\ta\n     2\tb"},
		{"offset", "a\nb\nc\n", []any{"offset", 2}, "     2\tb\n     3\tc"},
		{"offset 0", "a\nb\n", []any{"offset", 0}, "     1\ta\n     2\tb"},
		{"offset and limit", "a\nb\nc\n", []any{"offset", 2, "limit", 1}, "     2\tb\n[block]\n[Showing lines 2-2 of 3. Call read with offset: 3 to see more.]"},
		{"empty", "", nil, "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"},
		{"past the end", many, []any{"offset", 9000},
			"<system-reminder>Warning: the file exists but is shorter than the provided offset (9000). The file has 2500 lines.</system-reminder>"},
		{"last line", "a\nb\n", []any{"offset", 2, "limit", 5}, "     2\tb"},
		{"column", "äöü\nb\n", []any{"offset", 1, "column", 3}, "     1\tü\n     2\tb"},
		{"column and limit", "abc\nb\n", []any{"column", 2, "limit", 1}, "     1\tbc\n[block]\n[Showing lines 1-1 of 2, from character 2 of line 1. Call read with offset: 2 to see more.]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, srv := serve(t, map[string]string{"V/a.md": tt.doc})
			if got := newTools(t, srv).ok("read", append([]any{"file_path", "V/a.md"}, tt.args...)...); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReadLimits(t *testing.T) {
	read := func(t *testing.T, doc string, args ...any) (page, notice string) {
		t.Helper()
		_, srv := serve(t, map[string]string{"V/a.md": doc})
		page, notice, _ = strings.Cut(newTools(t, srv).ok("read", append([]any{"file_path", "V/a.md"}, args...)...), "\n[block]\n")
		return page, notice
	}
	t.Run("default lines", func(t *testing.T) {
		page, notice := read(t, strings.Repeat("x\n", 2500))
		if n := strings.Count(page, "\n") + 1; n != 2000 {
			t.Errorf("%d lines", n)
		}
		if want := "[Showing lines 1-2000 of 2500. Call read with offset: 2001 to see more.]"; notice != want {
			t.Errorf("notice %q, want %q", notice, want)
		}
	})
	t.Run("a long line", func(t *testing.T) {
		doc := strings.Repeat("ä", 30000) + "\nb\n"
		first, notice := read(t, doc)
		var offset, column int
		if _, err := fmt.Sscanf(notice[strings.Index(notice, "offset:"):], "offset: %d, column: %d", &offset, &column); err != nil || offset != 1 {
			t.Fatalf("notice %q: %v", notice, err)
		}
		second, notice := read(t, doc, "offset", offset, "column", column)
		if got := strings.TrimPrefix(first, "     1\t") + strings.TrimPrefix(second, "     1\t"); got != strings.Repeat("ä", 30000)+"\n     2\tb" || notice != "" {
			t.Errorf("got %d bytes, notice %q", len(got), notice)
		}
	})
	t.Run("never inside a character", func(t *testing.T) {
		family := "👩‍👩‍👧‍👦"
		page, _ := read(t, strings.Repeat(family, 3000))
		if rest := strings.TrimPrefix(page, "     1\t"); strings.ReplaceAll(rest, family, "") != "" || len(rest) < 30000 {
			t.Errorf("%d bytes, end in %q", len(rest), rest[len(rest)-20:])
		}
	})
	t.Run("a column past the end", func(t *testing.T) {
		_, srv := serve(t, map[string]string{"V/a.md": "abc\n"})
		if res := newTools(t, srv).call("read", "file_path", "V/a.md", "column", 9); !res.IsError || !strings.Contains(res.Text[0], "line 1 has 3 characters") {
			t.Errorf("got %q", res.Text)
		}
	})
}

// An answer holds images up to a size, over all documents together.
func TestReadImages(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00" + strings.Repeat("x", 2<<20)
	f, srv := serve(t, map[string]string{"V/a.md": "a\n"})
	f.Person("V/one.png", png)
	f.Person("V/two.png", png)
	f.Person("V/large.png", png+png)
	c := newTools(t, srv)
	if res := c.call("read", "file_path", "V/one.png"); len(res.Images) != 1 || string(res.Images[0].Data) != png || res.Images[0].MIMEType != "image/png" {
		t.Errorf("one image: %d images, %q", len(res.Images), res.Text)
	}
	if res := c.call("read", "file_paths", []string{"V/one.png", "V/a.md", "V/two.png"}); len(res.Images) != 1 || !strings.Contains(res.Text[2], "read this one separately") {
		t.Errorf("two images: %d images, %q", len(res.Images), res.Text)
	}
	if res := c.call("read", "file_path", "V/large.png"); !res.IsError || !strings.Contains(res.Text[0], "more than 3 MiB") {
		t.Errorf("a large image: %q", res.Text)
	}
}
