// Package docs tests README.md, the pages next to it and the pages below docs. Each link must have a target, and
// relayfs must have each command and flag that the pages mention. The sessions in blocks marked `console run` must run
// as written, and the language must follow the rules.
package docs
