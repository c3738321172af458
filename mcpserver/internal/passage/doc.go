// Package passage knows the parts of a text: places in bytes, positions in lines and
// characters, what of a text somebody has Set, and windows that fit into an answer.
// It searches for nothing and changes nothing. It has no locks.
package passage
