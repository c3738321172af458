// Package token is about who may open which document on a server of the
// y-sweet family: connection strings, client tokens, and the two kinds of
// signed tokens, which it reads, checks and makes.
//
// # Nouns
//
// A Connection is a server's address with its server token, written as
// ys://token@host:port/prefix. A client token (ClientToken) is what a server
// hands out for one document: where to connect, and a token for that.
//
// A token is a signed sentence, its Claims: what it is for (a Scope: the whole
// server, one document, one file, every document with a prefix), for whom and
// until when. It comes in two kinds. The legacy kind of y-sweet is a hash over
// bincode and a 30-byte key. The other is a CBOR Web Token (RFC 8392), signed
// with a 32-byte HMAC key, ES256 or Ed25519.
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
// Values do not change once they are made; everything may be called from
// several goroutines. Errors wrap one of the package's sentinels and never
// quote a token or a key.
//
// The formats follow jamsocket/y-sweet 0.9.1 and No-Instructions/relay-server.
package token
