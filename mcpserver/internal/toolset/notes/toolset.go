// Package notes implements the toolset notes, for agents that work with notes, properties, tags and links. Its results
// are structured: JSON with a schema. Package search and the indexes of the workspace answer its searches; package
// change makes its changes. In the name get_kiln_info a kiln is the collection of all notes.
package notes

import "github.com/relayfs/relayfs/mcpserver/internal/tool"

func Tools() []tool.Tool {
	return []tool.Tool{
		tool.Structured("create_note", "Create a note", tool.Suggests, createNote, `Creates a note with the given Markdown, and with front matter if that is given.
- Refuses a path that exists.
- The text becomes a suggestion; you see it as accepted.`),
		tool.Structured("read_note", "Read a note", tool.Reads, readNote, `Reads a note, or some lines of it, with all pending suggestions accepted.
- A note must be read before update_note changes it.`),
		tool.Structured("read_metadata", "Read a note's metadata", tool.Reads, readMetadata, `Returns a note's front matter and length, without its content.`),
		tool.Structured("update_note", "Change a note", tool.Suggests, updateNote, `Replaces the content of a note, its front matter, or both.
- The note must have been read in this session. Lines and properties that a list or a search showed count as read.
- Changes of the content become suggestions that a user accepts or rejects. Content without front matter leaves the front matter as it is.
- frontmatter replaces all properties; those that do not change keep their exact form.`),
		tool.Structured("delete_note", "Delete a note", tool.Deletes, deleteOneNote, `Deletes a note, and returns the number of other notes that link to it.
- If changes are reviewed, a user must accept the deletion: status is then "proposed".`),
		tool.Structured("list_notes", "List notes", tool.Reads, listNotes, `Lists the notes of a folder, sorted by path, with their lengths and, if wanted, their front matter.`),
		tool.Structured("text_search", "Search in notes", tool.Reads, textSearch, `Searches the text of all notes and other text files, line by line.
- The query is plain text; with the prefix regex: it is a regular expression in RE2 syntax.`),
		tool.Structured("property_search", "Find notes by properties", tool.Reads, propertySearch, `Finds notes by their properties (front matter) and tags.
- All properties must match; a list as a value means any of its items. Case does not matter.
- An object as a value has operators: =, != (with a value or a list), <, <=, >, >= (with a number or a date), exists (true or false). != also matches notes without the property.
- tags are found in the text and in the front matter; work finds work/urgent, too.`),
		tool.Structured("find_links", "Find orphans, backlinks and mentions", tool.Reads, findLinks, `Finds notes that nothing links to, the lines that link to a note, or the lines that name a note without a link. Lines it shows count as read.`),
		tool.Structured("semantic_search", "Find notes by meaning", tool.Reads, semanticSearch, `Finds notes by subject, by meaning and by words, best first. Scores are between 0 and 1.
- filters are properties as property_search takes them; only notes that match them are ranked.`),
		tool.Structured("outline", "Outline a note", tool.Reads, outlineNote, `Returns a note's headings and tasks with their lines, properties, tags and links, without its text. Everything that it returns counts as read.`),
		tool.Structured("append", "Add to a note", tool.Suggests, appendNote, `Adds text at the end of a note or of one of its sections or lists, separated in the note's own style. The note need not have been read.`),
		tool.Structured("set_properties", "Set properties of notes", tool.Suggests, setProperties, `Sets and removes single properties (front matter) of one note or many; update_note replaces them all.
- You must have seen a value that you replace, as in list_notes with include_frontmatter.
- Properties carry no suggestions: they change immediately, and users can undo a call as a whole.`),
		tool.Structured("tags", "List and change tags", tool.Suggests, tags, `Lists the tags of all notes with their counts, or adds, removes or renames a tag in the front matter and the text of many notes at once.
- Tags in the text change as suggestions; tags in the front matter change immediately, and users can undo a call as a whole.`),
		tool.Structured("validate", "Check notes before review", tool.Reads, validate, `Finds problems that would exist if all pending changes were accepted: broken links and anchors, front matter, canvases and bases that are not valid, duplicate block ids, names that differ only in case.
- With kind link it lists all broken links.`),
		tool.Structured("get_kiln_info", "Describe the collection of notes", tool.Reads, getKilnInfo, `Returns the top-level folders and their numbers of notes and words.`),
	}
}

var Phrases = tool.Phrases{
	Folder:    "%q is a folder, not a document. Call list_notes with it as the folder to list its contents.",
	NotFolder: "%q is not a folder. Call list_notes to find the folder.",
	Exists:    "%q exists already. Read it and use update_note, or choose another path.",
	Missing:   "There is no document %q. Call list_notes to find its path; paths look like Folder/sub/Name.md.",
}
