// Package frame codes the frames of a store's log, and the values of its checkpoint. It opens nothing.
//
//	body, err := (&frame.Entry{Kind: frame.Abort, ID: id, Seq: 7}).Encode()
//	lsn, err := log.Append(body)
//	e, err := frame.Decode(lsn, body)
//
// Everything is CBOR. A struct is a map whose keys are its cbor tags, else its json tags, else its field names: a new
// fact is a new field. Text is bytes, whether or not they are UTF-8, and times are text (RFC 3339).
package frame
