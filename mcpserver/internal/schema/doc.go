// Package schema describes what a tool takes and gives back: the tags of two structs
// are the JSON Schemas that clients see, and decide how the arguments of a call are
// read. It runs no tool. It has no locks.
package schema
