package mcpserver

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
)

// instructions tell a model how to work here.
func instructions(o bridge.Options, tools []tool) string {
	var names []string
	for _, f := range o.Folders {
		names = append(names, f.Name)
	}
	parts := []string{
		"These tools work on shared Markdown notes that people edit at the same time. Paths look like Folder/sub/Name.md; the top-level folders are: " +
			strings.Join(names, ", ") + ".",
		"Find notes with glob (by name) and grep (by text), see how they are linked with get_links, and read them with read.",
	}
	if !slices.ContainsFunc(tools, func(t tool) bool { return t.name == "edit" }) {
		return strings.Join(append(parts, "This server is read-only."), "\n")
	}
	parts = append(parts,
		"Read a note before you edit it: edit and write refuse a note that you have not read in this session. Prefer edit with a short, unique old_string; use write for new notes and complete rewrites.",
		"Notes may change while you work. An edit is matched against the note as it is then: it lands in the right place or fails, and then you read the note again.",
	)
	switch {
	case o.View == diffwrap.RawView:
		parts = append(parts, "You see and write the stored text, CriticMarkup included.")
	case o.Mode == bridge.Direct:
		parts = append(parts, "Changes are made at once.")
	default:
		parts = append(parts,
			"Everything you change becomes a suggestion that a person accepts or rejects. You see your changes as if they were accepted, so do not make them twice; list_suggestions shows what waits.",
			"Write plain Markdown. Do not write CriticMarkup such as {++added++} or {--deleted--} by hand: marks are made for you. To explain something to the reviewer, use comment.")
	}
	return strings.Join(parts, "\n")
}
