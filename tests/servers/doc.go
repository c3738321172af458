// Package servers tests shared folders of servers and Yjs clients: third-party servers and clients, tokens, folders that
// vanish, and typing while programs read and write. The programs next to it are these servers and clients.
package servers
