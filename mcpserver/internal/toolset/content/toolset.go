// Package content implements the toolset content, for notes, canvases and bases. Each call declares the type of its
// documents (entity_type). The results are structured.
package content

import "github.com/relayfs/relayfs/mcpserver/internal/tool"

func Tools() []tool.Tool {
	return []tool.Tool{
		tool.Structured("search_content", "Search in entities", tool.Reads, searchContent, `Searches notes, canvases or bases with a regular expression in RE2 syntax, line by line, with the lines around each match.`),
		tool.Structured("read_content_lines", "Read lines of an entity", tool.Reads, readContentLines, `Reads some lines of a note, canvas or base, each with its number.`),
		tool.Structured("patch_content", "Change a passage", tool.Suggests, patchContent, `Replaces old_string with new_string in a note, canvas or base.
- old_string must occur exactly once; line breaks of either kind match each other.
- If it does not, nothing changes: success is false, and match_locations lists the occurrences.
- Changes of a note become suggestions; a changed canvas or base must be valid, and is proposed as a whole.`),
		tool.Structured("get_content", "Read an entity", tool.Reads, getContent, `Reads a whole note, canvas or base.`),
		tool.Structured("replace_content", "Create or replace an entity", tool.Suggests, replaceContent, `Creates a note, canvas or base, or replaces all of its content.
- Changes of a note become suggestions; a canvas or base must be valid, and is proposed as a whole.`),
	}
}

var Phrases = tool.Phrases{
	Folder:    "%q is a folder, not a document. Call search_content with it as the folder to list its contents.",
	NotFolder: "%q is not a folder. Call search_content to find the folder.",
	Exists:    "%q exists already. Read it and use replace_content, or choose another path.",
	Missing:   "There is no document %q. Call search_content to find its path; paths look like Folder/sub/Name.md.",
}
