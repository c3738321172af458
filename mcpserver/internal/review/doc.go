// Package review tells suggestions, comments, proposals and what people decided in lines
// of text. It reads no document and decides nothing. It has no locks.
package review
