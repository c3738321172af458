// Package relaytest is a stand-in for relay-server 0.9.6, for tests of its clients. It implements relay-server's
// rules and shares no code with it.
//
// README.md lists the rules, and how each was observed.
//
// Everything is safe for concurrent use. One lock guards all documents.
package relaytest
