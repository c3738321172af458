// Package facts stores the attribution of a note's suggestions in the note's document, in the root map [Name]. Other
// mounts of the shared folder read it there. The suggestions of programs and the decisions are entries: their records
// without the data that only this machine needs. Other Yjs clients preserve roots that they do not use.
//
// An entry is written once. Its number is the number of units that the document had before. Each entry adds a unit to
// the document. So the number is greater than the numbers of all entries that the writer of the entry had read, and no
// client can exhaust the numbers. All mounts apply entries in the order of their numbers, then of their clients. The
// order of concurrent entries hardly matters: they concern different characters, and if two decide on one suggestion,
// the later one counts. A client writes entries only for its own changes.
//
// Every client of the server may write to the map, so it may hold anything. Values that are not entries are skipped,
// and the time and memory for reading the map are bounded.
package facts
