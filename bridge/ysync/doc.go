// Package ysync speaks the protocols by which Yjs peers keep documents and
// presence in step: the sync and awareness protocols of y-protocols, in the
// frames of y-websocket (and everything that follows it, such as y-sweet) and
// in those of Hocuspocus. It moves bytes in memory; connections are the
// caller's.
//
// # The nouns
//
// A frame is one binary WebSocket message. It has a type: Sync, Awareness, Auth
// or QueryAwareness. In Hocuspocus's framing the name of a document stands in
// front, because one connection carries many, and there are more types.
// relay-server's framing has more types as well, by which a client follows all
// documents of a folder over one connection, and y-sweet's has an Echo, by which
// a client learns that the server has applied what it sent.
//
// A sync frame is a step 1 ("this is what I have": a state vector), a step 2
// ("this is what you lack": an update) or an update ("this has just changed").
// Each side sends a step 1 when the connection opens and answers the other's
// with a step 2; it is in sync when the first step 2 has arrived.
//
// Awareness is what peers tell each other about themselves, such as a name and
// a cursor: one JSON value per client that is not stored and vanishes with the
// client. See [Awareness].
//
// # Use
//
//	send(ysync.AppendStep1(nil, doc.EncodeStateVector()))
//	for frame := range received {
//		f, err := ysync.Decode(frame)
//		if errors.Is(err, ysync.ErrUnknownType) {
//			continue
//		}
//		if err != nil {
//			return err
//		}
//		if f.Type == ysync.Sync {
//			reply, err := f.Apply(doc, origin)
//			if err != nil {
//				return err
//			}
//			if reply != nil {
//				send(reply)
//			}
//		}
//	}
//
// # Hostile input
//
// Every decoder checks its whole input before it returns, allocates no more
// than a small multiple of its length, and reports errors that wrap
// [ErrMalformed], or [ErrUnknownType] for a frame that peers should ignore.
package ysync
