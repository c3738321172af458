// Package api is the HTTP API of a process that owns vaults, and its client. NewHandler serves a Backend: the owner on its
// socket, and a command without an owner to itself in memory (InProcess). A Client has a method for each route;
// docs/review-api.md describes the routes that the review page serves to other programs, too.
//
// An error is one sentence with a status for its kind, and its hint in a header. A request that changes notes is completed
// even if the client disconnects. Finding the owner is left to package serving, and ports to package ports.
//
// Locks: Refusals.mu only.
package api
