// Package token implements the credentials of servers of the y-sweet family: client
// tokens and signed tokens. It mints and verifies both kinds of signed tokens. It does no
// I/O; package transport requests client tokens.
//
// # Nouns
//
// A client token (ClientToken) is what a server returns for one document: the address to
// connect to, and a token for it.
//
// A token is a set of signed Claims: its Scope (the whole server, one document, one file,
// every document with a prefix), its user and its expiry. y-sweet's legacy kind is
// bincode, followed by a hash of it and of a 30-byte key. The other kind is a CBOR Web
// Token (RFC 8392), signed with a 32-byte HMAC key, ES256 or Ed25519.
//
//	key, err := token.GenerateKey("main", token.HMAC)
//	text, err := key.Mint(token.Claims{
//		Scope:   token.Scope{Kind: token.Doc, ID: "note-1", Permission: token.Full},
//		Expires: time.Now().Add(time.Hour),
//	})
//	claims, err := token.Ring{key}.Verify(text, "", time.Now())
//	permission, ok := claims.OnDoc("note-1")
//
// # Concurrency and errors
//
// Values are immutable; everything is safe for concurrent use. Errors wrap one of the
// package's sentinels and never quote a token or a key.
//
// The formats follow jamsocket/y-sweet 0.9.1 and No-Instructions/relay-server.
package token
