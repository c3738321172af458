// Package code tests the source: what each package imports, what a release holds, and how files are named.
// It runs no relayfs.
package code
