// Package history tells what the notes were: who changed one when, and its text at a time.
//
//	h, err := archive.History(ctx, "Notes/Plan.md")
//	entries := h.Entries()
//	text, err := h.At(history.Time(time.Now().Add(-2 * time.Hour)))
//
// A document holds every text that was ever in it, each character under its identity, and a Store keeps which of them a
// change added or deleted (model.Past). So the text at a time is what had been added by then and not deleted, in the order
// of the document, and nothing is kept twice. A note has a document since an agent first changed it, or a Yjs client first
// opened it: what was before that nobody knows, but for the text that was there then.
package history
