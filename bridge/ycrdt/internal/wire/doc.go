// Package wire implements Yjs update format V1: the byte forms of updates, delete sets and state vectors. [Scan] checks
// a whole update and returns an [Update], whose structs can be read without errors. [Merge], [EndsOf] and
// [WithDeletes] work on updates without a document. The package has no state.
//
// The content of a struct ([AppendContent], [SliceContent]) is in its wire form, except that a text has no length
// prefix. Package structs stores it in that form.
package wire
