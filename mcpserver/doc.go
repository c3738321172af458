// Package mcpserver serves a workspace to AI agents over the Model Context
// Protocol: on a stream (stdin and stdout, or the owner's socket) and over
// Streamable HTTP.
//
// # Nouns
//
// A [Server] offers tools, resources and prompts over one bridge.Workspace. A
// [Session] is one client: who it is, and which notes it has been shown, in which
// version. A tool is a function from a client and typed arguments to a [Result];
// tools know nothing of the protocol. This package and internal/transport, which
// connect the two, are all that knows mcp-go.
//
//	srv := mcpserver.New(ws, mcpserver.Options{Author: "Claude"})
//	defer srv.Close()
//	err = srv.ServeStream(ctx, os.Stdin, os.Stdout, "stdio")
//
// # Toolsets
//
// Tools come in sets, a package each below internal/toolset, with a file for each
// tool. Those of claude are named and answer, in plain text, as the tools that Claude
// Code has built in. Those of notes and content answer with JSON: a struct, whose tags
// are the output schema (internal/schema), is the structured content of the call and
// its text.
//
// # Read before edit
//
// A session knows which bytes of each document it was shown (internal/session),
// through all tools and resources. Every change goes through internal/change, which
// has the person at the client asked if that is wanted (internal/approval), and
// refuses to take away what the session was not shown, unless the call quotes it.
// The version that was shown is the base of a write: what others changed since
// stays. An edit is matched again under the note's lock, so it lands in the right
// place or fails.
//
// # Long answers
//
// An answer is at most so long (internal/answer). A text that does not fit is shown
// in windows (internal/passage); a list or a search goes on at a cursor, which holds
// the key of what was listed last (internal/cursor).
//
// # Errors
//
// Whatever a model can mend, a wrong argument, an unread note, a text that is not
// there, is a Result with IsError and a sentence that says the next step
// (internal/refusal). Only what is our own fault becomes a Go error, and with it a
// JSON-RPC internal error and a line in the log.
//
// # Concurrency
//
// A Server and its Sessions may be used from several goroutines; calls of one
// session may overlap. Each note is changed by one writer at a time. A handler
// starts no goroutine but for the parallel part of a search, and waits for it.
package mcpserver
