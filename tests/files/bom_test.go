package files

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

const bom = "\ufeff"

// A byte order mark belongs to the note: no mark comes before it or into the front
// matter behind it, whether or not the program that writes knows of it, and reject
// brings back the bytes from before.
func TestByteOrderMarks(t *testing.T) {
	t.Parallel()
	const matter = "---\ntitle: a\ntags: [x]\n---\n"
	tests := []struct {
		name          string
		before, write string
		want          string // in the vault, afterwards
		rejected      string // after reject --all
	}{
		{"properties behind it", bom + matter + "Body.\n", bom + strings.Replace(matter, "title: a", "title: b", 1) + "Body.\n",
			bom + strings.Replace(matter, "title: a", "title: b", 1) + "Body.\n", bom + strings.Replace(matter, "title: a", "title: b", 1) + "Body.\n"},
		{"body behind it and front matter", bom + matter + "Old words.\n", bom + matter + "New words.\n",
			bom + matter + "{--Old--}{++New++} words.\n", bom + matter + "Old words.\n"},
		{"read as utf-8-sig, unchanged", bom + matter + "Body.\n", matter + "Body.\n", bom + matter + "Body.\n", bom + matter + "Body.\n"},
		{"read as utf-8-sig, changed", bom + matter + "Old words.\n", matter + "New words.\n",
			bom + matter + "{--Old--}{++New++} words.\n", bom + matter + "Old words.\n"},
		{"read as utf-8-sig, properties changed", bom + matter + "Body.\n", strings.Replace(matter, "title: a", "title: b", 1) + "Body.\n",
			bom + strings.Replace(matter, "title: a", "title: b", 1) + "Body.\n", bom + strings.Replace(matter, "title: a", "title: b", 1) + "Body.\n"},
		{"written twice", bom + matter + "Old words.\n", bom + bom + matter + "New words.\n",
			bom + matter + "{--Old--}{++New++} words.\n", bom + matter + "Old words.\n"},
		{"front matter taken away", bom + matter + "Body.\n", bom + "Body.\n", bom + "Body.\n", bom + "Body.\n"},
		{"front matter added", bom + "Body.\n", bom + matter + "Body.\n", bom + matter + "Body.\n", bom + matter + "Body.\n"},
		{"no front matter", bom + "Old words.\n", "New words.\n", bom + "{--Old--}{++New++} words.\n", bom + "Old words.\n"},
		{"first words taken", bom + "Old words.\n", bom + "words.\n", bom + "{--Old --}words.\n", bom + "Old words.\n"},
		{"all taken", bom + "Old words.\n", bom, bom + "{--Old words.\n--}", bom + "Old words.\n"},
		{"CRLF", bom + "---\r\na: 1\r\n---\r\nOld words.\r\n", "---\na: 1\n---\nNew words.\n",
			bom + "---\r\na: 1\r\n---\r\n{--Old--}{++New++} words.\r\n", bom + "---\r\na: 1\r\n---\r\nOld words.\r\n"},
		{"empty but for it", bom, "Words.\n", bom + "{++Words.\n++}", bom},
		{"added by the writer", "Old words.\n", bom + "New words.\n", "{--Old--}{++New++} words.\n", "Old words.\n"},
		{"added by the writer, else unchanged", "Old words.\n", bom + "Old words.\n", "Old words.\n", "Old words.\n"},
		{"appended", bom + matter + "Body.\n", bom + matter + "Body.\nMore.\n", bom + matter + "Body.{++\nMore.++}\n", bom + matter + "Body.\n"},
		{"in the middle", "Old\n" + bom + "words.\n", "New\n" + bom + "words.\n", "{--Old--}{++New++}\n" + bom + "words.\n", "Old\n" + bom + "words.\n"},
	}
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for _, tc := range tests {
		files[tc.name+".md"] = tc.before
	}
	m := s.Mount(t, s.Vault(t, "Vault", files))
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			name := tc.name + ".md"
			harness.ReadFile(t, m.Path(name))
			harness.WriteFile(t, m.Path(name), tc.write)
			harness.CheckText(t, "the vault's note", harness.ReadFile(t, m.VaultPath(name)), tc.want)
		})
	}
	if out := s.Run(t, "suggestions", "reject", "--all", "--yes", m.Vault); out.Code != 0 {
		t.Fatalf("reject: exit %d, %s", out.Code, out.Stderr)
	}
	for _, tc := range tests {
		harness.CheckText(t, "after reject: "+tc.name, harness.ReadFile(t, m.VaultPath(tc.name+".md")), tc.rejected)
	}
}

// A note with a byte order mark is appended to, and a change of the properties behind
// one is taken back, without doubling it.
func TestByteOrderMarkAppendAndUndo(t *testing.T) {
	t.Parallel()
	const raw = bom + "---\ntitle: a\n---\nBody.\n"
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": raw, "bare.md": raw}))
	harness.Shell("printf 'More.\\n' >> note.md")(t, filepath.Dir(m.Path("note.md")))
	harness.CheckText(t, "appended", harness.ReadFile(t, m.VaultPath("note.md")), strings.TrimSuffix(raw, "\n")+"{++\nMore.++}\n")
	harness.WriteFile(t, m.Path("bare.md"), "Body.\n")
	harness.CheckText(t, "without properties", harness.ReadFile(t, m.VaultPath("bare.md")), bom+"Body.\n")
	if out := s.Run(t, "suggestions", "undo", m.Vault); out.Code != 0 {
		t.Fatalf("undo: exit %d, %s", out.Code, out.Stderr)
	}
	harness.CheckText(t, "undone", harness.ReadFile(t, m.VaultPath("bare.md")), raw)
}

// Properties behind a byte order mark are properties for every tool, and links in them
// follow a rename.
func TestByteOrderMarkProperties(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{
		"note.md":   bom + "---\nstatus: draft\nup: \"[[Target]]\"\n---\nBody.\n",
		"Target.md": "Here.\n",
	})
	c := s.MCP(t, "--toolsets", "claude,notes", "--structure", "direct", vault)
	if meta := readMetadataOf(t, c, "Vault/note.md"); meta.FrontMatter["status"] != "draft" {
		t.Errorf("read_metadata: %+v", meta)
	}
	if text := c.MustCall(t, "get_links", "file_path", "Vault/note.md"); !strings.Contains(text, "Target.md") {
		t.Errorf("get_links: %s", text)
	}
	c.MustCall(t, "read", "file_path", "Vault/note.md")
	c.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "status: draft", "new_string", "status: done")
	c.MustCall(t, "move", "file_path", "Vault/Target.md", "new_path", "Vault/Goal.md")
	harness.CheckText(t, "the note", harness.ReadFile(t, filepath.Join(vault, "note.md")), bom+"---\nstatus: done\nup: \"[[Goal]]\"\n---\nBody.\n")
}
