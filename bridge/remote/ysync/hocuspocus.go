package ysync

import "fmt"

// Every frame of Hocuspocus except Ping and Pong begins with the name of the document. A client must authenticate
// before it syncs. The bodies of sync and awareness frames are the same as those of y-websocket.

// The kinds of auth frames on Hocuspocus's wire.
const (
	wireToken            = 0
	wirePermissionDenied = 1
	wireAuthenticated    = 2
)

// DecodeHocuspocus decodes a frame of Hocuspocus 4. It ignores a version after a token, and any bytes after the frame.
// The error wraps [ErrMalformed] or [ErrUnknownType].
func DecodeHocuspocus(frame []byte) (Frame, error) {
	if len(frame) == 1 && (Type(frame[0]) == Ping || Type(frame[0]) == Pong) {
		return Frame{Type: Type(frame[0])}, nil
	}
	r := reader{buf: frame}
	var f Frame
	f.Document = r.text("document name")
	f.Type = Type(r.uint("type"))
	switch f.Type {
	case Sync, SyncReply, AwarenessState, QueryAwareness:
		f.readCommon(&r)
	case Auth:
		f.readAuth(&r)
	case Stateless, BroadcastStateless, Close:
		f.Text = r.text("text")
	case SyncStatus:
		f.Saved = r.uint("sync status") == 1
	default:
		r.failUnknown(uint64(f.Type))
	}
	if r.err != nil {
		return Frame{}, r.err
	}
	return f, nil
}

func (f *Frame) readAuth(r *reader) {
	switch kind := r.uint("auth kind"); kind {
	case wireToken:
		f.Auth = Token
		if len(r.buf) == 0 {
			return // this is a server's request for a token
		}
	case wirePermissionDenied:
		f.Auth = PermissionDenied
	case wireAuthenticated:
		f.Auth = Authenticated
	default:
		r.fail(fmt.Sprintf("auth kind %d", kind))
	}
	f.Text = r.text("auth text")
}

// AppendDocument appends the name of a document. It is the prefix that turns a frame of y-websocket into a frame of
// Hocuspocus.
func AppendDocument(dst []byte, name string) []byte { return appendBytes(dst, name) }

// AppendToken appends the body of the frame with which a client authenticates. version is the version of a Hocuspocus
// provider.
func AppendToken(dst []byte, token, version string) []byte {
	return appendBytes(appendBytes(append(dst, byte(Auth), wireToken), token), version)
}
