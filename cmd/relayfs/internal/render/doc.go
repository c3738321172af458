// Package render draws suggestions, threads of comments and the log of decisions. Painter and the functions List,
// Diffs, Scope, Undone, Threads and Log print them as text, in colour on a terminal and as CriticMarkup elsewhere.
// NoteOf turns a note with its pending changes into blocks of Nodes, for the review page.
//
// NoteOf parses the note twice, before and after its changes, and merges the two trees. A node that is in both trees is
// drawn once; a node in only one tree is drawn as deleted or added. So the page never shows a structure that neither
// text has, whatever effect the marks have on the Markdown around them. A change that neither tree shows, such as a
// change of a link's definition, is drawn as source below its block. A note that is too large or too complex is drawn
// as source only. No Node contains HTML: the page creates elements only for tags from a fixed list.
package render
