// Package api is the HTTP API of a process that owns vaults, and its client. NewHandler serves a Backend: for the owner
// on its socket, and for a command without an owner in its own memory (InProcess). A Client has a method for each route;
// docs/review-api.md describes the routes that the review page also serves to other programs.
//
// An error is one sentence with a status for its kind, and a hint in a header. A request that changes notes is completed
// even if the client disconnects. Package serving finds the owner; package ports opens ports.
//
// Locks: Refusals.mu only.
package api
