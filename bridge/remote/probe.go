package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// Finding is what Probe learnt of a server.
type Finding struct {
	Entries  int  // notes, folders and other files of the folder
	ReadOnly bool // the server takes no changes
}

// Probe connects to the server of o once and reads the folder's document, without
// keeping anything.
func Probe(ctx context.Context, o Options) (Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	t := newTransport(o)
	defer t.close()
	l, err := t.open(ctx, o.Folder)
	if errors.Is(err, errNoDocument) {
		err = fmt.Errorf("%w as %q", ErrNoFolder, o.Folder)
	}
	if err != nil {
		return Finding{}, err
	}
	defer l.close()
	doc := ycrdt.NewDoc(ycrdt.Options{})
	l.send(ysync.AppendStep1(nil, doc.EncodeStateVector()))
	for {
		select {
		case <-ctx.Done():
			return Finding{}, fmt.Errorf("%w: no answer within %v", ErrProtocol, firstContact.Round(time.Second))
		case <-l.done():
			return Finding{}, l.err()
		case f := <-l.frames():
			if f.Type != ysync.Sync && f.Type != ysync.SyncReply || f.Step != ysync.Step2 {
				continue
			}
			if err := doc.ApplyUpdate(f.Payload, nil); err != nil {
				return Finding{}, fmt.Errorf("%w: %v", ErrProtocol, err)
			}
			return Finding{Entries: len(folderdoc.Open(doc).List()), ReadOnly: l.readOnly()}, nil
		}
	}
}
