// Package mcp tests the MCP server, over stdio and HTTP: its tools, approval, what a model has seen, and how a client and
// a mount hand a vault over to each other.
package mcp
