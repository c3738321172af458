// Package host offers a workspace as a set of Yjs documents with ids, as a Relay
// server has them, to whoever speaks with the clients.
//
//	h, err := host.New(ctx, host.Options{Workspace: ws})
//	go h.Run(ctx)
//	d, err := h.Open(ctx, id, false)
//	defer d.Close()
//	err = d.Apply(ctx, update, host.Origin{User: "ann", Sender: connection})
//
// # Documents
//
// A document is one of three. Each Folder of the workspace has a folder document,
// which lists its notes and folders (package folderdoc). A note is a content
// document: its id is in the folder document. A loose document is in no folder:
// a client uploads the content of a new note before it enters that in the folder
// document, and what a client keeps under an id of its own is loose for ever. A
// note that was removed leaves a loose document behind.
//
// What is no note is an attachment: an entry in the folder document with the hash
// of its bytes. The bytes are those of the file in the workspace, or what a client
// has uploaded (Upload), which it does before it enters the hash. A file that is
// replaced stays among the uploads. Canvases are documents of their own in that
// layout, and not made of the workspace's files.
//
// # Both directions
//
// What happens to names in the workspace is written into the folder document.
// What a client writes into the folder document is a person's act on the source:
// notes are made, renamed and removed (recoverably). What cannot be done there,
// as two notes under one name, is taken back in the document.
//
// A client's change of a folder document is in the store before it is carried
// out; if a crash comes between, it is carried out at the next start.
//
// # Concurrency
//
// All methods may be called from several goroutines. Locks are taken in the
// order folder.mu, Document.mu, those of the workspace, Host.mu.
package host
