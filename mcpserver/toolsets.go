package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/schema"
)

// Names of toolsets.
const (
	ToolsetClaude  = "claude"
	ToolsetNotes   = "notes"
	ToolsetContent = "content"
)

// Toolsets are the names of all toolsets.
func Toolsets() []string { return []string{ToolsetClaude, ToolsetNotes, ToolsetContent} }

// tool is one tool, whatever protocol offers it.
type tool struct {
	name, title, description string
	toolset                  string
	hints                    hints
	params                   []schema.Param
	output                   json.RawMessage // schema of a structured result, or nil
	// call decodes the arguments and runs the tool.
	call func(ctx context.Context, s *Session, args json.RawMessage) answer.Result
}

// hints are the annotations that tell a client what a tool may do.
type hints struct{ readOnly, destructive, idempotent bool }

var (
	reads    = hints{readOnly: true, idempotent: true}
	suggests = hints{}                  // what is there is kept: changes are suggestions
	removes  = hints{destructive: true} // what is there goes, once that is allowed
	creates  = hints{}                  // what is there is not touched
	deletes  = hints{destructive: true, idempotent: true}
)

// define makes a tool of a function from typed arguments.
func define[A any](name, title string, h hints, run func(context.Context, *Session, A) answer.Result, description string) tool {
	params := schema.Params(reflect.TypeFor[A]())
	return tool{
		name: name, title: title, description: description, toolset: ToolsetClaude, hints: h, params: params,
		call: func(ctx context.Context, s *Session, raw json.RawMessage) answer.Result {
			var args A
			if err := schema.Decode(name, params, raw, &args); err != nil {
				return failure(err)
			}
			return run(ctx, s, args)
		},
	}
}

// claudeTools are named and work as the tools that Claude Code has built in.
func claudeTools() []tool {
	return []tool{
		define("read", "Read a document", reads, read, `Reads a document of the workspace.
- Returns up to 2,000 lines with their numbers, in the layout of cat -n; use offset and limit for longer documents.
- Shows the text with all pending suggestions accepted; a second block lists them.
- A document must be read before it can be edited.`),
		define("glob", "Find documents by name", reads, globFiles, `Finds documents by the pattern of their path, the one changed last first.
- A pattern without a slash matches at any depth: *.md. With a slash it is matched from the top, or from path: Folder/**/2024-*.md.
- Lists 100 paths at a time.`),
		define("grep", "Search in documents", reads, grepNotes, `Searches the text of all documents by a regular expression in RE2 syntax, as ripgrep does.
- output_mode files_with_matches (the default) lists paths, content shows lines as path:line:text, count the number of matching lines.
- Filter documents with glob or type, or search under one path.
- Line numbers are those of read.`),
		define("edit", "Edit a document", suggests, edit, `Replaces old_string by new_string in a document.
- The document must have been read in this session.
- old_string must occur exactly once; add surrounding text to make it unique, or set replace_all. Leave the line numbers of read out of it.
- The change becomes a suggestion that a person accepts or rejects. You see it as if it were accepted.
- Write plain Markdown. Do not write CriticMarkup ({++ ++}, {-- --}) yourself.`),
		define("write", "Create or rewrite a document", suggests, write, `Creates a document, or replaces the whole text of one.
- An existing document must have been read in this session. Prefer edit for changes: write is for new documents and complete rewrites.
- What differs becomes suggestions that a person accepts or rejects.`),
		define("get_links", "List the links of a document", reads, getLinks, `Lists the documents that link to a document (backlinks), those that it links to, and its links that lead nowhere.`),
		define("move", "Move or rename a document", suggests, move, `Moves or renames a document within its top-level folder, and says what becomes of the links to it.
- Waits for a person unless the server was started with --structure direct.`),
		define("delete", "Delete a document", removes, deleteNote, `Deletes a document or an empty folder.
- Waits for a person unless the server was started with --structure direct.`),
		define("list_suggestions", "List pending suggestions", reads, listSuggestions, `Lists the suggestions that wait for a person, as path:line: {--old--}{++new++} (author) [id].`),
		define("comment", "Comment on a passage", suggests, comment, `Adds a comment right after a passage of a document, for the people who review it.
- anchor_text must occur exactly once.`),
	}
}

// pick returns the tools of the named sets; of those that change nothing if
// readOnly. No names mean the set claude.
func pick(sets []string, readOnly bool) ([]tool, error) {
	if len(sets) == 0 {
		sets = []string{ToolsetClaude}
	}
	known := Toolsets()
	for _, set := range sets {
		if !slices.Contains(known, set) {
			return nil, fmt.Errorf("toolset %q is none of %s", set, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(allTools(), func(t tool) bool {
		return !slices.Contains(sets, t.toolset) || readOnly && !t.hints.readOnly
	}), nil
}

// allTools are the tools of every set, in the order in which they are listed.
func allTools() []tool { return slices.Concat(claudeTools(), notesTools(), contentTools()) }
