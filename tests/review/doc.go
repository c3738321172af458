// Package review tests the review: the queue, decisions, undo, the review in a terminal, and the permissions to change a
// suggestion or a comment.
package review
