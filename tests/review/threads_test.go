package review

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// thread is an element of `relayfs suggestions threads --json`.
type thread struct {
	ID, Path, About, Suggestion string
	Answered                    bool
	Remarks                     []struct{ Text, Author string }
}

func threadsOf(t *testing.T, s *harness.Sandbox, args ...string) (list []thread) {
	t.Helper()
	out := s.Run(t, append([]string{"suggestions", "threads", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out.Stdout), &list); err != nil || out.Code != 0 {
		t.Fatalf("threads: %v, exit %d: %s", err, out.Code, out.Stderr)
	}
	return list
}

// A person asks for another version and the agent, who reads that, answers in place; the person talks about the text,
// the agent replies, and a restart keeps all of it until the person resolves it and takes that back.
func TestDialogue(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := agentMount(t, s, map[string]string{"note.md": "One two three.\n\nFour five.\n"})
	client := s.MCP(t, "--author", "agent", m.Vault)
	client.MustCall(t, "read", "file_path", "Vault/note.md")
	client.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "two", "new_string", "a great many")
	id := s.Suggestions(t, m.Vault)[0].ID

	s.Decide(t, "comment", id, "--text", "shorter, please", m.Vault)
	harness.CheckText(t, "asked for another", harness.ReadFile(t, m.VaultPath("note.md")), "One {--two--}{++a great many++}{>>shorter, please<<} three.\n\nFour five.\n")
	for tool, args := range map[string][]any{"read": {"file_path", "Vault/note.md"}, "list_suggestions": nil} {
		if got := client.MustCall(t, tool, args...); !strings.Contains(got, "(agent) {>>shorter, please<<}") {
			t.Errorf("%s says\n%s\nwant the comment behind the suggestion", tool, got)
		}
	}
	client.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "a great many", "new_string", "many")
	harness.CheckText(t, "another version", harness.ReadFile(t, m.VaultPath("note.md")), "One {--two--}{++many++}{>>shorter, please<<} three.\n\nFour five.\n")
	if list := threadsOf(t, s, m.Vault); len(list) != 1 || !list[0].Answered || list[0].Suggestion != s.Suggestions(t, m.Vault)[0].ID {
		t.Errorf("threads %+v, want one that is answered", list)
	}
	s.Decide(t, "reject", "--all", "--reason", "say how many", m.Vault)
	harness.CheckText(t, "rejected", harness.ReadFile(t, m.VaultPath("note.md")), "One two three.\n\nFour five.\n")
	if got := client.MustCall(t, "read", "file_path", "Vault/note.md"); !strings.Contains(got, `because "say how many"`) {
		t.Errorf("read says\n%s", got)
	}
	client.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "two", "new_string", "seven")
	if got := s.Run(t, "suggestions", "show", m.Vault).Stdout; !strings.Contains(got, "was rejected: {--two--}{++many++} because say how many") {
		t.Errorf("show says\n%s\nwant what was rejected there", got)
	}
	s.Decide(t, "accept", "--all", m.Vault)

	s.Decide(t, "comment", "--note", "Vault/note.md", "--quote", "Four", "--text", "is it?", m.Vault)
	if got := client.MustCall(t, "list_suggestions"); !strings.Contains(got, `Vault/note.md:3: comment on "Four": {>>is it?<<}`) {
		t.Errorf("list_suggestions says\n%s\nwant the comment in the text", got)
	}
	client.MustCall(t, "read", "file_path", "Vault/note.md")
	client.MustCall(t, "comment", "file_path", "Vault/note.md", "anchor_text", "Four", "comment", "I counted")
	const talk = "One seven three.\n\nFour{>>is it?<<}{>>I counted<<} five.\n"
	harness.CheckText(t, "replied", harness.ReadFile(t, m.VaultPath("note.md")), talk)
	m.Stop(t)
	list := threadsOf(t, s, m.Vault)
	if len(list) != 1 || len(list[0].Remarks) != 2 || list[0].Remarks[0].Author == "" || list[0].Remarks[1].Author != "agent" || list[0].About != "Four" {
		t.Fatalf("threads after a restart: %+v", list)
	}
	pending := s.Suggestions(t, m.Vault)
	s.Decide(t, "resolve", list[0].ID, m.Vault)
	harness.CheckText(t, "resolved", harness.ReadFile(t, m.VaultPath("note.md")), strings.Replace(talk, "{>>is it?<<}{>>I counted<<}", "", 1))
	s.Decide(t, "undo", m.Vault)
	harness.CheckText(t, "taken back", harness.ReadFile(t, m.VaultPath("note.md")), talk)
	if again := threadsOf(t, s, m.Vault); len(again) != 1 || again[0].ID != list[0].ID || again[0].Remarks[0].Author != list[0].Remarks[0].Author {
		t.Errorf("threads taken back: %+v, want %+v", again, list)
	}
	if again := s.Suggestions(t, m.Vault); len(again) != 1 || len(pending) != 1 || again[0] != pending[0] {
		t.Errorf("the agent's comment was %v, is %v", pending, again)
	}
}

// Where no comment can stand, nothing is written and the reason is said.
func TestCommentsOfPeopleThatAreRefused(t *testing.T) {
	t.Parallel()
	const text = "---\na: b\n---\nOne two two.\n\n> | cell |\n> |---|\n"
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": text})
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"several":      {[]string{"--note", "Vault/note.md", "--quote", "two", "--text", "x"}, "occurs several times"},
		"none":         {[]string{"--note", "Vault/note.md", "--quote", "three", "--text", "x"}, "does not occur"},
		"front matter": {[]string{"--note", "Vault/note.md", "--quote", "a: b", "--text", "x"}, "cannot be placed there"},
		"cell":         {[]string{"--note", "Vault/note.md", "--quote", "cell", "--text", "x|y"}, `write \| in the comment`},
		"delimiters":   {[]string{"--note", "Vault/note.md", "--quote", "One", "--text", "x<<}y"}, "must not contain"},
		"no id":        {[]string{"0123456789", "--text", "x"}, "is not pending"},
		"no place":     {[]string{"--text", "x"}, "give the ID of one"},
		"no note":      {[]string{"--note", "Vault/other.md", "--quote", "One", "--text", "x"}, "Vault/other.md"},
	} {
		t.Run(name, func(t *testing.T) {
			out := s.Run(t, append(append([]string{"suggestions", "comment"}, c.args...), vault)...)
			if out.Code == 0 || !strings.Contains(out.Stderr, c.want) {
				t.Errorf("exit %d, %q, want %q", out.Code, out.Stderr, c.want)
			}
		})
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, vault+"/note.md"), text)
}
