// Package serving opens sources, serves them to other processes, and finds the process that serves one (the owner). A
// Session is an open workspace that this process owns. A Control serves it on the owner's socket and on ports. A Search
// finds owners for commands.
//
// A source has at most one owner. A client that names its sources can reach only these. An MCP process on stdio hands its
// sources over to a mount or a server that starts later. The locks and the socket are left to bridge/owner, the answers to
// packages api and mcpserver.
//
// Locks: perFolderHandlers.mu only.
package serving
