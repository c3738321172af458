// Package api is the HTTP API of a process that owns vaults, and its client. NewHandler serves a Backend. The owner
// serves it on its socket; a command that finds no owner serves it within its own process (InProcess). A Client has a
// method for each route; docs/review-api.md describes the routes that the review page also serves to other programs.
//
// An error response is one sentence, with an HTTP status for the kind of error, and a hint in the header Hint. A
// request that changes notes is completed even if the client disconnects. Package serving finds the owner; package
// ports opens ports.
package api
