// Package notes tests what a note may hold: new notes, front matter, byte order marks, hostile texts, and the raw view.
package notes
