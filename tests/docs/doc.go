// Package docs tests README.md, the pages next to it and those below docs: each link has a target, relayfs has each
// command and flag that they name, the sessions in blocks marked `console run` run as written, and the language follows
// the rules.
package docs
