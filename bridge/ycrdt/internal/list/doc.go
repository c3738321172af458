// Package list edits lists by visible position, and text by the unit: what is
// deleted and inserted where, so that no surrogate pair is cut, and what becomes of
// formats. It has no state and no locks; it works on a transaction of package edit.
package list
