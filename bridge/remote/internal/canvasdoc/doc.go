// Package canvasdoc reads and writes the documents of shared canvases: the Yjs documents in which a Relay server
// stores the content of Obsidian's .canvas files.
//
// # The document
//
//	nodes    map: id -> the node, a plain object that is replaced as a whole
//	edges    map: id -> the edge, likewise
//	relay    map: v -> 0, so that a canvas without nodes is not an empty document
//	<id>     text: the text of the text node with this id; if empty, its member text counts
//
// Nodes are drawn in the order in which their keys were added to the map, the last one on top.
//
// # The file
//
// Read returns JSON Canvas 1.0 in the layout of Obsidian: each node and each edge on a separate line, tabs, and no
// spaces; values as JSON.stringify writes them, members in the stored order. A canvas without nodes and edges has two
// empty lists. Values that are not objects are omitted. The ID of a node is its key, whatever its member says. Values
// without a JSON form are null.
//
// # Writes
//
// A write has the new file and its base, the file that the writer had read. Write applies their difference to the
// current document in one transaction: it sets or deletes a member of a node or edge, or edits a text, where the two
// files differ. Changes by others since the base stay. If both sides have changed a member, the others' value stays.
// A node or edge that others have deleted stays deleted. One that they have changed is not deleted, and neither is a
// node to which they have drawn an edge. Hidden values do not change. Only a new key changes the order of nodes.
//
// An object is replaced as a whole: if two replicas set one object concurrently, one of them wins, as in Yjs. Texts
// merge, so a change of a text alone does not replace the object. The text of a deleted node stays in the document,
// in case the node is restored.
//
// A document can only store nodes and edges. A file with other top-level members is refused, as is a file that is not
// a canvas: errors wrap ErrFormat, and the document does not change. Errors are found before the transaction.
//
// # Limits
//
// Time and memory are linear in the size of the document and the files, except for the comparison of texts. Values
// nest up to 100 levels. Nodes whose IDs are names of maps in the document have no Text; their text is the member
// text.
package canvasdoc
