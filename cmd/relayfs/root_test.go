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
