package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/relayfs/relayfs/bridge/token"
)

// fileTimeout bounds how long the bytes of one attachment may be on their way.
const fileTimeout = 10 * time.Minute

// Download fetches the bytes with a hash of the attachment name.
func (t *ysweet) Download(ctx context.Context, name, hash string, take func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, fileTimeout)
	defer cancel()
	where, err := t.fileURL(ctx, http.MethodGet, name, hash, "download-url", "downloadUrl")
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return err
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return dialError(nil, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return statusError(resp)
	}
	return take(resp.Body)
}

// Upload brings the bytes with a hash of the attachment name to the server.
func (t *ysweet) Upload(ctx context.Context, name, hash, mimetype string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, fileTimeout)
	defer cancel()
	where, err := t.fileURL(ctx, http.MethodPost, name, hash, "upload-url", "uploadUrl")
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, where, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", mimetype)
	resp, err := t.client.Do(req)
	if err != nil {
		return dialError(nil, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return statusError(resp)
	}
	return nil
}

// fileURL asks where the bytes are, or are to go. The address holds what is
// needed there: it may be that of another server.
func (t *ysweet) fileURL(ctx context.Context, method, name, hash, verb, field string) (string, error) {
	bearer, err := t.fileToken(name, hash)
	if err != nil {
		return "", err
	}
	u := t.address.URL.JoinPath("f", name, verb)
	u.RawQuery = url.Values{"hash": {hash}}.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return "", err
	}
	data, err := t.do(req, bearer)
	if err != nil {
		return "", err
	}
	var answer map[string]string
	if err := json.Unmarshal(data, &answer); err != nil {
		return "", fmt.Errorf("%w: %v", ErrProtocol, err)
	}
	where, err := url.Parse(answer[field])
	if err != nil || where.Scheme != "http" && where.Scheme != "https" {
		return "", fmt.Errorf("%w: it answers a request for an address without one", ErrProtocol)
	}
	return where.String(), nil
}

// fileToken is a token for the bytes: made with the key if there is one. The
// server has no call that makes one for a server token, and takes that itself or
// refuses.
func (t *ysweet) fileToken(name, hash string) (string, error) {
	if t.key == nil {
		return t.address.Token, nil
	}
	return t.key.Mint(token.Claims{
		Scope:    token.Scope{Kind: token.File, ID: name, Hash: hash, Permission: token.Full},
		Expires:  time.Now().Add(tokenLife),
		Audience: t.address.URL.String(), Channel: t.folder, Issuer: "relay-server", Issued: time.Now(),
	})
}
