package remote_test

import (
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
)

// A document can be opened again as soon as its link is closed, whether or not the link was served
// before: the server's answer to the close does not end the next link.
func TestReopenedAtOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"y-websocket", "hocuspocus"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := sharedServer(t, kind)
			address, err := transport.ParseAddress(s.address())
			noError(t, err)
			server := transport.New(address, s.folder, nil, nil, 1)
			defer server.Close()
			for n := range 50 {
				link, err := server.Open(t.Context(), "reopened")
				noError(t, err)
				if n%2 == 0 {
					link.Send(ysync.AppendStep1(nil, []byte{0}))
					awaitStep2(t, link)
				}
				link.Close()
			}
		})
	}
}

func awaitStep2(t *testing.T, link *transport.Link) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case f := <-link.Frames():
			if f.Type == ysync.Sync && f.Step == ysync.Step2 {
				return
			}
		case <-link.Done():
			t.Fatal(link.Err())
		case <-late:
			t.Fatal("no answer to step 1")
		}
	}
}
