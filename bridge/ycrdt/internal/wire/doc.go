// Package wire implements Yjs update format V1: the byte forms of updates, delete sets and state vectors. It also
// checks ([Scan]), merges and cuts updates without a document.
//
// Stored content is in its wire form, except that texts have no length prefix: see [AppendContent] and [SliceContent].
package wire
