// Package files tests what programs see on a mount: texts, listings and stat, compared with the vault; the contents that
// a note may have; and system calls on names, for which a plain folder shows the expected result.
package files
