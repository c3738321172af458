// Package planner decides what is to become of a note before anything is written. It is
// pure: a [Plan] is computed from a version, the records of its document and what somebody
// wants, and says which edits the raw text gets, and what the record of them tells.
//
//   - [Suggest] and [DirectEdits] plan the write of a program.
//   - [Saved] is a person's save, which may bring an earlier state back.
//   - [Decide] and [Amend] plan what a person decides on suggestions.
//   - [Undo] plans how a decision is taken back: what was decided is pending again,
//     character by character, in whatever order decisions are taken back.
//
// A plan names what is new by its place; [Plan.CarryOut] makes the edits in the document
// and names it by identity. What cannot be planned is refused whole ([model.Refuse]).
package planner
