// Package match finds a text in a document as a model quotes it, and makes the edits
// that put another in its place: line breaks, quotes and the byte order mark are the
// document's own. It also finds CriticMarkup that a change would bring in. It knows no
// document but its text. It has no locks.
package match
