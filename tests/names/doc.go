// Package names tests system calls on names: renames, links, open files whose names go, random calls, and names and texts
// that cannot be. A plain folder shows what is right.
package names
