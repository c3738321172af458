package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/claude"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/content"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/notes"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/vault"
)

// Names of toolsets.
const (
	ToolsetClaude  = "claude"
	ToolsetNotes   = "notes"
	ToolsetContent = "content"
	ToolsetVault   = "vault"
)

type toolset struct {
	name   string
	tools  []tool.Tool
	words  tool.Words
	reader change.Reader // reads a note before it is replaced
}

// toolsets returns all toolsets, in the order in which their tools are listed. If several are
// offered, sentences name the tools of the first.
func toolsets() []toolset {
	return []toolset{
		{ToolsetClaude, claude.Tools(), claude.Words, content.Reader},
		{ToolsetNotes, notes.Tools(), notes.Words, notes.Reader},
		{ToolsetContent, content.Tools(), content.Words, content.Reader},
		{ToolsetVault, vault.Tools(), vault.Words, vault.Reader},
	}
}

// Toolsets returns the names of all toolsets.
func Toolsets() []string { return []string{ToolsetClaude, ToolsetNotes, ToolsetContent, ToolsetVault} }

// CheckToolsets returns an error if a name is not that of a toolset.
func CheckToolsets(names []string) error {
	_, err := pick(names, false)
	return err
}

// pick returns the named sets as one, or claude if there are none, without writing tools if readOnly.
func pick(sets []string, readOnly bool) (toolset, error) {
	if len(sets) == 0 {
		sets = []string{ToolsetClaude}
	}
	for _, set := range sets {
		if known := Toolsets(); !slices.Contains(known, set) {
			return toolset{}, fmt.Errorf("toolset %q is none of %s", set, strings.Join(known, ", "))
		}
	}
	var o toolset
	for _, set := range toolsets() {
		if !slices.Contains(sets, set.name) {
			continue
		}
		if o.tools == nil {
			o.words = set.words
		}
		if o.reader.Call == nil || set.name == ToolsetNotes {
			o.reader = set.reader
		}
		o.tools = append(o.tools, set.tools...)
	}
	if readOnly {
		o = o.reading()
	}
	return o, nil
}

// reading returns o without the tools that change something.
func (o toolset) reading() toolset {
	o.tools = slices.DeleteFunc(slices.Clone(o.tools), func(t tool.Tool) bool { return !t.Hints.ReadOnly })
	return o
}

func (o toolset) has(name string) bool {
	return slices.ContainsFunc(o.tools, func(t tool.Tool) bool { return t.Name == name })
}

// guides are instructions for a tool and those that belong to it. A guide is given if its tool is offered.
var guides = []struct{ tool, say string }{
	{"grep", "Find notes with search (by subject), glob (by name) and grep (by exact text), see how they are linked with get_links, and read them with read."},
	{"edit", "Read a note before you edit it: edit and write refuse a note that you have not read in this session. Prefer edit with a short, unique old_string; use write for new notes and complete rewrites. Read, edit and move many notes in one call with file_paths, edits and moves."},
	{"list_notes", "Find notes with list_notes, text_search (by words), property_search (by front matter and tags) and semantic_search (by meaning); read_metadata tells what a note is without its content."},
	{"update_note", "Read a note with read_note before update_note changes it. Front matter is changed as an object, the content as Markdown."},
	{"changes", "People and other agents work in these notes at the same time: changes tells what they did since you last looked."},
	{"patch_content", "search_content, get_content and patch_content work on notes, canvases and bases; say with entity_type which it is. patch_content wants a short, unique old_string."},
}

func instructions(o bridge.Options, offer toolset) string {
	var names []string
	for _, f := range o.Folders {
		names = append(names, f.Name)
	}
	parts := []string{
		"These tools work on shared Markdown notes that people edit at the same time. Paths look like Folder/sub/Name.md; the top-level folders are: " +
			strings.Join(names, ", ") + ".",
	}
	for _, g := range guides {
		if offer.has(g.tool) {
			parts = append(parts, g.say)
		}
	}
	if !slices.ContainsFunc(offer.tools, func(t tool.Tool) bool { return !t.Hints.ReadOnly }) {
		return strings.Join(append(parts, "This server is read-only."), "\n")
	}
	parts = append(parts, "Notes may change while you work. A change is matched against the note as it is then: it lands in the right place or fails, and then you read the note again.")
	switch {
	case o.ReadOnlyErr() != nil:
		parts = append(parts, "The text of the notes cannot be changed here: "+o.ReadOnlyErr().Error()+".")
	case o.View == diffwrap.RawView:
		parts = append(parts, "You see and write the stored text, CriticMarkup included.")
	case o.Mode == bridge.Direct:
		parts = append(parts, "Changes are made at once.")
	default:
		parts = append(parts,
			"Everything you change becomes a suggestion that a person accepts or rejects. You see your changes as if they were accepted, so do not make them twice.",
			"Write plain Markdown. Do not write CriticMarkup such as {++added++} or {--deleted--} by hand: marks are made for you.")
		if offer.has("comment") {
			parts = append(parts, "list_suggestions shows what waits. To explain something to the reviewer, use comment.")
		}
	}
	return strings.Join(parts, "\n")
}
