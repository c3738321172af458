// Package watch remembers which notes sessions want to hear about, and tells them what
// happens to those. It knows no protocol but the addresses of notes. The lock of Watches
// protects who wants to hear of what.
package watch
