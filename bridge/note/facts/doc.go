// Package facts carries what relayfs knows of a note's suggestions in the note's document, where the other mounts of
// its server read it: the root map [Name]. Each change by a program and each decision is an entry: its record, without
// what only an undo needs. Clients that are no relayfs keep a root that they do not know.
//
// An entry is written once. Its number is that of the units which the document had before: as each entry is a unit, it is
// greater than those of all entries that its writer knew, and nobody can use up the numbers. All mounts fold entries in the
// order of numbers, and of clients where numbers are equal. The order of entries of which neither knew the other does not
// matter much: each tells of other characters, and of two decisions on one suggestion the later one counts. A client makes
// entries of its own changes only.
//
// The map may hold anything, since every client of the server may write to it. What is no entry is skipped, and the
// time and the memory that the map takes are bounded.
package facts
