// Package wire is update format V1 of Yjs: what an update, a delete set and a state vector are in bytes, and what can be
// done with updates alone, which is to check ([Scan]), to merge and to cut them. It does not depend on documents.
//
// Content stays in its wire form wherever it is kept, except for the length in
// front of a text: see [AppendContent] and [SliceContent].
package wire
