// Package docs tests README.md, the pages beside it and those below docs: that each link leads somewhere, that relayfs has
// each command and flag that they name, that the sessions in blocks marked `console run` go as they say, and that the language
// is in order.
package docs
