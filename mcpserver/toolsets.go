package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/refusal"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/claude"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/content"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/notes"
)

// Names of toolsets.
const (
	ToolsetClaude  = "claude"
	ToolsetNotes   = "notes"
	ToolsetContent = "content"
)

// toolset is a set of tools that are offered together.
type toolset struct {
	name   string
	tools  []tool.Tool
	words  refusal.Words
	reader change.Reader // reads a note before it is replaced
}

// toolsets returns all toolsets, in the order in which their tools are listed. If several are
// offered, sentences name the tools of the first.
func toolsets() []toolset {
	return []toolset{
		{ToolsetClaude, claude.Tools(), claude.Words, content.Reader},
		{ToolsetNotes, notes.Tools(), notes.Words, notes.Reader},
		{ToolsetContent, content.Tools(), content.Words, content.Reader},
	}
}

// Toolsets returns the names of all toolsets.
func Toolsets() []string { return []string{ToolsetClaude, ToolsetNotes, ToolsetContent} }

// CheckToolsets returns an error if a name is not that of a toolset.
func CheckToolsets(names []string) error {
	_, err := pick(names, false)
	return err
}

// offer is what a server offers its clients.
type offer struct {
	tools      []tool.Tool
	words      refusal.Words
	noteReader change.Reader
}

// pick returns the offer of the named sets, or of the set claude if there are none. readOnly leaves
// out the tools that change something.
func pick(sets []string, readOnly bool) (offer, error) {
	if len(sets) == 0 {
		sets = []string{ToolsetClaude}
	}
	for _, set := range sets {
		if known := Toolsets(); !slices.Contains(known, set) {
			return offer{}, fmt.Errorf("toolset %q is none of %s", set, strings.Join(known, ", "))
		}
	}
	var o offer
	for _, set := range toolsets() {
		if !slices.Contains(sets, set.name) {
			continue
		}
		if o.tools == nil {
			o.words = set.words
		}
		if o.noteReader.Call == nil || set.name == ToolsetNotes {
			o.noteReader = set.reader
		}
		o.tools = append(o.tools, set.tools...)
	}
	if readOnly {
		o = o.reading()
	}
	return o, nil
}

// reading returns o without the tools that change something.
func (o offer) reading() offer {
	o.tools = slices.DeleteFunc(slices.Clone(o.tools), func(t tool.Tool) bool { return !t.Hints.ReadOnly })
	return o
}
