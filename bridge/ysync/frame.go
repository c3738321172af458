package ysync

import (
	"encoding/binary"
	"fmt"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// A Type says what a frame is about.
type Type uint64

const (
	Sync           Type = 0
	AwarenessState Type = 1
	Auth           Type = 2
	QueryAwareness Type = 3 // asks for the awareness of everybody

	// The following exist in Hocuspocus only.

	SyncReply          Type = 4 // like Sync, but no step 1 is to come back
	Stateless          Type = 5 // an application's own message
	BroadcastStateless Type = 6 // only between servers
	Close              Type = 7 // the document is closed, with a reason
	SyncStatus         Type = 8 // whether the last change was saved
	Ping               Type = 9
	Pong               Type = 10
)

// The types of y-sweet and relay-server. Only Echo's value is that on the wire,
// where Event to Subdocs are 4 to 8, as are others in Hocuspocus.
const (
	Echo         Type = wireEcho                 // Payload is to be sent back as it is
	Event        Type = 0x100 | wireEvent        // Payload is a CBOR map
	Subscribe    Type = 0x100 | wireSubscribe    // Names are types of events
	Unsubscribe  Type = 0x100 | wireUnsubscribe  // Names are types of events
	QuerySubdocs Type = 0x100 | wireQuerySubdocs // Names are documents
	Subdocs      Type = 0x100 | wireSubdocs      // Payload is a CBOR map of snapshots
)

// A Step says what kind of sync frame a frame is.
type Step uint64

const (
	Step1  Step = 0 // Payload is a state vector
	Step2  Step = 1 // Payload is an update, the answer to a step 1
	Update Step = 2 // Payload is an update that was just made
)

// A Frame is a decoded frame.
type Frame struct {
	Type Type
	// Document is the name of the document, in Hocuspocus's framing.
	Document string
	// Step tells sync frames apart.
	Step Step
	// Payload holds the state vector or update of a sync frame, the awareness
	// update, or what Echo, Event and Subdocs carry. It aliases the bytes that
	// were decoded.
	Payload []byte
	// Names holds the documents or types of events that a frame names.
	Names []string
	// Auth tells auth frames apart.
	Auth AuthKind
	// Text is the reason or scope of an auth frame, the token that is presented,
	// the reason of a Close, or a stateless message.
	Text string
	// Saved is the content of a SyncStatus.
	Saved bool
}

// An AuthKind says what kind of auth frame a frame is. Its values are not those
// on the wire, where the two framings differ.
type AuthKind int

const (
	PermissionDenied AuthKind = iota + 1
	Authenticated             // Text is "read-write" or "readonly" in Hocuspocus, else empty
	Token                     // Hocuspocus; a client presents one, a server asks for one
)

// Decode reads a frame of y-websocket, y-sweet or relay-server. Bytes after the
// frame are ignored. The error wraps [ErrMalformed] or [ErrUnknownType].
func Decode(frame []byte) (Frame, error) {
	r := reader{buf: frame}
	wire := r.uint("type")
	f := Frame{Type: Type(wire)}
	switch f.Type {
	case Sync:
		f.readSync(&r)
	case AwarenessState:
		f.Payload = r.bytes("awareness update")
	case Auth:
		f.readPermission(&r)
	case QueryAwareness:
	default:
		f.readRelay(&r, wire)
	}
	if r.err != nil {
		return Frame{}, r.err
	}
	return f, nil
}

// readPermission reads the rest of an auth frame. y-protocols knows refusals
// only; yrs, on which y-sweet and relay-server stand, writes grants too.
func (f *Frame) readPermission(r *reader) {
	switch kind := r.uint("auth kind"); kind {
	case 0:
		f.Auth, f.Text = PermissionDenied, r.text("reason")
	case 1:
		f.Auth = Authenticated
	default:
		r.fail(fmt.Sprintf("auth kind %d", kind))
	}
}

func (f *Frame) readSync(r *reader) {
	f.Step = Step(r.uint("sync step"))
	if f.Step > Update {
		r.fail(fmt.Sprintf("sync step %d", f.Step))
	}
	f.Payload = r.bytes("sync payload")
}

// Apply does what a Sync or SyncReply frame asks for: it applies an update to
// doc, or answers a step 1. reply is the body of the answer, to be sent by
// y-websocket as it is and by Hocuspocus behind the name of the document; nil
// if there is nothing to answer.
//
// The errors are those of [ycrdt.Doc.ApplyUpdate]; the document has not changed then.
func (f *Frame) Apply(doc *ycrdt.Doc, origin any) (reply []byte, err error) {
	if f.Step != Step1 {
		return nil, doc.ApplyUpdate(f.Payload, origin)
	}
	if _, err := ycrdt.DecodeStateVector(f.Payload); err != nil {
		return nil, err
	}
	return AppendStep2(nil, doc.EncodeStateAsUpdate(f.Payload)), nil
}

// AppendStep1 appends a frame that tells what its sender has.
func AppendStep1(dst, stateVector []byte) []byte { return appendSync(dst, Step1, stateVector) }

// AppendStep2 appends a frame that answers a step 1.
func AppendStep2(dst, update []byte) []byte { return appendSync(dst, Step2, update) }

// AppendUpdate appends a frame that passes on a change.
func AppendUpdate(dst, update []byte) []byte { return appendSync(dst, Update, update) }

func appendSync(dst []byte, step Step, payload []byte) []byte {
	return appendBytes(append(dst, byte(Sync), byte(step)), payload)
}

// AppendAwareness appends a frame with what [Awareness.Encode] returned.
func AppendAwareness(dst, update []byte) []byte {
	return appendBytes(append(dst, byte(AwarenessState)), update)
}

// AppendQueryAwareness appends a frame that asks for everybody's awareness.
func AppendQueryAwareness(dst []byte) []byte { return append(dst, byte(QueryAwareness)) }

// AppendPermissionDenied appends y-websocket's frame of a server that refuses.
func AppendPermissionDenied(dst []byte, reason string) []byte {
	return appendBytes(append(dst, byte(Auth), 0), reason)
}

// appendUint is binary.AppendUvarint under the name of what it writes.
func appendUint(dst []byte, v uint64) []byte { return binary.AppendUvarint(dst, v) }
