package mcpserver

// notesTools are for agents that think in notes. Their results are structured.
func notesTools() []tool {
	return []tool{
		structured(ToolsetNotes, "create_note", "Create a note", creates, createNote, `Creates a note with the given Markdown, and with front matter if that is given.
- Refuses a path that exists.
- The text waits for a person's review, as additions; you see it as if it were accepted.`),
		structured(ToolsetNotes, "read_note", "Read a note", reads, readNote, `Reads a note, or some lines of it, with all pending suggestions accepted.
- A note must be read before update_note changes it.`),
		structured(ToolsetNotes, "read_metadata", "Read a note's metadata", reads, readMetadata, `Tells a note's front matter and how long it is, without its content.`),
		structured(ToolsetNotes, "update_note", "Change a note", suggests, updateNote, `Replaces the content of a note, its front matter, or both.
- The note must have been read in this session.
- What differs in the content becomes suggestions that a person accepts or rejects. Content without front matter leaves the front matter as it is.
- frontmatter replaces all properties; those that do not change keep their exact form.`),
		structured(ToolsetNotes, "delete_note", "Delete a note", deletes, deleteOneNote, `Deletes a note, and says how many other notes link to it.
- Where changes are reviewed, the deletion waits for a person: status is then "proposed".`),
		structured(ToolsetNotes, "list_notes", "List notes", reads, listNotes, `Lists the notes of a folder, sorted by path, with their lengths and, if wanted, their front matter.`),
		structured(ToolsetNotes, "text_search", "Search in notes", reads, textSearch, `Searches the text of all notes, line by line.
- The query is plain text; with the prefix regex: it is a regular expression in RE2 syntax.`),
		structured(ToolsetNotes, "property_search", "Find notes by properties", reads, propertySearch, `Finds notes by their properties (front matter) and tags.
- All properties must match; a list as a value means any of its items. Case does not matter.
- tags are found in the text and in the front matter; work finds work/urgent, too.`),
		structured(ToolsetNotes, "semantic_search", "Find notes by meaning", reads, semanticSearch, `Finds notes by what they are about, whatever their words. Scores are between 0 and 1.
- filters are properties as property_search takes them; only notes that match them are ranked.`),
		structured(ToolsetNotes, "get_kiln_info", "Describe the collection of notes", reads, getKilnInfo, `Tells the top-level folders and how many notes and words they hold.`),
	}
}
