package owner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// StreamProtocol is the Upgrade header under which a connection becomes a plain
// byte stream.
const StreamProtocol = "relayfs-stream"

// Listen opens this process's socket, reachable for the same user only, and
// returns its path.
func Listen() (net.Listener, string, error) {
	dir, err := socketDir()
	if err != nil {
		return nil, "", err
	}
	path := filepath.Join(dir, strconv.Itoa(os.Getpid())+".sock")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, "", err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, "", fmt.Errorf("owner's socket: %w", err)
	}
	return l, path, nil
}

// socketDir is short, because a socket's path may not exceed 107 bytes.
func socketDir() (string, error) {
	dir := filepath.Join(os.TempDir(), "relayfs-"+strconv.Itoa(os.Getuid()))
	if run := os.Getenv("XDG_RUNTIME_DIR"); run != "" && len(run) < 60 {
		dir = filepath.Join(run, "relayfs")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("owner's socket: %w", err)
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("owner's socket: %w", err)
	}
	if !st.IsDir() || st.Mode().Perm()&0o077 != 0 || !ownedByUs(st) {
		return "", fmt.Errorf("owner's socket: %q must be a folder of yours that nobody else can enter: remove it or set XDG_RUNTIME_DIR", dir)
	}
	return dir, nil
}

// Client talks to an owner.
type Client struct {
	info Info
	http http.Client
}

// NewClient returns a client of the owner that info describes.
func NewClient(info Info) *Client {
	c := &Client{info: info}
	c.http.Transport = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, info) },
	}
	return c
}

// Info is what the owner said about itself.
func (c *Client) Info() Info { return c.info }

func dial(ctx context.Context, info Info) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", info.Socket)
}

// Answers says whether something accepts connections at info's socket.
func Answers(info Info) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := dial(ctx, info)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// Get asks the owner for path and decodes its JSON answer into v.
func (c *Client) Get(ctx context.Context, path string, query url.Values, v any) error {
	return c.do(ctx, http.MethodGet, path, query, nil, v)
}

// Post sends body to path as JSON and decodes the JSON answer into v.
func (c *Client) Post(ctx context.Context, path string, body, v any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, path, nil, data, v)
}

func (c *Client) do(ctx context.Context, method, path string, query url.Values, body []byte, v any) error {
	u := url.URL{Scheme: "http", Host: "relayfs", Path: path, RawQuery: query.Encode()}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%v does not answer: %w", c.info, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		return fmt.Errorf("%v: %s", c.info, bytes.TrimSpace(text))
	}
	return json.NewDecoder(resp.Body).Decode(v)
}

// Stream turns a connection to path into a byte stream.
func (c *Client) Stream(ctx context.Context, path string, query url.Values) (io.ReadWriteCloser, error) {
	conn, err := dial(ctx, c.info)
	if err != nil {
		return nil, fmt.Errorf("%v does not answer: %w", c.info, err)
	}
	u := url.URL{Scheme: "http", Host: "relayfs", Path: path, RawQuery: query.Encode()}
	req, err := http.NewRequest(http.MethodGet, u.String(), nil)
	if err != nil {
		conn.Close()
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", StreamProtocol)
	r := bufio.NewReader(conn)
	if err := upgrade(conn, r, req); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%v: %w", c.info, err)
	}
	return &stream{conn, r}, nil
}

func upgrade(conn net.Conn, r *bufio.Reader, req *http.Request) error {
	if err := req.Write(conn); err != nil {
		return err
	}
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("no stream: %s", resp.Status)
	}
	return nil
}

// stream is a connection whose first bytes may already be in a buffer.
type stream struct {
	net.Conn
	r *bufio.Reader
}

func (s *stream) Read(p []byte) (int, error) { return s.r.Read(p) }

// CloseWrite tells the other side that no more will come.
func (s *stream) CloseWrite() error {
	if u, ok := s.Conn.(*net.UnixConn); ok {
		return u.CloseWrite()
	}
	return nil
}

// CloseRead ends what is read here: the other side's messages that have not
// been read are lost.
func (s *stream) CloseRead() error {
	if u, ok := s.Conn.(*net.UnixConn); ok {
		return u.CloseRead()
	}
	return nil
}

// AcceptStream is the owner's side of Stream: it takes the connection over from
// the HTTP server.
func AcceptStream(w http.ResponseWriter, r *http.Request) (io.ReadWriteCloser, error) {
	if r.Header.Get("Upgrade") != StreamProtocol {
		http.Error(w, "this path wants Upgrade: "+StreamProtocol, http.StatusUpgradeRequired)
		return nil, fmt.Errorf("no %s upgrade asked for", StreamProtocol)
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", StreamProtocol)
	if err := rw.Flush(); err != nil {
		conn.Close()
		return nil, err
	}
	return &stream{conn, rw.Reader}, nil
}
