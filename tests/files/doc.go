// Package files tests what programs meet on a mount: what they read, in texts, listings and stat, compared with the vault;
// what a note may hold; and system calls on names, for which a plain folder shows what is right.
package files
