// Package reviewqueue is the review queue of a workspace. A Queue lists pending suggestions, proposals and threads,
// makes decisions, comments and undos, and follows changes. Package api serves its types as JSON. Each Suggestion can
// describe itself in words (Summary, Place, Who) and as pieces to draw (InPieces).
//
// A Queue makes a decision only if the suggestions are unchanged since they were shown, unless the request names them
// by ID alone (Unseen). It makes no decision in a folder that Relay's plugin shares (Queue.Guarded), unless the request
// has Force. Decisions and comments are always made in the name of the user of this machine. Package render draws
// suggestions; package bridge/review, through the workspace, applies decisions to notes.
package reviewqueue
