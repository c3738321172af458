// Package servers tests shared folders of servers and Yjs clients. It covers third-party servers and clients, tokens,
// folders that vanish, and users who type while programs read and write. The Node programs in the folder of this
// package are these servers and clients.
package servers
