// Package claude implements the default toolset. The tools named read, glob, grep, edit and write are like Claude
// Code's built-in tools: they have the same names in lower case, the same main arguments, and similar responses in
// plain text. The other tools serve what plain files lack: links, moves that rewrite links, suggestions, comments,
// tasks, search by meaning. Package change makes the changes.
package claude

import "github.com/relayfs/relayfs/mcpserver/internal/tool"

func Tools() []tool.Tool {
	return []tool.Tool{
		tool.Plain("read", "Read a document", tool.Reads, read, `Reads documents, up to 2,000 lines with numbers as cat -n, and images. Read a document before you change it.
- Shows pending suggestions as accepted; a second block lists them.`),
		tool.Plain("glob", "Find documents by name", tool.Reads, globFiles, `Finds documents by path, most recently changed first, 100 at a time. To find text, use grep.`),
		tool.Plain("grep", "Search in documents", tool.Reads, grepNotes, `Searches the text of all documents with a regular expression, as ripgrep does. Line numbers are the same as in read.`),
		tool.Plain("search", "Search by words and meaning", tool.Reads, searchNotes, `Finds the documents that answer a question or are about a subject, best first, each with its best passage; for an exact text or a pattern use grep.`),
		tool.Plain("edit", "Edit a document", tool.Suggests, edit, `Replaces old_string with new_string in a document that was read in this session; lines that grep showed count as read.
- old_string must occur once: add surrounding text, or set replace_all.
- The change becomes a suggestion that a user accepts or rejects; you see it as accepted. Write no CriticMarkup ({++ ++}) yourself.`),
		tool.Plain("write", "Create or rewrite a document", tool.Suggests, write, `Creates a document, or replaces the whole text of one that was read in this session, as suggestions. For smaller changes use edit.`),
		tool.Plain("get_links", "List the links of a document", tool.Reads, getLinks, `Lists the documents that link to a document, the documents that it links to, and its broken links.`),
		tool.Plain("move", "Move or rename a document", tool.Suggests, move, `Moves or renames documents; links to them are rewritten. A user must accept the move, unless the server has --structure direct.`),
		tool.Plain("delete", "Delete a document", tool.Removes, deleteNote, `Deletes a document or an empty folder. A user must accept the deletion, unless the server has --structure direct.`),
		tool.Plain("list_suggestions", "List pending suggestions", tool.Reads, listSuggestions, `Lists pending changes as path:line: {--old--}{++new++} (author) [id].`),
		tool.Plain("tasks", "List and check tasks", tool.Suggests, tasks, `Lists tasks (- [ ]) of many documents as path:line: text, copies them into one, or checks them off.`),
		tool.Plain("comment", "Comment on a passage", tool.Suggests, comment, `Adds a comment after a passage, for the reviewers.`),
	}
}

var Phrases = tool.Phrases{
	Folder:    "%q is a folder, not a document. Call glob with it as the path to list its contents.",
	NotFolder: "%q is not a folder. Call glob to find the folder.",
	Exists:    "%q exists already. Read it and use edit, or choose another path.",
	Missing:   "There is no document %q. Call glob to find its path; paths look like Folder/sub/Name.md.",
}
