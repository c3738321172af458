package main

import (
	"os"
	"strings"
	"testing"
)

// The skill of the Claude Code plugin is the text of 'relayfs help agent'.
func TestSkillIsTheTextForAgents(t *testing.T) {
	const file = "../../packaging/claude-plugin/skills/relayfs/SKILL.md"
	skill, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, text, _ := strings.Cut(string(skill), "\n---\n\n"); text != agentText {
		t.Errorf("%s has below its front matter\n%s\nwant what 'relayfs help agent' prints:\n%s", file, text, agentText)
	}
}

// The help of mount is read on one screen.
func TestHelpOfMountFitsAScreen(t *testing.T) {
	var out strings.Builder
	if code := run(t.Context(), []string{"mount", "--help"}, strings.NewReader(""), &out, &out); code != exitDone {
		t.Fatalf("exit %d: %s", code, out.String())
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines, want at most 24:\n%s", len(lines), out.String())
	}
	for _, line := range lines {
		if len(line) > 80 && !strings.Contains(line, "--author") { // whose default is a name
			t.Errorf("a line is longer than 80 characters: %s", line)
		}
	}
}
