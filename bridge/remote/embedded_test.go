package remote_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/bridge/yserve"
	"github.com/relayfs/relayfs/bridge/yserve/host"
)

// embeddedFolder is the id of the folder document of the embedded server.
const embeddedFolder = "0f1e2d3c-0000-4000-8000-000000000001"

// embedded is this project's own server, on a vault of the test.
type embedded struct {
	t     testing.TB
	vault string
	state string
	key   *token.Key // nil lets everybody in
	stop  func()
}

func (e *embedded) start(port string) (actual string) {
	e.t.Helper()
	st, err := store.Open(filepath.Join(e.state, "store.db"), store.Options{})
	noError(e.t, err)
	v, err := vault.New(e.vault, vault.Options{})
	noError(e.t, err)
	options := bridge.Options{Folders: []bridge.FolderSource{{Name: "Team", Source: v, Store: st}}}
	options.Mode = bridge.Direct
	ws, err := bridge.New(options)
	noError(e.t, err)
	noError(e.t, ws.Start(context.Background()))
	h, err := host.New(context.Background(), host.Options{Workspace: ws, Folders: map[string]string{"Team": embeddedFolder}, Blobs: filepath.Join(e.state, "blobs")})
	noError(e.t, err)
	o := yserve.Options{Host: h}
	if e.key != nil {
		o.Keys, o.Mint = token.Ring{e.key}, e.key
	}
	s := yserve.New(o)
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	noError(e.t, err)
	srv := &http.Server{Handler: s}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 3)
	go func() { ended <- ws.Run(ctx) }()
	go func() { ended <- h.Run(ctx) }()
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			ended <- err
			return
		}
		ended <- nil
	}()
	e.stop = func() {
		s.Close()
		err := srv.Close()
		cancel()
		if err := errors.Join(err, <-ended, <-ended, <-ended, v.Close(), st.Close()); err != nil {
			e.t.Error(err)
		}
	}
	_, actual, _ = strings.Cut(l.Addr().String(), ":")
	return actual
}
