// Package code tests the source: the imports of each package, the content of a release, and the names of files. It does
// not run relayfs.
package code
