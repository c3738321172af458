package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/listing"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

type Finding struct {
	Entries  int      // number of notes, folders and other files in the folder
	ReadOnly bool     // whether the server accepts no changes
	Warnings error    // disadvantages for other clients; see transport.Server
	Withheld []string // paths of the attachments that the server withholds
	Reason   error    // reason why the server withholds them
}

// Probe connects to the server once and reads the folder's document. It stores nothing, and creates no document on a
// y-sweet or relay-server.
func Probe(ctx context.Context, o Options) (f Finding, err error) {
	ctx, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	server := transport.New(o.Address, o.Folder, o.Key, o.Tokens, 1)
	defer server.Close()
	l, full, err := examine(ctx, server, o.Folder)
	f.Warnings = server.Warnings()
	switch {
	case errors.Is(err, transport.ErrNoDocument):
		return f, fmt.Errorf("%w as %q", transport.ErrNoFolder, o.Folder)
	case err != nil:
		return f, err
	}
	defer l.Close()
	f.ReadOnly = !full
	entries, err := entriesOf(ctx, l)
	f.Entries = len(entries)
	if files, ok := server.(transport.Files); ok && err == nil {
		f.Withheld, f.Reason = withheld(ctx, files, o.Folder, entries)
	}
	return f, err
}

// examine opens a document. If the server can open a document without creating it, examine does not create it.
func examine(ctx context.Context, server transport.Server, name string) (l *transport.Link, full bool, err error) {
	if e, ok := server.(transport.Examiner); ok {
		return e.Examine(ctx, name)
	}
	l, err = server.Open(ctx, name)
	return l, err == nil && !l.ReadOnly(), err
}

// withheld requests the first attachment. If there is no file token for it (ErrFileToken), withheld returns the paths
// of all attachments, and the reason.
func withheld(ctx context.Context, server transport.Files, folder string, entries []folderdoc.Entry) (paths []string, reason error) {
	entries = slices.DeleteFunc(entries, func(e folderdoc.Entry) bool { return !listing.IsAttachment(e) })
	if len(entries) == 0 {
		return nil, nil
	}
	e := entries[0]
	reason = server.Download(ctx, transport.DocumentName(folder, e.ID), e.Hash, e.Mimetype, func(io.Reader) error { return nil })
	if !errors.Is(reason, transport.ErrFileToken) {
		return nil, nil
	}
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	return paths, reason
}

func entriesOf(ctx context.Context, l *transport.Link) ([]folderdoc.Entry, error) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	l.Send(ysync.AppendStep1(nil, doc.EncodeStateVector()))
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: no answer within %v", transport.ErrProtocol, firstContact.Round(time.Second))
		case <-l.Done():
			return nil, l.Err()
		case f := <-l.Frames():
			if f.Type != ysync.Sync && f.Type != ysync.SyncReply || f.Step != ysync.Step2 {
				continue
			}
			if err := doc.ApplyUpdate(f.Payload); err != nil {
				return nil, fmt.Errorf("%w: %v", transport.ErrProtocol, err)
			}
			return folderdoc.Open(doc).List(), nil
		}
	}
}
