// Package canvasdoc reads and writes the documents of shared canvases: the Yjs documents in
// which a Relay server keeps what Obsidian has in .canvas files.
//
//	data := canvasdoc.Read(doc)
//	err := canvasdoc.Write(doc, data, changed)
//
// # The document
//
//	nodes    map: id -> the node, a plain object that is replaced as a whole
//	edges    map: id -> the edge, likewise
//	relay    map: v -> 0, so that a canvas without nodes is not an empty document
//	<id>     text: what the text node with this id says; its member text, while this is empty
//
// Nodes are drawn in the order in which their keys came into the map, the last one on top.
//
// # The file
//
// Read returns JSON Canvas 1.0 in the layout of Obsidian: each node and each edge on a line of
// its own, tabs, and a space nowhere; values as JSON.stringify writes them, members in the order
// in which they are stored. A canvas without nodes and edges has both lists, empty. What is no
// object is not shown. The id of a node is its key, whatever its member says. What JSON has
// no form for is null.
//
// # Writes
//
// A write has the new file and its base, the file that the writer had read. Write carries the
// difference over to the document as it is now, in one transaction: a member of a node or an
// edge is set or deleted, and a text edited, where the two files differ. What others have
// changed since the base stays. Of a member that both have changed theirs stays; a node or an
// edge that they have deleted stays deleted; one that they have changed is not deleted, and neither is
// a node to which they have drawn an edge. What is not shown stays as it is. Nothing but a new
// key changes the order of nodes.
//
// An object is replaced as a whole: of two replicas that set one object before they have heard
// of each other, one wins, as in Yjs. Texts merge. So a change of a text alone leaves the
// object alone. The text of a deleted node stays in the document, for the case that the node comes
// back.
//
// A document has room for nodes and edges. A file with other members at its top is refused, and
// so is what is no canvas: errors wrap ErrFormat, and nothing has changed. Errors are found
// before the transaction.
//
// # Limits
//
// Time and memory are linear in the size of the document and the files, but for the comparison
// of texts. Values nest up to 100 deep. Nodes whose ids are names of maps in the document have
// no Text: theirs is the member text.
package canvasdoc
