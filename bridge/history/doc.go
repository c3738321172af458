// Package history returns the earlier states of notes: who changed a note when, and its text at a time.
//
//	h, err := archive.History(ctx, "Notes/Plan.md")
//	entries := h.Entries()
//	text, err := h.At(history.Time(time.Now().Add(-2 * time.Hour)))
//
// A document holds every text that it ever contained, each character under its ID. A Store records which characters a
// change added or deleted (model.Past). So the text at a time consists of the characters added and not deleted by then,
// in the order of the document, and no text is stored twice. A note has a document since an agent first changed it, or a
// Yjs client first opened it: its only known earlier state is the text at that moment.
package history
