// Package host presents a workspace as Yjs documents with ids, as on a Relay server, to the
// protocols of clients.
//
//	h, err := host.New(ctx, host.Options{Workspace: ws})
//	go h.Run(ctx)
//	d, err := h.Open(ctx, id, false)
//	defer d.Close()
//	err = d.Apply(ctx, update, host.Origin{User: "ann", Sender: connection})
//
// # Documents
//
// There are three kinds of document. Each Folder of the workspace has a folder document,
// which lists its notes and folders (package folderdoc). A note is a content document: its
// id is in the folder document. A loose document is in no folder: a client uploads the
// content of a new note before it enters that in the folder document, and may keep other
// documents under ids of its own. A removed note leaves a loose document.
//
// Other files are attachments: entries in the folder document with the hash of their bytes.
// The bytes are those of the file in the workspace, or those of an upload (Upload), which
// precedes the entry. A replaced file stays among the uploads. Canvases are documents in
// that layout, and not derived from files of the workspace.
//
// # Synchronisation
//
// Changes of names in the workspace are written into the folder document. A client's change
// of the folder document is a person's change of the source: notes are created, renamed and
// removed (recoverably). Changes that the source refuses, such as two notes under one name,
// are reverted in the document.
//
// A client's change of a folder document is stored before it is executed; after a crash in
// between it is executed at the next start.
//
// # Concurrency
//
// All methods are safe for concurrent use. Locks are taken in the order folder.mu,
// Document.mu, those of the workspace, Host.mu.
package host
