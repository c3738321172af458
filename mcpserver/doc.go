// Package mcpserver serves a workspace to AI agents over the Model Context Protocol. Clients use Streamable HTTP, or
// the socket of the owner through programs that forward messages from stdio.
//
//	srv := mcpserver.New(ws, mcpserver.Options{Author: "Claude"})
//	defer srv.Close()
//	http.Handle("/mcp", srv.HTTPHandler())
//
// A [Server] offers tools, resources and prompts of one bridge.Workspace to any number of clients. A [Session] is one
// client: its identity, and the texts that it has read. Each toolset is a package below internal/toolset. A tool is a
// function from a client and typed arguments to a [Result], and does not depend on the protocol.
//
// # Guarantees
//
//   - A change of a text deletes only text that the client has read in this session, or that the call names
//     (internal/session, internal/change). The base of a write is the version that the client has read, so that
//     concurrent changes survive.
//   - An edit is matched again under the lock of the note: it changes the right place or fails.
//   - If required, the user at the client approves a change before it is made (internal/change/approval.go).
//   - A result has at most 40,000 bytes of JSON (internal/result). Longer texts are shown in windows
//     (internal/textrange), and longer lists continue at a cursor.
//   - Errors that a model can correct are results with IsError and a text that contains the next step (internal/tool).
//     Faults of the server are JSON-RPC internal errors and log lines.
//   - Tool calls on stdio take effect in the order in which the client sent them.
//
// The files local.go and http.go are the two transports. They limit the size of messages, and pass them to mcp-go, which
// calls the tools. A Server and its Sessions are safe for concurrent use. Package bridge does the merging, storage and
// review.
package mcpserver
