// Package model runs random sequences of all events that can happen to a note, and compares each step with a model of
// the note.
package model
