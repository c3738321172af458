// Package control is the client of a control plane: the service that manages users, shared folders and access rights,
// and issues the tokens of documents. Relay's hosted service is one. Its API has two parts: the API proper issues
// tokens, and a PocketBase has users and folders.
//
//	service, err := control.ParseService("https://api.example.org", "https://auth.example.org")
//	client := control.New(control.Options{Logins: logins})
//	login, err := client.Login(ctx, service, "google", func(address string) { fmt.Println("open", address) })
//	folders, err := client.Folders(ctx)
//	tokens, err := client.Tokens(service.API, folders[0].Document(), dir, "some.tokens")
//	source, err := remote.Open(remote.Options{Tokens: tokens, ...})
//
// The caller stores the login (Logins) and shows messages. The package keeps the tokens of documents in a file, so
// that a restart needs no request for each.
//
// # Trust
//
// The package trusts a control plane about folders and servers. It bounds and checks the answers: addresses have an
// expected scheme and, unless the control plane itself is on this machine, TLS; IDs are UUIDs. It does not follow
// redirects. No error contains a token.
//
// # Errors
//
// Errors wrap those of package transport: ErrLogin if there is no valid login, ErrNotShared, ErrUnreachable,
// ErrProtocol.
//
// # Concurrency
//
// Everything is safe for concurrent use. The locks are leaves and are not held during network I/O.
package control
