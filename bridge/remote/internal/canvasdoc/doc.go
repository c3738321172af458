// Package canvasdoc reads and writes the documents of shared canvases: the Yjs documents in which a Relay server
// stores the content of Obsidian's .canvas files.
//
// # The document
//
//	nodes    map: id -> the node, a plain object that is replaced as a whole
//	edges    map: id -> the edge, a plain object too
//	relay    map: v -> 0, so that a canvas without nodes is not an empty document
//	<id>     text: the text of the text node with this id; if it is empty, the member text of the node counts
//
// Nodes are drawn in the order in which their keys were added to the map, the last one on top.
//
// # The file
//
// Read returns JSON Canvas 1.0 in Obsidian's layout: each node and each edge on a separate line, with tabs and without
// spaces. Values have the form of JSON.stringify. Members keep their stored order. A canvas without nodes and edges
// has two empty lists. Nodes and edges that are not objects are omitted, and so are undefined members. The ID of a node
// is its key, whatever its member id contains. Other values without a JSON form are null.
//
// # Writes
//
// A write has the new file and its base, which is the file that the writer had read. Write applies their difference to
// the current document in one transaction: where the two files differ, it sets or deletes a member of a node or edge,
// or edits a text. It keeps all changes that others have made since the base. If the writer and others have changed the
// same member, the others' value stays. A node or edge that others have deleted stays deleted. Write does not delete a
// node or edge that others have changed, nor a node to which they have drawn an edge. Hidden values do not change. The
// order of nodes changes only when a key is added.
//
// An object is replaced as a whole: if two replicas set one object concurrently, one of them wins, as in Yjs. Texts
// merge, so a change of a text alone does not replace the object. The text of a deleted node stays in the document,
// in case the node is restored.
//
// A document can only store nodes and edges. Write refuses a file with other top-level members, and a file that is not
// a canvas. Its errors wrap ErrFormat; it finds them before the transaction, so the document does not change.
//
// # Limits
//
// Time and memory are linear in the size of the document and the files, except for the comparison of texts. Values nest
// up to 100 levels. A node whose ID is the name of a map in the document has no Text; its text is the member text.
package canvasdoc
