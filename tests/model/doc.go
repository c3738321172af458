// Package model runs random sequences of all that happens to a note, and compares each step with a model of it.
package model
