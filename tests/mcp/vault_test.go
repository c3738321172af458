package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// writeSettings puts files of Obsidian's configuration into a vault.
func writeSettings(t *testing.T, vault string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(vault, ".obsidian", name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Periodic notes are where the vault's own settings have them, with their templates filled in.
func TestMCPPeriodicNotes(t *testing.T) {
	t.Parallel()
	daily := `{"folder":"Journal","format":"YYYY/MM-MMMM/YYYY-MM-DD-dddd","template":"Templates/Day"}`
	template := "# {{title}}\n{{date:dddd, MMMM Do}}, {{date}}, after {{yesterday}}\n{{weather}}\n"
	filled := "# 2026-01-31-Saturday\nSaturday, January 31st, 31.01.2026, after 30.01.2026\n{{weather}}\n"
	for _, tt := range []struct {
		name     string
		settings map[string]string
		args     []any
		path     string
		text     string // of the note; "" for an empty one
		says     string
	}{
		{"nothing set", nil, []any{"date", "2026-01-31"}, "2026-01-31.md", "", "Created Vault/2026-01-31.md."},
		{"core", map[string]string{"daily-notes.json": daily, "templates.json": `{"folder":"Templates","dateFormat":"DD.MM.YYYY"}`}, []any{"date", "2026-01-31"}, "Journal/2026/01-January/2026-01-31-Saturday.md", filled, "These placeholders belong to plugins and were not filled in: {{weather}}."},
		{"plugin is off", map[string]string{"daily-notes.json": daily, "plugins/periodic-notes/data.json": `{"daily":{"folder":"X","enabled":false}}`}, []any{"date", "2026-01-31", "create", false}, "", "", "Vault/Journal/2026/01-January/2026-01-31-Saturday.md does not exist yet."},
		{"plugin", map[string]string{"daily-notes.json": daily, "plugins/periodic-notes/data.json": `{"weekly":{"folder":"Weeks","format":"","template":"","enabled":true}}`}, []any{"period", "weekly", "date", "2026-01-04"}, "Weeks/2026-W02.md", "", "Created"},
		{"quarter", nil, []any{"period", "quarterly", "date", "2026-05-01"}, "2026-Q2.md", "", "Created"},
		{"exists", map[string]string{"daily-notes.json": `{"format":"[Templates/Day]"}`}, nil, "Templates/Day.md", template, "Vault/Templates/Day.md exists."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", map[string]string{"Templates/Day.md": template, "Note.md": "x\n"})
			writeSettings(t, vault, tt.settings)
			c := s.MCP(t, "--mode", "direct", "--approve", "auto", "--toolsets", "claude,vault", vault)
			if got := c.MustCall(t, "periodic_note", tt.args...); !strings.Contains(got, tt.says) {
				t.Errorf("got %q, want %q", got, tt.says)
			}
			if tt.path != "" {
				harness.CheckText(t, tt.path, harness.ReadFile(t, filepath.Join(vault, tt.path)), tt.text)
			}
			if got := c.Call(t, "glob", "pattern", "**/*.json"); strings.Contains(got.Text, "daily-notes") {
				t.Errorf("the configuration is served: %s", got.Text)
			}
		})
	}
}

// The names of the notes that are there show the language of Obsidian. It holds for templates, and for the numbers of weeks.
func TestMCPPeriodicNotesInTheLanguageOfTheVault(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	yesterday := time.Now().AddDate(0, 0, -1)
	german := strings.Fields("Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag")[yesterday.Weekday()]
	vault := s.Vault(t, "Vault", map[string]string{
		"Tage/" + yesterday.Format("2006-01-02 ") + german + ".md": "gestern\n", "Vorlagen/Tag.md": "{{date:dddd, D. MMMM}}\n", "Vorlagen/Besuch.md": "{{date:[am] ddd}}\n",
	})
	writeSettings(t, vault, map[string]string{
		"daily-notes.json": `{"folder":"Tage","format":"YYYY-MM-DD dddd","template":"Vorlagen/Tag"}`, "templates.json": `{"folder":"Vorlagen"}`,
		"plugins/periodic-notes/data.json": `{"weekly":{"enabled":true}}`,
	})
	c := s.MCP(t, "--mode", "direct", "--approve", "auto", "--toolsets", "vault", vault)
	c.MustCall(t, "periodic_note", "date", "2026-03-04")
	harness.CheckText(t, "the daily note", harness.ReadFile(t, filepath.Join(vault, "Tage/2026-03-04 Mittwoch.md")), "Mittwoch, 4. März\n")
	if got := c.MustCall(t, "periodic_note", "period", "weekly", "date", "2026-03-01"); got != "Created Vault/2026-W09.md." {
		t.Errorf("the week of a Sunday: %q", got)
	}
	c.MustCall(t, "create_from_template", "template", "Besuch", "path", "Vault/Besuch.md")
	weekday := strings.Fields("So. Mo. Di. Mi. Do. Fr. Sa.")[time.Now().Weekday()]
	harness.CheckText(t, "the visit", harness.ReadFile(t, filepath.Join(vault, "Besuch.md")), "am "+weekday+"\n")
}

func TestMCPPeriodicNoteRefusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		settings string
		args     []any
		want     string
	}{
		"no JSON":          {"{", nil, ".obsidian/daily-notes.json cannot be read, or is not in Obsidian's format"},
		"outside":          {`{"folder":"../../etc"}`, nil, "not allowed"},
		"hidden":           {`{"folder":".obsidian"}`, nil, "begin with a dot"},
		"missing template": {`{"template":"Nope"}`, nil, `There is no document "Nope"`},
		"no date":          {`{}`, []any{"date", "31.1.2026"}, "must be a date like 2026-01-31"},
		"no vault":         {`{}`, []any{"vault", "Other"}, `"vault" must be one of Vault`},
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", map[string]string{"Note.md": "x\n"})
			writeSettings(t, vault, map[string]string{"daily-notes.json": tt.settings})
			c := s.MCP(t, "--toolsets", "vault", vault)
			if got := c.Call(t, "periodic_note", tt.args...); !got.IsError || !strings.Contains(got.Text, tt.want) {
				t.Errorf("got %q, want a refusal with %q", got.Text, tt.want)
			}
		})
	}
}

func TestMCPTemplatesAndURLs(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "My Vault", map[string]string{"Templates/Meeting.md": "---\ntype: meeting\n---\n# {{title}}\n", "A+B & c.md": "x\n"})
	writeSettings(t, vault, map[string]string{"templates.json": `{"folder":"Templates"}`})
	c := s.MCP(t, "--toolsets", "vault", vault)
	const monday = "obsidian://open?vault=My%20Vault&file=Talks%2FMonday.md"
	for _, tt := range []struct {
		tool string
		args []any
		want string
	}{
		{"create_from_template", nil, "My Vault/Templates/Meeting.md"},
		{"create_from_template", []any{"template", "Meeting", "path", "My Vault/Talks/Monday.md"}, "Created My Vault/Talks/Monday.md.\n---\ntype: meeting\n---\n# Monday\n"},
		{"get_url", []any{"path", "My Vault/Talks/Monday.md"}, monday},
		{"get_url", []any{"path", "My Vault/A+B & c.md"}, "obsidian://open?vault=My%20Vault&file=A%2BB%20%26%20c.md"},
	} {
		if got := c.MustCall(t, tt.tool, tt.args...); got != tt.want {
			t.Errorf("%s %v: got %q, want %q", tt.tool, tt.args, got, tt.want)
		}
	}
	c.Close(t)
	// Obsidian knows a vault by its directory, whatever it is called here.
	named := s.MCP(t, "--toolsets", "vault", "Work="+vault)
	if got := named.MustCall(t, "get_url", "path", "Work/Talks/Monday.md"); got != monday {
		t.Errorf("of a vault with a name of its own: got %q, want %q", got, monday)
	}
}

// A session is told what people and other sessions did, once, and not what it did itself.
func TestMCPChanges(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": "One line.\n", "Old.md": "old\n", "Gone.md": "gone\n", "Sub/Deep.md": "deep\n"})
	c := s.MCP(t, "--toolsets", "claude,vault", vault)
	const nothing = "Nothing has changed since your last call"
	if got := c.MustCall(t, "changes"); got != nothing {
		t.Errorf("at first: got %q, want %q", got, nothing)
	}
	c.MustCall(t, "read", "file_path", "Vault/Plan.md")
	c.MustCall(t, "edit", "file_path", "Vault/Plan.md", "old_string", "One", "new_string", "Two")
	c.MustCall(t, "edit", "file_path", "Vault/Plan.md", "old_string", "line", "new_string", "line more")
	if got := c.MustCall(t, "changes"); got != nothing {
		t.Errorf("after its own edit: got %q, want %q", got, nothing)
	}
	if out := s.Run(t, "suggestions", "reject", "--all", "--reason", "keep the first", vault); out.Code != 0 {
		t.Fatalf("reject: %+v", out)
	}
	for _, change := range []func() error{
		func() error { return os.Rename(filepath.Join(vault, "Old.md"), filepath.Join(vault, "New.md")) },
		func() error { return os.Remove(filepath.Join(vault, "Gone.md")) },
		func() error { return os.WriteFile(filepath.Join(vault, "Sub/Deep.md"), []byte("deeper\n"), 0o644) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`Vault/Plan.md:1: {++ more++} (`, `was rejected by`, `because "keep the first"`, "Vault/New.md", "Vault/Gone.md: removed by a user or another program", "Vault/Sub/Deep.md: changed by a user or another program"}
	harness.WaitFor(t, "what others did in changes", func() bool {
		got := c.MustCall(t, "changes", "path", "Vault") // which takes nothing off the list
		for _, w := range want {
			if !strings.Contains(got, w) {
				return false
			}
		}
		return true
	})
	if got := c.MustCall(t, "changes", "path", "Vault/Sub"); !strings.HasPrefix(got, "Vault/Sub/Deep.md: changed") || strings.Contains(got, "Gone") {
		t.Errorf("below a folder: got %q", got)
	}
	c.MustCall(t, "changes")
	if got := c.MustCall(t, "changes"); got != nothing {
		t.Errorf("at last: got %q, want %q", got, nothing)
	}
}

// What an agent does on a mount has its name in the changes of a session beside it.
func TestMCPChangesOnTheMount(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"Plan.md": "One line.\n", "Old.md": "old\n", "Gone.md": "gone\n"}), "--author", "ann", "--toolsets", "claude,vault")
	c := s.MCP(t, m.Vault)
	c.MustCall(t, "changes")
	harness.WriteFile(t, m.Path("Plan.md"), "Two lines.\n")
	harness.WriteFile(t, m.Path("Made.md"), "made\n")
	if err := os.Rename(m.Path("Old.md"), m.Path("New.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.Path("Gone.md")); err != nil {
		t.Fatal(err)
	}
	got := c.MustCall(t, "changes")
	for _, want := range []string{"Plan.md: changed by ann", "Made.md: created by ann", "New.md: renamed from Vault/Old.md by ann", "Gone.md: removed by ann"} {
		if !strings.Contains(got, want) {
			t.Errorf("changes: %q, want %q in it", got, want)
		}
	}
	if strings.Contains(got, "a user or another program") {
		t.Errorf("changes tell of others: %q", got)
	}
}
