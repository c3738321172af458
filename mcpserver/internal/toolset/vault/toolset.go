// Package vault implements the toolset vault. Its tools ([Tools]) create periodic notes and notes from templates as
// configured in the vault's .obsidian folder, list changes by others, name the session, and return obsidian:// links.
// They answer in plain text; package change makes the changes.
package vault

import "github.com/relayfs/relayfs/mcpserver/internal/tool"

func Tools() []tool.Tool {
	return []tool.Tool{
		tool.Plain("periodic_note", "Find or create a periodic note", tool.Suggests, periodicNote, `Returns the path of the daily, weekly, monthly, quarterly or yearly note of a date, by the vault's own settings. Creates the note from its template if it is missing.`),
		tool.Plain("create_from_template", "Create a note from a template", tool.Suggests, createFromTemplate, `Creates a note from a template of the vault, with {{title}}, {{date}} and {{time}} filled in. Without a template it lists the templates.`),
		tool.Plain("changes", "List what others changed", tool.Reads, changes, `Lists what users and other agents did since your last call, or since the session began: changes, new notes, renames, deletions, and decisions on suggestions with their reasons.`),
		tool.Plain("set_session_note", "Name this session", tool.Suggests, setSessionNote, `Sets the name and the purpose of this session. Users see them when they review your changes, including earlier changes.`),
		tool.Plain("get_url", "Get the link that opens a document", tool.Reads, getURL, `Returns the obsidian:// link that opens a document in Obsidian, for the user.`),
	}
}

var Phrases = tool.Phrases{
	Folder:    "%q is a folder, not a document. Give the path of a document.",
	NotFolder: "%q is not a folder. Give the path of a folder.",
	Exists:    "%q exists already. Choose another path.",
	Missing:   "There is no document %q. Paths look like Folder/sub/Name.md.",
}
