package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// guides are instructions about a tool and the tools that are used with it. They are included if the tool is enabled.
var guides = []struct{ tool, text string }{
	{"grep", "Find notes with search (by subject), glob (by name) and grep (by exact text), see how they are linked with get_links, and read them with read."},
	{"edit", "Read a note before you edit it: edit and write refuse a note that you have not read in this session. Prefer edit with a short, unique old_string; use write for new notes and complete rewrites. Read, edit and move many notes in one call with file_paths, edits and moves."},
	{"list_notes", "Find notes with list_notes, text_search (by words), property_search (by front matter and tags) and semantic_search (by meaning); read_metadata describes a note without its content."},
	{"update_note", "Read a note with read_note before update_note changes it. Front matter is changed as an object, the content as Markdown."},
	{"changes", "Users and other agents work in these notes at the same time: changes lists what they did since your last call."},
	{"patch_content", "search_content, get_content and patch_content work on notes, canvases and bases; entity_type names the type. patch_content needs a short, unique old_string."},
}

func instructions(o bridge.Options, offer toolset) string {
	var names []string
	for _, f := range o.Roots {
		names = append(names, f.Name)
	}
	parts := []string{
		"These tools work on shared Markdown notes that users edit at the same time. Paths look like Folder/sub/Name.md; the top-level folders are: " +
			strings.Join(names, ", ") + ".",
	}
	for _, g := range guides {
		if offer.has(g.tool) {
			parts = append(parts, g.text)
		}
	}
	if !slices.ContainsFunc(offer.tools, func(t tool.Tool) bool { return !t.Hints.ReadOnly }) {
		return strings.Join(append(parts, "This server is read-only."), "\n")
	}
	parts = append(parts, "Notes may change while you work. Each change is matched against the current text: it changes the right place or fails. If it fails, read the note again.")
	switch {
	case o.ReadOnlyErr() != nil:
		parts = append(parts, "The text of the notes cannot be changed here: "+o.ReadOnlyErr().Error()+".")
	case o.View == diffwrap.RawView:
		parts = append(parts, "You see and write the stored text, CriticMarkup included.")
	case o.Mode == bridge.Direct:
		parts = append(parts, "Changes take effect immediately.")
	default:
		parts = append(parts,
			"Everything you change becomes a suggestion that a user accepts or rejects. You see your changes as if they were accepted, so do not make them twice.",
			"Write plain Markdown. Do not write CriticMarkup such as {++added++} or {--deleted--} by hand: marks are made for you.")
		if offer.has("comment") {
			parts = append(parts, "list_suggestions lists pending suggestions. To explain something to the reviewer, use comment.")
		}
	}
	return strings.Join(parts, "\n")
}

var DefaultAgentNotes = []string{"AGENTS.md", "CLAUDE.md"}

// maxAgentNote is the maximum length of an agent note in the instructions, in characters.
const maxAgentNote = 4000

// agentNotes returns the approved text of the agent notes. In each root it uses the first of the names whose note has
// text.
func agentNotes(ctx context.Context, ws *bridge.Workspace, names []string) string {
	var parts []string
	for _, f := range ws.Options().Roots {
		for _, name := range names {
			p := model.Path(f.Name).Join(name)
			text, err := approvedText(model.WithoutBlocking(ctx), ws, p)
			if err != nil || text == "" {
				continue // for example, the note is missing, offline or empty
			}
			if chars := []rune(text); len(chars) > maxAgentNote {
				text = string(chars[:maxAgentNote]) + "\n[cut here: read " + string(p) + " for the rest]"
			}
			parts = append(parts, "\n\nThe owner of "+f.Name+" says in "+string(p)+":\n"+text)
			break
		}
	}
	return strings.Join(parts, "")
}

// approvedText returns the body of the note at p without pending changes. p is the path before a pending rename; a
// pending deletion does not count. It omits front matter, because agents change front matter without approval.
func approvedText(ctx context.Context, ws *bridge.Workspace, p model.Path) (string, error) {
	shown := p
	folder, _ := p.Split()
	proposals, err := ws.Proposals(ctx, model.Path(folder))
	if err != nil {
		return "", err
	}
	for _, prop := range proposals {
		if prop.Path == p && prop.Kind == model.ProposedRename {
			shown = prop.NewPath
		}
	}
	var v *model.Version
	if approved, err := ws.SourcePath(shown); err == nil && approved == p {
		v, err = ws.Open(ctx, shown)
		if err != nil {
			return "", err
		}
	} else if v, err = ws.OpenPendingDelete(ctx, p); err != nil {
		return "", err
	}
	text := v.Known().Render(v.Canonical(), diffwrap.OriginalView)
	_, body, _ := frontmatter.Split(text)
	return strings.TrimSpace(text[body:]), nil
}
