package ports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/inflight"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/yserve"
	"github.com/relayfs/relayfs/bridge/yserve/host"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/listen"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

const (
	// keyName is the file in the state folder that holds the key of the tokens.
	keyName = "relay-key"
	// blobsName is the folder there that holds what clients upload.
	blobsName = "relay-uploads"
)

// Yjs says whether and how Yjs clients are let in.
type Yjs struct {
	Addr, KeyFile, URL, Relay string
	NoToken                   bool
	Limits                    []string // NAME=N
}

// Check refuses flags that would let other machines in without a token.
func (f *Yjs) Check() error {
	if _, _, err := parseLimits(f.Limits); err != nil {
		return err
	}
	if f.Addr == "" {
		if f.KeyFile != "" || f.URL != "" || f.Relay != "" || f.NoToken || len(f.Limits) > 0 {
			return clierr.Usagef("--key-file, --url, --relay, --limit and --no-token need --listen")
		}
		return nil
	}
	loopback, err := listen.Loopback("--listen", f.Addr)
	if err != nil {
		return err
	}
	switch {
	case f.NoToken && f.KeyFile != "":
		return clierr.Usagef("--no-token and --key-file exclude each other")
	case f.NoToken && !loopback:
		return clierr.Usagef("--listen %s can be reached from other machines: leave --no-token out", f.Addr)
	case f.Relay != "" && !token.ValidID(f.Relay):
		return clierr.Usagef("--relay %q is not an id: it has letters, digits, - and _ only", f.Relay)
	case f.URL != "" && !validURL(f.URL):
		return clierr.Usagef("--url %q is neither http:// nor https://", f.URL)
	}
	return nil
}

// file is that of the key.
func (f *Yjs) file(base string) (string, error) {
	return filepath.Abs(cmp.Or(f.KeyFile, filepath.Join(base, keyName)))
}

// CheckFile says why the key cannot be had. It makes none.
func (f *Yjs) CheckFile(base string) error {
	if f.Addr == "" || f.NoToken {
		return nil
	}
	return checkFile(f.file, base, func(file string) error {
		_, _, err := loadKey(file)
		return err
	})
}

// CheckSources refuses to serve only folders of servers, because Yjs clients can connect to those.
func (f *Yjs) CheckSources(sources []source.Source) error {
	if f.Addr != "" && !slices.ContainsFunc(sources, func(s source.Source) bool { return s.Server == nil }) {
		return clierr.Usagef("--listen offers vaults, and every SOURCE is on a server: let Yjs clients connect to that server")
	}
	return nil
}

func validURL(text string) bool {
	c, err := token.ParseConnection(text)
	return err == nil && c.Token == "" && strings.HasPrefix(text, "http")
}

// Budget bounds what clients of --listen and --http send at a time.
var Budget = inflight.New(inflight.Default)

// YjsServer serves Yjs clients.
type YjsServer struct {
	listener *guestListener
	Host     *host.Host
	server   *yserve.Server
	Info     owner.Yjs
	keyText  string // as it was read
	log      *slog.Logger
}

// Listen opens the port. It returns nil if there is none to open. The workspace has been started.
func (f *Yjs) Listen(ctx context.Context, ws *bridge.Workspace, base string, log *slog.Logger) (*YjsServer, error) {
	if f.Addr == "" {
		return nil, nil
	}
	limits, budget, err := parseLimits(f.Limits)
	if err != nil {
		return nil, err
	}
	Budget.Resize(budget)
	o := yserve.Options{URL: f.URL, Relay: f.Relay, Logger: log, Known: welcome, Inflight: Budget, Limits: limits}
	y := &YjsServer{log: log}
	if !f.NoToken {
		if y.Info.KeyFile, err = f.file(base); err != nil {
			return nil, err
		}
		key, text, err := loadKey(y.Info.KeyFile)
		if err != nil {
			return nil, err
		}
		o.Keys, o.Mint, y.keyText = token.Ring{key}, key, text
	}
	if y.listener, err = listenGuests("--listen", f.Addr); err != nil {
		return nil, err
	}
	if y.Host, err = host.New(ctx, host.Options{Workspace: ws, Blobs: filepath.Join(base, blobsName), Logger: log}); err != nil {
		y.listener.Close()
		return nil, err
	}
	for _, folder := range ws.Options().Folders {
		if _, ok := y.Host.Named(folder.Name); !ok {
			log.Warn("folder is not offered by --listen: its own server does that", model.LogFolder, folder.Name)
		}
	}
	o.Host = y.Host
	y.server = yserve.New(o)
	y.Info.URL, y.Info.Audience = "ys://"+y.listener.Addr().String(), f.URL
	y.Info.Folders = make(map[string]string)
	for _, folder := range y.Host.Folders() {
		y.Info.Folders[folder.Name] = folder.ID
	}
	return y, nil
}

// Connections is the number of open connections.
func (y *YjsServer) Connections() int { return len(y.listener.places) }

// loadKey reads the key. It creates the file if that is missing.
func loadKey(file string) (key *token.Key, text string, err error) {
	text, err = secret.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		if key, err = token.GenerateKey("", token.HMAC); err != nil {
			return nil, "", err
		}
		text, err = secret.Make(file, key.Secret())
	}
	if err != nil {
		return nil, "", err
	}
	key, err = parseKey(file, text)
	return key, strings.TrimSpace(text), err
}

func parseKey(file, text string) (*token.Key, error) {
	key, err := token.ParsePrivateKey("", text)
	if err != nil {
		return nil, clierr.WithHint(fmt.Errorf("key file %q: %w", file, err), "remove it, and relayfs makes a new one; tokens of the old one are void then")
	}
	return key, nil
}

// Announce prints the address, and never the key.
func (y *YjsServer) Announce(w io.Writer) {
	if y.Info.KeyFile == "" {
		fmt.Fprintf(w, "serving Yjs clients at %s, without tokens\n", y.Info.URL)
		return
	}
	fmt.Fprintf(w, "serving Yjs clients at %s, key in %s\n", y.Info.URL, y.Info.KeyFile)
}

// Serve answers until ctx ends, and then ends the connections.
func (y *YjsServer) Serve(ctx context.Context) error {
	if y.Info.KeyFile != "" {
		go y.followKey(ctx)
	}
	if _, err := serveGuests(ctx, y.listener, listen.NewServer(y.server)); err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	y.server.Close()
	return nil
}

const keyLook = time.Second

// followKey reads the key file until ctx ends. A new key, or a removed file, revokes all tokens so far.
func (y *YjsServer) followKey(ctx context.Context) {
	known, told := y.keyText, ""
	tick := time.NewTicker(keyLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		key, text, err := loadKey(y.Info.KeyFile)
		switch {
		case err != nil && err.Error() != told:
			told = err.Error()
			y.log.Warn("the key of the tokens stays as it is", model.LogErr, err)
		case err == nil && text != known:
			known, told = text, ""
			y.log.Warn("new key: all tokens so far are revoked", "file", y.Info.KeyFile)
			y.server.SetKeys(token.Ring{key}, key)
		}
	}
}

// ConnectionString returns what a backend connects with. It holds a server token.
func ConnectionString(y *owner.Yjs) (string, error) {
	c, err := token.ParseConnection(y.URL)
	if err != nil || y.KeyFile == "" {
		return y.URL, err
	}
	text, err := secret.Read(y.KeyFile)
	if err != nil {
		return "", err
	}
	key, err := parseKey(y.KeyFile, text)
	if err != nil {
		return "", err
	}
	if y.Audience != "" {
		if c, err = token.ParseConnection(y.Audience); err != nil {
			return "", err
		}
	}
	c.Token, err = key.Mint(token.Claims{Scope: token.Scope{Kind: token.Server}, Audience: y.Audience})
	return c.String(), err
}
