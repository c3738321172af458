// Package docs tests README.md and the pages below docs: that each link leads somewhere, that relayfs has each command and
// flag that they name, and that the sessions in blocks marked `console run` go as they say.
package docs
