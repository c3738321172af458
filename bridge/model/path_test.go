package model_test

import (
	"errors"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

func TestCleanPath(t *testing.T) {
	long := strings.Repeat("x", 256)
	tests := []struct {
		in   string
		want model.Path
		err  error
	}{
		{"Notes/a.md", "Notes/a.md", nil},
		{"/Notes//./a.md/", "Notes/a.md", nil},
		{"", "", nil},
		{"Notes/../a.md", "", model.ErrBadName},
		{"..", "", model.ErrBadName},
		{"Notes/a\x00.md", "", model.ErrBadName},
		{"Notes/\xff.md", "", model.ErrBadName},
		{"Notes/" + long, "", model.ErrNameTooLong},
		{strings.Repeat("a/", 3000), "", model.ErrNameTooLong},
		{"Notes/..a.md", "Notes/..a.md", nil},
	}
	for _, tt := range tests {
		got, err := model.CleanPath(tt.in)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("CleanPath(%.40q) = %q, %v; want %q, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestPathParts(t *testing.T) {
	p := model.Path("Notes/sub/a.MD")
	folder, rel := p.Split()
	if folder != "Notes" || rel != "sub/a.MD" || p.Dir() != "Notes/sub" || p.Base() != "a.MD" || !p.IsNote() {
		t.Errorf("parts of %q: %q %q %q %q note=%v", p, folder, rel, p.Dir(), p.Base(), p.IsNote())
	}
	if !model.Path("Notes").Contains(p) || model.Path("Note").Contains(p) || !model.Path("").Contains(p) || !p.Contains(p) {
		t.Error("Contains mistakes a prefix for a folder")
	}
	if model.Path("Notes").Dir() != "" || model.Path("").Join("a") != "a" {
		t.Error("the workspace is the parent of a Folder")
	}
}

func TestCheckWindowsName(t *testing.T) {
	for name, says := range map[string]string{
		"a<b.md": `'<'`, "a>.md": `'>'`, "Re: b.md": `':'`, `"q".md`: `'"'`, "a|b": `'|'`, "Why?.md": `'?'`, "*.md": `'*'`, `a\b.md`: `'\\'`,
		"tab\t.md": `'\t'`, "etc.": `'.'`, "blank ": `' '`, "...": `'.'`,
		"CON": `"CON"`, "con.md": `"con"`, "Nul.tar.gz": `"Nul"`, "aux .md": `"aux"`, "prn": `"prn"`, "COM1.md": `"COM1"`, "lpt9": `"lpt9"`, "com².md": `"com²"`,
	} {
		err := model.CheckWindowsName(name)
		if _, bad := errors.AsType[*model.BadNameError](err); !bad || !errors.Is(err, model.ErrBadName) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s in it", name, err, says)
		}
	}
	for _, name := range []string{"a.md", ".hidden", "a b.md", "a..md", " a.md", "CONtext.md", "icon.md", "COM.md", "COM0.md", "COM10.md", "lpt.md", "a.con", "été 🦊.md", "a\u00a0"} {
		if err := model.CheckWindowsName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A name with a text before its extension is one that may be, whatever name and text; it keeps an extension.
func TestBeforeExt(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		name := strings.Join(randomtest.Some(r, 1, 300, "a", "b", "é", "漢", " ", "."), "")
		if model.CheckName(name) != nil {
			return
		}
		for _, text := range []string{" 1", " 10000", " (conflicted copy 2026-01-02 150405)"} {
			got := model.BeforeExt(name, text)
			if err := model.CheckName(got); err != nil || !strings.Contains(got, text) {
				t.Fatalf("%q with %q is %q: %v", name, text, got, err)
			}
			if ext := path.Ext(name); len(ext) < 100 && path.Ext(got) != ext {
				t.Fatalf("%q with %q is %q, without %q", name, text, got, ext)
			}
		}
	})
	var names []string
	for name := range model.NumberedNames("Note.md") {
		if names = append(names, name); len(names) == 3 {
			break
		}
	}
	if got := strings.Join(names, ", "); got != "Note.md, Note 1.md, Note 2.md" {
		t.Errorf("got %s", got)
	}
}
