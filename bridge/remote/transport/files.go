package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/token"
)

const fileTimeout = 10 * time.Minute

// StoresFiles implements Files: relay-server and the servers of a control plane store files, y-sweet does not.
func (t *ysweet) StoresFiles() bool {
	return t.controlPlane != nil || t.guard.relay.Load() || !t.guard.served.Load()
}

func (t *ysweet) Download(ctx context.Context, name, hash, mimetype string, take func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, fileTimeout)
	defer cancel()
	tok, err := t.fileToken(ctx, name, hash, mimetype, 0)
	if err != nil {
		return err
	}
	where, err := t.fileURL(ctx, http.MethodGet, tok, hash, "download-url", "downloadUrl")
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return err
	}
	return t.transfer(req, take)
}

func (t *ysweet) Upload(ctx context.Context, name, hash, mimetype string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, fileTimeout)
	defer cancel()
	tok, err := t.fileToken(ctx, name, hash, mimetype, len(data))
	if err != nil {
		return err
	}
	where, err := t.fileURL(ctx, http.MethodPost, tok, hash, "upload-url", "uploadUrl")
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, where, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", mimetype)
	return t.transfer(req, func(io.Reader) error { return nil })
}

func (t *ysweet) transfer(req *http.Request, take func(io.Reader) error) error {
	resp, err := t.client.Do(req)
	if err != nil {
		return ConnectionError(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return t.fileError(statusError(resp), status(http.StatusBadRequest))
	}
	return take(resp.Body)
}

// fileError wraps err in ErrFileToken if err is one of the given errors and file tokens cannot be obtained.
func (t *ysweet) fileError(err error, some ...error) error {
	if t.asks() && slices.ContainsFunc(some, func(x error) bool { return errors.Is(err, x) }) {
		return fmt.Errorf("%w: %w", ErrFileToken, err)
	}
	return err
}

// fileURL requests the URL of the bytes. The URL may be on another server and contain credentials.
func (t *ysweet) fileURL(ctx context.Context, method string, tok token.ClientToken, hash, verb, field string) (string, error) {
	to := tok.BaseURL + "/" + verb + "?" + url.Values{"hash": {hash}}.Encode()
	data, err := t.do(ctx, method, to, tok.Token, nil)
	if err != nil {
		return "", t.fileError(err, ErrDenied, status(http.StatusBadRequest))
	}
	var answer map[string]string
	if err := json.Unmarshal(data, &answer); err != nil {
		return "", fmt.Errorf("%w: %v", ErrProtocol, err)
	}
	where, err := url.Parse(answer[field])
	if err != nil || where.Scheme != "http" && where.Scheme != "https" {
		return "", fmt.Errorf("%w: the answer to a URL request has no URL", ErrProtocol)
	}
	return where.String(), nil
}

// fileToken returns a token for the bytes. The token comes from the control plane, or is minted with a key. Without
// either, fileToken returns the server token. The server may accept or refuse it; no HTTP call exchanges it for a file
// token.
func (t *ysweet) fileToken(ctx context.Context, name, hash, mimetype string, size int) (token.ClientToken, error) {
	if t.controlPlane != nil {
		return t.controlPlane.File(ctx, name, hash, mimetype, size)
	}
	text, err := t.address.Token, error(nil)
	if t.key != nil {
		text, err = t.mint(token.Scope{Kind: token.File, ID: name, Hash: hash, Permission: token.Full})
	}
	return token.ClientToken{BaseURL: t.address.URL.JoinPath("f", name).String(), Token: text}, err
}
