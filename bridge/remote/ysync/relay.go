package ysync

import (
	"encoding/binary"
	"fmt"
)

// relay-server adds types of frames to those of y-websocket; its ancestor y-sweet has some of them. A client that
// follows many documents subscribes to their events and requests their snapshots, both over the connection of one
// document.

const (
	wireEvent        = 4
	wireSubscribe    = 5
	wireQuerySubdocs = 7
	wireSubdocs      = 8
	wireEcho         = 102
)

// DocumentUpdated is the only type of event of relay-server.
const DocumentUpdated = "document.updated"

// MaxQuerySubdocs is the maximum number of documents in a QuerySubdocs frame. The minimum is one.
const MaxQuerySubdocs = 100

func (f *Frame) readRelay(r *reader, wire uint64) {
	switch wire {
	case wireEvent:
		f.Type, f.Payload = Event, r.bytes("event")
	case wireSubscribe:
		f.Type, f.Names = Subscribe, r.texts("event type")
	case wireQuerySubdocs:
		f.Type, f.Names = QuerySubdocs, r.texts("document")
		if n := len(f.Names); r.err == nil && (n == 0 || n > MaxQuerySubdocs) {
			r.fail(fmt.Sprintf("query of %d documents", n))
		}
	case wireSubdocs:
		f.Type, f.Payload = Subdocs, r.bytes("subdocs")
	case wireEcho:
		f.Type, f.Payload = Echo, r.bytes("echo")
	default:
		r.failUnknown(wire)
	}
}

// texts reads a count, and then that number of strings. Each string takes at least one byte, so an excessive count
// fails before any allocation.
func (r *reader) texts(what string) []string {
	n := r.uint("number of names")
	if n > uint64(len(r.buf)) {
		r.fail("number of names")
		return nil
	}
	names := make([]string, 0, n)
	for range n {
		names = append(names, r.text(what))
	}
	return names
}

// AppendEcho appends a frame that the server returns unchanged after it has applied all frames before it. y-sweet
// calls it a sync status; the client chooses the payload.
func AppendEcho(dst, payload []byte) []byte {
	return appendBytes(append(dst, wireEcho), payload)
}

func AppendEvent(dst, event []byte) []byte {
	return appendBytes(append(dst, wireEvent), event)
}

func AppendSubscribe(dst []byte, events ...string) []byte {
	return appendTexts(append(dst, wireSubscribe), events)
}

// AppendQuerySubdocs appends a frame that requests the snapshots of 1 to
// [MaxQuerySubdocs] documents.
func AppendQuerySubdocs(dst []byte, documents ...string) []byte {
	return appendTexts(append(dst, wireQuerySubdocs), documents)
}

// AppendSubdocs appends a frame that answers a QuerySubdocs with a CBOR map of snapshots, each in the form of
// [ycrdt.Snapshot.Encode].
func AppendSubdocs(dst, snapshots []byte) []byte {
	return appendBytes(append(dst, wireSubdocs), snapshots)
}

func appendTexts(dst []byte, texts []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(texts)))
	for _, s := range texts {
		dst = appendBytes(dst, s)
	}
	return dst
}
