// Package relaytest is a stand-in for relay-server 0.9.6, for tests of its clients. It implements relay-server's
// rules and shares no code with it.
//
//	s := relaytest.New(t, relaytest.Options{Keys: token.Ring{key}, URL: "https://relay.example"})
//	... s.Address() ...
//	for _, load := range s.Loads() { ... }
//
// README.md lists the rules, and how each was observed.
//
// # Concurrency
//
// Everything is safe for concurrent use. One lock guards all documents.
package relaytest
