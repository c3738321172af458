// Package history returns the earlier states of notes: who changed a note and when, and its text at a time. It only
// reads. The Store keeps the history and drops old parts of it. An Entry is one change, or all plain changes by one
// author in one minute.
//
// A document holds every text that it ever contained, each character under its ID. A Store records which characters a
// change added or deleted (model.Revision). The text at a time consists of the characters that were added and not
// deleted by then, in the order of the document. So no text is stored twice. A note of a vault gets its document
// when an agent first changes it, when a user first decides on a mark in it, or when a user changes a note with marks that
// was read. The history begins with the text at that moment.
package history
