// Package serving opens sources, serves them to other processes, and finds the process that serves a source (the
// owner). A Session is an open workspace that this process owns. A Control serves it on the owner's socket and on
// ports. A Search finds owners for commands. Stdio is `relayfs mcp` on stdin and stdout: it connects one MCP client to
// the owner. The owner is another process or, if there is none, this process.
//
// A source has at most one owner. A client that names its sources can reach only these sources. An MCP process on stdio
// usually hands its sources over to a mount or a server that starts later. Its client keeps the connection: stdioBridge
// connects to the next owner and repeats the handshake and the subscriptions. If a request reached no owner, or its
// response was lost, the client gets an error that says so. Package bridge/owner has the locks and the socket; packages
// api and mcpserver handle the requests.
//
// No goroutine holds two of the locks of this package.
package serving
