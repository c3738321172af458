// Package control is the client of a control plane: the service that manages users, shared folders and access rights,
// and issues the tokens of documents. Relay's hosted service is one. Its API has two parts: the API proper issues
// tokens, and a PocketBase has users and folders. The caller stores the login (Logins) and shows messages.
//
// The package trusts a control plane about folders and servers. It limits the size of answers, and checks that
// addresses use TLS or are on this machine, and that the IDs of folders are UUIDs. It does not follow redirects. No
// error contains a token. Most errors wrap one of package transport: ErrLogin if there is no valid login, ErrNotShared,
// ErrUnreachable, ErrProtocol.
//
// Everything is safe for concurrent use. No lock is held during network I/O.
package control
