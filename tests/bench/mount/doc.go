// Package mount measures how fast programs are on a mount and over MCP, beside a plain directory and beside mounts of
// go-fuse that do less.
package mount
