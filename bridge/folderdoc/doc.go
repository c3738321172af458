// Package folderdoc reads and writes folder documents: the Yjs document by which
// a Relay server knows what a shared folder holds.
//
//	folder := folderdoc.Open(doc)
//	e, err := folder.Create(folderdoc.Entry{Path: "Projects/Plan.md", ID: id}, origin)
//	err = folder.Rename("Projects", "Archive/Projects", false, origin)
//	for _, e := range folder.List() {
//		fmt.Println(e.Path, e.Type, e.ID)
//	}
//
// # The document
//
// Two maps at its root go by path, with a leading slash:
//
//	filemeta_v0   "/Projects/Plan.md" -> {id, version: 0, type, [mimetype, hash, synctime]}
//	docs          "/Projects/Plan.md" -> id, of Markdown only
//
// A third, folder_config, may hold the folder's name. The id of a Markdown or
// canvas entry names the document with its content; an attachment's bytes are
// found by their hash; a folder's id names nothing.
//
// # The rules
//
// Clients delete people's files when these are broken, so that every function
// here keeps them. A Markdown entry is in both maps, written in one transaction:
// one without its twin in docs counts as deleted. An entry of docs alone is a
// file of an older client. A rename is one transaction that writes the new keys
// and deletes the old ones; receivers pair the two by the id. Who comes second
// to a path adopts the id that is there. A key with an empty element is never
// written, and skipped when read. Membership is written after the content has
// been synced: that is the caller's to see to.
//
// # Concurrency and errors
//
// All functions may be called from several goroutines; each change is one
// transaction. Errors are *fs.PathError with ErrPath, ErrNotEmpty or a sentinel of
// io/fs.
package folderdoc
