// Package planner plans changes of a note before anything is written. It is pure: it computes a [Plan] from a
// version, the records of its document and a request. A Plan has the edits of the raw text and the metadata of their
// record.
//
//   - [Suggest] and [DirectEdits] plan the write of a program.
//   - [SaveDiff] is a user's save, which may restore an earlier state.
//   - [Decide] and [Amend] plan a user's decision on suggestions.
//   - [Undo] plans the undo of a decision: the decided text is pending again, character by character, whatever the
//     order of the undos.
//
// A plan names new text by its position; [Plan.Apply] makes the edits in the document and replaces positions by
// CRDT IDs. A change that cannot be planned is refused as a whole ([model.RefusedError]).
package planner
