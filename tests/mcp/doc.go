// Package mcp tests the MCP server over stdio and HTTP: its tools, the user's approval, the record of the text that a
// model has read, and the handover of a vault between a client and a mount.
package mcp
