// Package links finds the links in a note and resolves them as Obsidian does.
//
// A vault is one root of a workspace; paths are "Folder/sub/Name.md". A [Link] is a place in a note's text that names
// another note or file: a wikilink [[Note]], an embed ![[Note]], a Markdown link [text](Note.md), or a reference
// definition [label]: Note.md. Its linkpath ([Link.Target]) is the name without the subpath ("#Heading", "#^block").
// [Extract] finds the links of one text; an [Index] has the links of all notes and resolves linkpaths to paths. After a
// rename [Index.Retarget] gives the new linkpath of a link; [RetargetCanvas] rewrites the paths in a canvas.
// [NameWarning] describes problems of names that Obsidian does not allow or that links cannot contain.
//
// # Resolution
//
// A linkpath is resolved in the vault of its note: first as an exact path from the vault's root, then in the note's
// folder, then as a suffix of whole path elements. Among several suffix matches the shortest path wins, then an exact
// spelling, then the first path in lexicographic order (Obsidian's own choice is not stable). A link never leads to
// another vault. A linkpath that begins with "/" is only resolved from the vault's root. One that begins with "./" or
// "../" is only resolved from the note's folder. Case and Unicode composition do not matter, but an exact spelling is
// preferred. The ".md" of a note may be omitted; other files need their extension. As in Obsidian, aliases do not
// resolve links.
//
// # Suggestions
//
// An Index has the links of a note without its suggestions. [Index.Mentioning] also has the links in pending additions.
//
// Extract is pure and takes linear time. An Index is safe for concurrent use. No function returns an error: text
// that is not a link yields no Link.
package links
