// Package review tests how users review changes: the queue, decisions, undo, the review in a terminal, and the
// permission to change a suggestion or a comment.
package review
