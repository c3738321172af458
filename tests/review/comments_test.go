package review

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// agentMount mounts a vault of these files for an agent.
func agentMount(t *testing.T, s *harness.Sandbox, files map[string]string) *harness.Mount {
	t.Helper()
	return s.Mount(t, s.Vault(t, "Vault", files), "--author", "agent")
}

// An agent's comment is in the note at once, and waits: it is listed with its author,
// rejecting takes it out, accepting lets it stay, and either is taken back.
func TestAnAgentsCommentWaits(t *testing.T) {
	t.Parallel()
	const before = "One two.\n\nThree.\n"
	const after = "One two{>>really?<<}.\n\nThree{>>{\"author\":\"agent\"}@@count again<<}.\n"
	s := harness.NewSandbox(t)
	m := agentMount(t, s, map[string]string{"note.md": before})
	harness.WriteFile(t, m.Path("note.md"), after)
	check := func(what, want string, pending int) []harness.Suggestion {
		t.Helper()
		harness.CheckText(t, what, harness.ReadFile(t, m.VaultPath("note.md")), want)
		list := s.Suggestions(t, m.Vault)
		if len(list) != pending {
			t.Fatalf("%s: %d suggestions, want %d: %v", what, len(list), pending, list)
		}
		return list
	}
	list := check("written", after, 2)
	for i, text := range []string{"really?", "count again"} {
		if sg := list[i]; sg.Kind != "comment" || sg.New != text || sg.Old != "" || sg.Author != "agent" || sg.Line != 1+2*i || sg.Time == "" {
			t.Errorf("listed as %+v", sg)
		}
	}
	s.Decide(t, "reject", list[0].ID, m.Vault)
	check("one rejected", strings.Replace(after, "{>>really?<<}", "", 1), 1)
	s.Decide(t, "undo", m.Vault)
	if again := check("taken back", after, 2); again[1] != list[1] {
		t.Errorf("was %+v, is %+v", list[1], again[1])
	}
	s.Decide(t, "accept", "--all", "--yes", m.Vault)
	check("accepted", after, 0)
	if log := s.Run(t, "suggestions", "log", m.Vault); !strings.Contains(log.Stdout, "{>>count again<<}") {
		t.Errorf("the journal says:\n%s", log.Stdout)
	}
	s.Decide(t, "undo", m.Vault)
	check("acceptance taken back", after, 2)
	s.Decide(t, "accept", "--kind", "comment", m.Vault)
	m.Stop(t)
	check("after a restart", after, 0)
	s.Decide(t, "undo", m.Vault)
	check("taken back after a restart", after, 2)
	s.Decide(t, "reject", "--all", "--yes", m.Vault)
	check("all rejected", before, 0)
}

// What an agent may not write as a comment is refused: several lines, which could hold
// blocks, and anything that is signed by somebody else.
func TestCommentsThatAreRefused(t *testing.T) {
	t.Parallel()
	const before = "---\ntitle: a\n---\nOne two.{>>{\"author\":\"Ann\"}@@mine<<}\n"
	s := harness.NewSandbox(t)
	m := agentMount(t, s, map[string]string{"note.md": before})
	client := s.MCP(t, "--author", "agent", m.Vault)
	client.MustCall(t, "read", "file_path", "Vault/note.md")
	for name, added := range map[string]string{
		"several lines":      "{>>one\ntwo<<}",
		"CRLF":               "{>>one\r\ntwo<<}",
		"blocks":             "{>>\n\n# Heading\n```dataviewjs\ndv.el()\n```\n<<}",
		"signed":             `{>>{"author":"Boss"}@@approved<<}`,
		"signed in short":    `{>>{"a":"Boss"}@@approved<<}`,
		"signed twice":       `{>>{"author":"Boss","AUTHOR":"agent"}@@approved<<}`,
		"signed in escapes":  `{>>{"\u0061uthor":"Boss"}@@approved<<}`,
		"signed for Relay":   `{{author="Boss" date="2026-07-13T07:01:55Z">>approved<<}}`,
		"signed by an id":    `{{authorId="17" author="agent">>approved<<}}`,
		"signature alone":    `{{author="Boss">><<}}`,
		"signed addition":    `{++{"author":"Boss"}@@approved++}`,
		"a second of Ann's":  ` again{>>{"author":"Ann"}@@mine<<}`,
		"Ann's in new words": `{>>{"author":"Ann"}@@yes, do<<}`,
	} {
		t.Run(name, func(t *testing.T) {
			err := harness.WriteAll(m.Path("note.md"), []byte(strings.Replace(before, "two.", "two."+added, 1)))
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("on the mount: %v, want EINVAL", err)
			}
			result := client.Call(t, "edit", "file_path", "Vault/note.md", "old_string", "two.", "new_string", "two."+added)
			if !result.IsError {
				t.Errorf("through MCP: %s", result.Text)
			}
			harness.CheckText(t, "the note", harness.ReadFile(t, m.VaultPath("note.md")), before)
			harness.CheckText(t, "the mount's note", harness.ReadFile(t, m.Path("note.md")), before)
		})
	}
	for _, sentence := range []string{"a comment must have one line", "has another author's name"} {
		m.Log.Says(t, sentence)
	}
	for what, comment := range map[string]string{"signed": `{"author":"Boss"}@@approved`, "a delimiter": "a<<}b"} {
		if result := client.Call(t, "comment", "file_path", "Vault/note.md", "anchor_text", "two", "comment", comment); !result.IsError {
			t.Errorf("the comment tool, %s: %s", what, result.Text)
		}
	}
	if result := client.Call(t, "comment", "file_path", "Vault/note.md", "anchor_text", "title: a", "comment", "why a"); !result.IsError {
		t.Errorf("a comment in front matter: %s", result.Text)
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, m.VaultPath("note.md")), before)
	client.MustCall(t, "comment", "file_path", "Vault/note.md", "anchor_text", "two", "comment", "in\ntwo lines")
	if list := s.Suggestions(t, m.Vault); len(list) != 1 || list[0].Kind != "comment" || list[0].New != "in two lines" || list[0].Author != "agent" {
		t.Errorf("listed: %v", list)
	}
}

// A person's comment goes by a suggestion only, alone or with the text around it, and
// rejecting that brings back every byte.
func TestAPersonsCommentIsNotDeletedDirectly(t *testing.T) {
	t.Parallel()
	const comment, signed = "{>>why?\n\nreally<<}", "{>>{\"author\":\"Ann\",\"time\":1783926115}@@hm {++x++}<<}"
	const before = "One two" + comment + " three.\n\nSecond.\n\n- item" + signed + " rest\n- last\n"
	s := harness.NewSandbox(t)
	tests := map[string]string{
		"comment":         strings.Replace(before, comment, "", 1),
		"signed comment":  strings.Replace(before, signed, "", 1),
		"both":            strings.NewReplacer(comment, "", signed, "").Replace(before),
		"paragraph":       strings.Replace(before, "One two"+comment+" three.\n\n", "", 1),
		"item":            strings.Replace(before, "- item"+signed+" rest\n", "", 1),
		"all":             "",
		"reworded":        strings.Replace(before, comment, "{>>because<<}", 1),
		"moved":           "Second.\n\nOne two" + comment + " three.\n\n- item" + signed + " rest\n- last\n",
		"item moved":      strings.Replace(before, "- item"+signed+" rest\n- last\n", "- last\n- item"+signed+" rest\n", 1),
		"everything anew": "# New\n\nWords.\n",
		"with its word":   strings.Replace(before, "two"+comment, "2", 1),
	}
	files := make(map[string]string)
	for name := range tests {
		files[name+".md"] = before
	}
	m := agentMount(t, s, files)
	for name, written := range tests {
		harness.ReadFile(t, m.Path(name+".md"))
		harness.WriteFile(t, m.Path(name+".md"), written)
		if name == "all" {
			continue // an empty file may be a save that is under way
		}
		harness.CheckText(t, name+": read back", harness.ReadFile(t, m.Path(name+".md")), written)
		if raw := harness.ReadFile(t, m.VaultPath(name+".md")); raw == written {
			t.Errorf("%s: went in directly", name)
		}
	}
	harness.Shell("sync all.md")(t, filepath.Dir(m.Path("all.md")))
	s.Decide(t, "reject", "--all", "--yes", m.Vault)
	for name := range tests {
		harness.CheckText(t, name+": rejected", harness.ReadFile(t, m.VaultPath(name+".md")), before)
	}
	s.Decide(t, "undo", m.Vault)
	for name, written := range tests {
		harness.CheckText(t, name+": taken back", harness.ReadFile(t, m.Path(name+".md")), written)
	}
	s.Decide(t, "accept", "--all", "--yes", m.Vault)
	for name, written := range tests {
		harness.CheckText(t, name+": accepted", harness.ReadFile(t, m.VaultPath(name+".md")), written)
	}
	if list := s.Suggestions(t, m.Vault); len(list) > 0 {
		t.Errorf("still listed: %v", list)
	}
}

// Highlights are furniture: marks go inside, and rejecting brings back every byte.
func TestHighlightsStay(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, before, written, stored, accepted string }{
		{"replaced", "An {==important==} word.\n", "An urgent word.\n", "An {=={--important--}{++urgent++}==} word.\n", "An {==urgent==} word.\n"},
		{"words inside", "{==one two three==}\n", "one 2 three\n", "{==one {--two--}{++2++} three==}\n", "{==one 2 three==}\n"},
		{"across its edge", "{==one two==} three.\n", "one 3.\n", "{==one {--two--}==}{-- three--}{++3++}.\n", "{==one ==}3.\n"},
		{"appended behind", "{==one==}\n", "one more\n", "{==one==}{++ more++}\n", "{==one==} more\n"},
		{"a line behind", "{==one==}\nlast\n", "one\nnew\nlast\n", "{==one==}{++\nnew++}\nlast\n", "{==one==}\nnew\nlast\n"},
		{"before it", "a {==one==}\n", "a new one\n", "a {++new ++}{==one==}\n", "a new {==one==}\n"},
		{"with its comment", "{==one==}{>>reword<<} b\n", "uno{>>reword<<} b\n", "{=={--one--}{++uno++}==}{>>reword<<} b\n", "{==uno==}{>>reword<<} b\n"},
	}
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for _, tc := range tests {
		files[tc.name+".md"] = tc.before
	}
	m := agentMount(t, s, files)
	for _, tc := range tests {
		harness.ReadFile(t, m.Path(tc.name+".md"))
		harness.WriteFile(t, m.Path(tc.name+".md"), tc.written)
		harness.CheckText(t, tc.name+": stored", harness.ReadFile(t, m.VaultPath(tc.name+".md")), tc.stored)
		harness.CheckText(t, tc.name+": read back", harness.ReadFile(t, m.Path(tc.name+".md")), tc.written)
	}
	s.Decide(t, "reject", "--all", "--yes", m.Vault)
	for _, tc := range tests {
		harness.CheckText(t, tc.name+": rejected", harness.ReadFile(t, m.VaultPath(tc.name+".md")), tc.before)
	}
	s.Decide(t, "undo", m.Vault)
	s.Decide(t, "accept", "--all", "--yes", m.Vault)
	for _, tc := range tests {
		harness.CheckText(t, tc.name+": accepted", harness.ReadFile(t, m.VaultPath(tc.name+".md")), tc.accepted)
	}
}
