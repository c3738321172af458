package mcpserver

// contentTools are for precise edits of declared entity types. Their results are
// structured.
func contentTools() []tool {
	return []tool{
		structured(ToolsetContent, "search_content", "Search in entities", reads, searchContent, `Searches notes, canvases or bases by a regular expression in RE2 syntax, line by line, with the lines around each match.`),
		structured(ToolsetContent, "read_content_lines", "Read lines of an entity", reads, readContentLines, `Reads some lines of a note, canvas or base, each with its number.`),
		structured(ToolsetContent, "patch_content", "Change a passage", suggests, patchContent, `Replaces old_string by new_string in a note, canvas or base.
- old_string must occur exactly once; line breaks of either kind match each other.
- If it does not, nothing changes: success is false, and match_locations tells where it occurs.
- Changes of a note become suggestions; those of a canvas or base must leave it valid, and are proposed as a whole.`),
		structured(ToolsetContent, "get_content", "Read an entity", reads, getContent, `Reads a whole note, canvas or base.`),
		structured(ToolsetContent, "replace_content", "Create or replace an entity", suggests, replaceContent, `Creates a note, canvas or base, or replaces all of its content.
- Changes of a note become suggestions; a canvas or base must be valid, and is proposed as a whole.`),
	}
}
