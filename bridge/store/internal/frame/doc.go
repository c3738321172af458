// Package frame codes what a store is told as frames of its log, and the records that its
// checkpoint keeps. It opens nothing.
//
//	body, err := (&frame.Entry{Kind: frame.Abort, ID: id, Seq: 7}).Encode()
//	lsn, err := log.Append(body)
//	e, err := frame.Decode(lsn, body)
//
// # Format
//
// A frame is the kind of the change, one byte, and its fields. Strings and lists of bytes
// are preceded by their length; lengths and numbers are uvarints.
//
//	Change     id, path, seq, and for each record flags (1 byte; 1: unsent) and the record
//	Abort      id, seq
//	Mark       id, seq, SHA-256 of the text (32 bytes)
//	Proposals  a model.ProposalChange as JSON
//	Sent       id, seq
//	Place      id, seq, a model.Save as JSON
//	Path       id and path of each document that has moved; read only
//	Move       time in Unix milliseconds, id and path of each document that has moved
//	Forget     id
//
// A record is its fields as JSON, preceded by their length, and the update.
package frame
