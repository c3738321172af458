// Package planner plans changes of a note before anything is written. It uses no file and no store: it computes a
// [Plan] from a version, the facts about its characters and a request. A Plan has the edits of the raw text and the
// metadata of their record.
//
//   - [Suggest] and [DirectEdits] plan the write of a program.
//   - [Save] plans a user's save, which may restore an earlier state.
//   - [Decide] and [Amend] plan a user's decision on suggestions.
//   - [AddComment] and [Resolve] plan a user's comment and the removal of a thread.
//   - [Undo] plans the undo of a decision: each decided character is pending again, whatever the order of the undos.
//     Decision.Unrestored lists the text that it cannot restore.
//
// A plan refers to new text by its offsets. [Plan.Apply] makes the edits in the document and converts the offsets to
// CRDT IDs. A change that cannot be planned is refused as a whole ([model.RefusedError]).
package planner
