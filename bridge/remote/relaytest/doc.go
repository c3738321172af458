// Package relaytest is a stand-in for relay-server 0.9.6, for tests of its clients. It shares no code with
// relay-server. README.md lists the rules of relay-server that it implements, how each was observed, and what it lacks.
//
// [New] starts a [Server], which keeps everything in memory and ends with the test. With the methods of the Server a
// test does what an operator, other clients or a full disk would do: it changes keys, restarts the server, writes or
// truncates documents. [Server.Loads] reports the cause of each load of a document.
//
// Everything is safe for concurrent use. One lock guards all documents.
package relaytest
