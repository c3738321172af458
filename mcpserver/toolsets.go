package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/change"
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
	reader  change.Reader // reads a note before it is replaced; nil for none
}

// toolsets returns all toolsets. If several are enabled, error texts name the tools of the first enabled toolset in
// this order.
func toolsets() []toolset {
	return []toolset{
		{ToolsetClaude, claude.Tools(), claude.Phrases, content.Reader},
		{ToolsetNotes, notes.Tools(), notes.Phrases, notes.Reader},
		{ToolsetContent, content.Tools(), content.Phrases, content.Reader},
		{ToolsetVault, vault.Tools(), vault.Phrases, nil},
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
		if o.reader == nil || set.name == ToolsetNotes {
			o.reader = set.reader
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

func (o toolset) has(name string) bool {
	return slices.ContainsFunc(o.tools, func(t tool.Tool) bool { return t.Name == name })
}
