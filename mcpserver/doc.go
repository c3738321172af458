// Package mcpserver serves a workspace to AI agents over the Model Context Protocol: over Streamable HTTP,
// and to programs of this machine that pass on what a client on stdin and stdout sends.
//
//	srv := mcpserver.New(ws, mcpserver.Options{Author: "Claude"})
//	defer srv.Close()
//	http.Handle("/mcp", srv.HTTPHandler())
//
// A [Server] offers tools, resources and prompts over one bridge.Workspace. A [Session] is one client: its
// identity, and which versions of which notes it was shown. A tool is a function from a client and typed
// arguments to a [Result]; tools know nothing of the protocol. Each toolset is a package below
// internal/toolset. The tools of claude have the names of Claude Code's built-in tools and answer as those do,
// in plain text; those of notes and content answer with JSON.
//
// # Read before edit
//
// A session records which bytes of each document it was shown (internal/session). Every change goes through
// internal/change, which asks the person at the client if that is required (approval.go there), and refuses to
// remove text that the session was not shown, unless the call quotes it. The version that was shown is the
// base of a write, so other people's changes since then stay. An edit is matched again under the note's lock:
// it lands in the right place or fails.
//
// # Long answers
//
// The length of an answer is bounded (internal/answer). A longer text is shown in windows (internal/passage). A
// longer list continues at a cursor, which holds the key of the last item (cursor.go there).
//
// # Errors
//
// What a model can correct, such as a wrong argument or an unread note, is a Result with IsError and a
// sentence that says the next step (internal/tool). Faults of the server are Go errors, which become
// JSON-RPC internal errors and lines in the log.
//
// # Concurrency
//
// A Server and its Sessions may be used from several goroutines; calls of one session may overlap. One writer
// at a time changes a note. A handler starts goroutines only for the parallel part of a search, and waits for
// them.
package mcpserver
