// Package code tests the source: what each package imports, how large and how tangled it is, and how files are named.
// It runs no relayfs.
package code
