// Package files tests the files that programs see on a mount. It compares texts, listings and stat with the vault,
// tests the contents that a note may have, and compares system calls on names with the same calls in a plain folder.
package files
