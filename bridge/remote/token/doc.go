// Package token implements the credentials of clients of servers of the y-sweet family. It does no I/O; package
// transport requests client tokens. A Key signs tokens (Key.Mint). Inspect reads the claims of a token without
// verifying them; nothing here verifies a signature. Errors never quote a token or a secret.
//
// A client token (ClientToken) is the server's answer for one document: the address to connect to, and the token.
//
// A token is a set of signed Claims: its Scope (the whole server, one document, one file, every document with a
// prefix), its user and its expiry. y-sweet's legacy kind is bincode, followed by a hash of it and of a 30-byte key.
// The other kind is a CBOR Web Token (RFC 8392), signed with a 32-byte HMAC key, ES256 or Ed25519. The formats follow
// jamsocket/y-sweet 0.9.1 and No-Instructions/relay-server.
package token
