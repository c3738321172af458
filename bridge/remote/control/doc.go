// Package control is the client of a control plane: the service that knows people, shared
// folders and who may open them, and that makes the tokens of documents. Relay's hosted
// service is one. Its API is in two places: the API proper makes tokens, and a PocketBase
// beside it has people and folders.
//
//	service, err := control.ParseService("https://api.example.org", "https://auth.example.org")
//	client := control.New(control.Options{Logins: logins})
//	login, err := client.Login(ctx, service, "google", func(address string) { fmt.Println("open", address) })
//	folders, err := client.Folders(ctx)
//	tokens, err := client.Tokens(service.API, folders[0].Document(), dir, "some.tokens")
//	source, err := remote.Open(remote.Options{Tokens: tokens, ...})
//
// The package does not know where the login is kept (Logins), and shows nothing. It keeps the
// tokens of documents in a file, so that a restart needs no request for each.
//
// # Trust
//
// A control plane is believed in what it says about folders and servers. Its answers are
// bounded and checked: addresses have a scheme that is expected and, unless the control plane
// itself is on this machine, TLS; ids are UUIDs. Redirects are not followed. No error has a
// token in it.
//
// # Errors
//
// Errors wrap those of package transport: ErrLogin if there is no valid login, ErrNotShared,
// ErrUnreachable, ErrProtocol.
//
// # Concurrency
//
// Everything is safe for concurrent use. The locks are leaves and are not held across the
// network.
package control
