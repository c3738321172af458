package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/filetype"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/claude"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/content"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/notes"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/vault"
)

const (
	ToolsetClaude  = "claude"
	ToolsetNotes   = "notes"
	ToolsetContent = "content"
	ToolsetVault   = "vault"
)

type toolset struct {
	name    string
	tools   []tool.Tool
	phrases tool.Phrases
}

// toolsets returns all toolsets. If several are enabled, error texts name the tools of the first enabled toolset in
// this order.
func toolsets() []toolset {
	return []toolset{
		{ToolsetClaude, claude.Tools(), claude.Phrases},
		{ToolsetNotes, notes.Tools(), notes.Phrases},
		{ToolsetContent, content.Tools(), content.Phrases},
		{ToolsetVault, vault.Tools(), vault.Phrases},
	}
}

func Toolsets() []string { return []string{ToolsetClaude, ToolsetNotes, ToolsetContent, ToolsetVault} }

func CheckToolsets(names []string) error {
	_, err := pick(names, false)
	return err
}

// pick merges the named toolsets. If sets is empty, it returns the toolset claude.
func pick(sets []string, readOnly bool) (toolset, error) {
	if len(sets) == 0 {
		sets = []string{ToolsetClaude}
	}
	for _, set := range sets {
		if known := Toolsets(); !slices.Contains(known, set) {
			return toolset{}, fmt.Errorf("toolset %q is not one of %s", set, strings.Join(known, ", "))
		}
	}
	var o toolset
	for _, set := range toolsets() {
		if !slices.Contains(sets, set.name) {
			continue
		}
		if o.tools == nil {
			o.phrases = set.phrases
		}
		o.tools = append(o.tools, set.tools...)
	}
	if readOnly {
		o = o.readOnly()
	}
	return o, nil
}

func (o toolset) readOnly() toolset {
	o.tools = slices.DeleteFunc(slices.Clone(o.tools), func(t tool.Tool) bool { return !t.Hints.ReadOnly })
	return o
}

// reader describes the call with which a client reads the document at p. If from is not zero, the call starts at that
// position.
func (o toolset) reader(p model.Path, from textrange.Position) string {
	tool, document, line := "get_content", fmt.Sprintf("entity_type: %q, path: %q", filetype.TypeOf(string(p)), p), "start_line"
	switch {
	case o.has("read"):
		tool, document, line = "read", fmt.Sprintf("file_path: %q", p), "offset"
	case o.has("read_note") && p.IsNote():
		tool, document = "read_note", fmt.Sprintf("path: %q", p)
	case from.Line > 0:
		tool = "read_content_lines"
	}
	if from.Line > 0 {
		document += ", " + from.Arguments(line)
	}
	return "the " + tool + " tool with " + document
}

func (o toolset) has(name string) bool {
	return slices.ContainsFunc(o.tools, func(t tool.Tool) bool { return t.Name == name })
}
