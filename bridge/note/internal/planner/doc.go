// Package planner plans changes of a note before anything is written. It uses no file and no store: it computes a [Plan]
// from a version, the facts about its characters and a request. A Plan has the edits of the raw text and the metadata of
// their record.
//
//   - [Suggest] and [DirectEdits] plan the write of a program.
//   - [SaveDiff] is a user's save, which may restore an earlier state. It has its own Apply and is no Plan.
//   - [Decide] and [Amend] plan a user's decision on suggestions.
//   - [Remark] and [Resolve] plan a user's comment and the removal of a thread.
//   - [Undo] plans the undo of a decision: the decided text is pending again, character by character, whatever the
//     order of the undos. Text that it cannot restore is in Decision.Away.
//
// A plan names new text by its position; [Plan.Apply] makes the edits in the document and replaces positions by
// CRDT IDs. A change that cannot be planned is refused as a whole ([model.RefusedError]).
package planner
