// Package claudecode runs Claude Code on a mount. A mock of the Messages API makes it call tools.
package claudecode
