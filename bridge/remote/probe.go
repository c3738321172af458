package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// Finding is the result of Probe.
type Finding struct {
	Entries  int  // notes, folders and other files of the folder
	ReadOnly bool // the server takes no changes
}

// Probe connects to the server once and reads the folder's document. It stores nothing.
func Probe(ctx context.Context, o Options) (Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	server := transport.New(o.Address, o.Folder, o.Key, 1)
	defer server.Close()
	l, err := server.Open(ctx, o.Folder)
	if errors.Is(err, transport.ErrNoDocument) {
		err = fmt.Errorf("%w as %q", transport.ErrNoFolder, o.Folder)
	}
	if err != nil {
		return Finding{}, err
	}
	defer l.Close()
	doc := ycrdt.NewDoc(ycrdt.Options{})
	l.Send(ysync.AppendStep1(nil, doc.EncodeStateVector()))
	for {
		select {
		case <-ctx.Done():
			return Finding{}, fmt.Errorf("%w: no answer within %v", transport.ErrProtocol, firstContact.Round(time.Second))
		case <-l.Done():
			return Finding{}, l.Err()
		case f := <-l.Frames():
			if f.Type != ysync.Sync && f.Type != ysync.SyncReply || f.Step != ysync.Step2 {
				continue
			}
			if err := doc.ApplyUpdate(f.Payload, nil); err != nil {
				return Finding{}, fmt.Errorf("%w: %v", transport.ErrProtocol, err)
			}
			return Finding{Entries: len(folderdoc.Open(doc).List()), ReadOnly: l.ReadOnly()}, nil
		}
	}
}
