// Package review tests what waits for a person: the queue, decisions, undo, the review in a terminal, and who may change
// a suggestion or a comment.
package review
