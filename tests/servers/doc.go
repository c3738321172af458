// Package servers tests shared folders of servers and Yjs clients: the servers and clients of others, tokens, folders that
// vanish, and typing while programs read and write. The programs beside it are those servers and clients.
package servers
