// Package wire implements Yjs update format V1: the byte forms of updates, delete sets and state vectors, and the
// operations on updates alone: check ([Scan]), merge and cut. It does not depend on documents.
//
// Stored content is in its wire form, except for the length in front of a text: see [AppendContent] and [SliceContent].
package wire
