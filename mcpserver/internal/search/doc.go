// Package search finds lines in the notes of a workspace. Its Index knows the paths of
// the notes, and signatures by which those that cannot match are passed over. It knows
// no tool. The Index has a lock of its own, which protects what it knows of the notes.
package search
