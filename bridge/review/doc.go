// Package review lists what waits for a person, carries out what the person decides on it,
// takes that back, and tells what became of suggestions.
package review
