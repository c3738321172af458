// Package claudecode runs Claude Code on a mount. A mock of the Messages API tells it which tools to call.
package claudecode
