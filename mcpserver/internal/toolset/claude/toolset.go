// Package claude has the tools of the toolset claude. They have the names of Claude Code's
// built-in tools and answer as those do, in plain text. It has no locks.
package claude

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/refusal"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// Tools returns the tools in the order in which they are listed.
func Tools() []tool.Tool {
	return []tool.Tool{
		tool.Plain("read", "Read a document", tool.Reads, read, `Reads a document of the workspace.
- Returns up to 2,000 lines with their numbers, in the layout of cat -n; use offset and limit for longer documents.
- Shows the text with all pending suggestions accepted; a second block lists them.
- A document must be read before it can be edited.`),
		tool.Plain("glob", "Find documents by name", tool.Reads, globFiles, `Finds documents by the pattern of their path, the one changed last first.
- A pattern without a slash matches at any depth: *.md. With a slash it is matched from the top, or from path: Folder/**/2024-*.md.
- Lists 100 paths at a time.`),
		tool.Plain("grep", "Search in documents", tool.Reads, grepNotes, `Searches the text of all documents by a regular expression in RE2 syntax, as ripgrep does.
- output_mode files_with_matches (the default) lists paths, content shows lines as path:line:text, count the number of matching lines.
- Filter documents with glob or type, or search under one path.
- Line numbers are those of read.`),
		tool.Plain("edit", "Edit a document", tool.Suggests, edit, `Replaces old_string by new_string in a document.
- The document must have been read in this session. Lines that grep showed count as read.
- old_string must occur exactly once; add surrounding text to make it unique, or set replace_all. Leave the line numbers of read out of it.
- The change becomes a suggestion that a person accepts or rejects. You see it as if it were accepted.
- Write plain Markdown. Do not write CriticMarkup ({++ ++}, {-- --}) yourself.`),
		tool.Plain("write", "Create or rewrite a document", tool.Suggests, write, `Creates a document, or replaces the whole text of one.
- An existing document must have been read in this session. Prefer edit for changes: write is for new documents and complete rewrites.
- What differs becomes suggestions that a person accepts or rejects.`),
		tool.Plain("get_links", "List the links of a document", tool.Reads, getLinks, `Lists the documents that link to a document (backlinks), those that it links to, and its links that lead nowhere.`),
		tool.Plain("move", "Move or rename a document", tool.Suggests, move, `Moves or renames a document within its top-level folder, and says what becomes of the links to it.
- Waits for a person unless the server was started with --structure direct.`),
		tool.Plain("delete", "Delete a document", tool.Removes, deleteNote, `Deletes a document or an empty folder.
- Waits for a person unless the server was started with --structure direct.`),
		tool.Plain("list_suggestions", "List pending suggestions", tool.Reads, listSuggestions, `Lists the suggestions that wait for a person, as path:line: {--old--}{++new++} (author) [id].`),
		tool.Plain("tasks", "List and check tasks", tool.Suggests, tasks, `Lists tasks (- [ ]) of many documents at once, as path:line: text; copies them into one document, or checks them off.`),
		tool.Plain("comment", "Comment on a passage", tool.Suggests, comment, `Adds a comment right after a passage of a document, for the people who review it.
- anchor_text must occur exactly once.`),
	}
}

// Words are the sentences that name tools of this toolset.
var Words = refusal.Words{
	Folder:    "%q is a folder, not a document. Call glob with it as the path to list what it holds.",
	NotFolder: "%q is not a folder. Call glob to find the folder.",
	Exists:    "%q exists already. Read it and use edit, or choose another path.",
	Missing:   "There is no document %q. Call glob to find its path; paths look like Folder/sub/Name.md.",
}

func failure(err error) answer.Result { return refusal.Of(err, Words) }

var reader = change.Reader{NotesOnly: true, Call: func(p model.Path, from passage.Position) string {
	return change.ReadCall("read", fmt.Sprintf("file_path: %q", string(p)), "offset", from)
}}
