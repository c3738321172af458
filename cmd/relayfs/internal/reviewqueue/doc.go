// Package reviewqueue is the review queue of a workspace. A Queue lists pending suggestions, proposals and threads, makes
// decisions, comments and undos, and follows changes; its types are the JSON of package api, which serves it. Each
// Suggestion can describe itself in words (Summary, Place, Who) and as pieces to draw (InPieces).
//
// A decision is made only if the suggestions are still as they were shown, except if the request names them by ID alone
// (Unseen). Decisions and comments are always by the user of this machine. Drawing is left to package render; what a
// decision does to a note is left to package bridge.
//
// Locks: Queue.deciding only.
package reviewqueue
