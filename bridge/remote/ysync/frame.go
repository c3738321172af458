package ysync

import (
	"encoding/binary"
	"fmt"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

type Type uint64

const (
	Sync           Type = 0
	AwarenessState Type = 1
	Auth           Type = 2
	QueryAwareness Type = 3 // requests all awareness states

	// Only Hocuspocus has the types below.

	SyncReply          Type = 4 // like Sync, but the receiver sends no step 1 in return
	Stateless          Type = 5 // message of an application
	BroadcastStateless Type = 6 // only between servers
	Close              Type = 7 // the server has closed the document; Text has the reason
	SyncStatus         Type = 8 // whether the server saved the last change
	Ping               Type = 9
	Pong               Type = 10
)

// The types below are those of y-sweet and relay-server. Only Echo has the same value on the wire. On the wire, Event
// to Subdocs are 4 to 8, like types of Hocuspocus.
const (
	Echo         Type = wireEcho                 // the server returns the Payload unchanged
	Event        Type = 0x100 | wireEvent        // Payload is a CBOR map
	Subscribe    Type = 0x100 | wireSubscribe    // Names are types of events
	QuerySubdocs Type = 0x100 | wireQuerySubdocs // Names are documents
	Subdocs      Type = 0x100 | wireSubdocs      // Payload is a CBOR map of snapshots
)

type Step uint64

const (
	Step1  Step = 0 // Payload is a state vector
	Step2  Step = 1 // Payload is an update, the answer to a step 1
	Update Step = 2 // Payload is an update with a recent change
)

type Frame struct {
	Type Type
	// Document is the name of the document in a frame of Hocuspocus.
	Document string
	Step     Step // only set in a sync frame
	// Payload is the state vector or update of a sync frame, the awareness update, or the payload of an Echo, Event or
	// Subdocs. It shares memory with the input.
	Payload []byte
	// Names are the documents or types of events that a frame lists.
	Names []string
	Auth  AuthKind // only set in an auth frame
	// Text is the reason, scope or token of an auth frame, or the text of another frame.
	Text  string
	Saved bool // whether a SyncStatus reports success
}

// An AuthKind is the kind of an auth frame. The two framings encode it differently.
type AuthKind int

const (
	PermissionDenied AuthKind = iota + 1
	Authenticated             // Text is "read-write" or "readonly" for Hocuspocus, otherwise empty
	Token                     // Hocuspocus only; sent by a client, or requested by a server
)

// Decode decodes a frame of y-websocket, y-sweet or relay-server. It ignores bytes after
// the frame. The error wraps [ErrMalformed] or [ErrUnknownType].
func Decode(frame []byte) (Frame, error) {
	r := reader{buf: frame}
	wire := r.uint("type")
	f := Frame{Type: Type(wire)}
	switch f.Type {
	case Sync, AwarenessState, QueryAwareness:
		f.readCommon(&r)
	case Auth:
		f.readPermission(&r)
	default:
		f.readRelay(&r, wire)
	}
	if r.err != nil {
		return Frame{}, r.err
	}
	return f, nil
}

// readPermission reads the rest of an auth frame. y-protocols only has refusals. yrs, the library of y-sweet and
// relay-server, also writes grants.
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

// readCommon reads the rest of a frame if it has the same form for y-websocket and Hocuspocus.
func (f *Frame) readCommon(r *reader) {
	switch f.Type {
	case Sync, SyncReply:
		f.Step = Step(r.uint("sync step"))
		if f.Step > Update {
			r.fail(fmt.Sprintf("sync step %d", f.Step))
		}
		f.Payload = r.bytes("sync payload")
	case AwarenessState:
		f.Payload = r.bytes("awareness update")
	}
}

func AppendStep1(dst, stateVector []byte) []byte { return appendSync(dst, Step1, stateVector) }

func AppendStep2(dst, update []byte) []byte { return appendSync(dst, Step2, update) }

func AppendUpdate(dst, update []byte) []byte { return appendSync(dst, Update, update) }

func appendSync(dst []byte, step Step, payload []byte) []byte {
	return appendBytes(append(dst, byte(Sync), byte(step)), payload)
}

func AppendAwareness(dst, update []byte) []byte {
	return appendBytes(append(dst, byte(AwarenessState)), update)
}

// EncodeAwareness returns an awareness update with the state of one client, as JSON. A peer ignores the update unless
// clock is greater than the clock of the client's last state.
func EncodeAwareness(client ycrdt.ClientID, clock uint64, state []byte) []byte {
	const clients = 1
	update := binary.AppendUvarint(binary.AppendUvarint([]byte{clients}, uint64(client)), clock)
	return appendBytes(update, state)
}
