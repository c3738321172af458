package owner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Listen opens this process's socket, accessible only by the same user, and returns its path.
func Listen() (net.Listener, string, error) {
	dir, err := socketDir()
	if err != nil {
		return nil, "", err
	}
	sweepSockets(dir)
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

// All returns all running owners of this user, whatever their state folders are. For an owner that does not respond,
// the Info has only the process ID and the socket.
func All(ctx context.Context) []Info {
	dir, err := socketDir()
	if err != nil {
		return nil
	}
	var all []Info
	for path, pid := range sockets(dir) {
		info := Info{PID: pid, Socket: path}
		var ended *EndedError
		if err := NewClient(info).Get(ctx, InfoPath, nil, &info); !errors.As(err, &ended) {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b Info) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.PID, b.PID)) })
	return all
}

func sockets(dir string) map[string]int {
	found := make(map[string]int)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name, isSocket := strings.CutSuffix(e.Name(), ".sock")
		if pid, err := strconv.Atoi(name); isSocket && err == nil {
			found[filepath.Join(dir, e.Name())] = pid
		}
	}
	return found
}

func sweepSockets(dir string) {
	for path, pid := range sockets(dir) {
		// If the folder is shared with another container, a process ID may belong to the other container.
		if Ended(pid) && !IsReachable(Info{Socket: path}) {
			os.Remove(path)
		}
	}
}

// socketDir returns the folder of the sockets, and creates it if necessary. Its path is absolute, because other processes
// use it, and short, because the path of a socket is limited to 107 bytes.
func socketDir() (string, error) {
	fits := func(dir string) bool { return filepath.IsAbs(dir) && len(dir) <= 70 }
	own := "relayfs-" + strconv.Itoa(os.Getuid())
	dir := filepath.Join("/tmp", own)
	if run := os.Getenv("XDG_RUNTIME_DIR"); fits(run) {
		dir = filepath.Join(run, "relayfs")
	} else if fits(os.TempDir()) {
		dir = filepath.Join(os.TempDir(), own)
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

// SourceParam is the query parameter that limits a client to some sources. It is repeated for each source, with the
// Name of the source's LockRequest. Without it a client reaches all sources.
const SourceParam = "source"

// AgentParam is the query parameter of a client that an agent has started. The owner serves such a client only the
// files that agents may reach.
const AgentParam = "agent"

type Client struct {
	// If Agent is set, every request except that of Alive has AgentParam. Set it before use.
	Agent bool
	// Next finds the owner that replaces an owner that has ended. It returns nil if there is none yet. Without Next the
	// client ends with its owner. Set it before use.
	Next func() (*Info, error)
	// Waits, if set, is called with the time so far, every two seconds while the owner works on a response, and with 0
	// at the end.
	Waits func(time.Duration)

	sources []string
	http    http.Client

	mu   sync.Mutex // guards the fields below
	info Info
}

// NewClient returns a client of an owner, limited to the named sources if there are any.
func NewClient(info Info, sources ...string) *Client {
	c := &Client{info: info, sources: sources}
	c.http.Transport = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dial(ctx) },
	}
	return c
}

// NewClientOf returns a client of a process that is reached through dial. info describes the process.
func NewClientOf(info Info, dial func(context.Context) (net.Conn, error)) *Client {
	c := &Client{info: info}
	c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
	return c
}

func (c *Client) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	info := c.Info()
	conn, err := dial(ctx, info)
	if err == nil || c.Next == nil || ctx.Err() != nil {
		return conn, err
	}
	next, nextErr := c.Next()
	if nextErr != nil || next == nil || next.Socket == info.Socket {
		return nil, errors.Join(err, nextErr)
	}
	if conn, err = dial(ctx, *next); err == nil {
		c.mu.Lock()
		c.info = *next
		c.mu.Unlock()
	}
	return conn, err
}

func (c *Client) address(path string, query url.Values) string {
	all := url.Values{SourceParam: c.sources}
	if c.Agent {
		all.Set(AgentParam, "1")
	}
	maps.Copy(all, query)
	return (&url.URL{Scheme: "http", Host: "relayfs", Path: path, RawQuery: all.Encode()}).String()
}

func dial(ctx context.Context, info Info) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", info.Socket)
}

// IsReachable reports whether a process accepts connections at info's socket.
func IsReachable(info Info) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := dial(ctx, info)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func (c *Client) Get(ctx context.Context, path string, query url.Values, v any) error {
	return c.do(ctx, http.MethodGet, path, query, nil, v)
}

func (c *Client) Post(ctx context.Context, path string, body, v any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, path, nil, data, v)
}

type EndedError struct {
	Owner Info
	Sent  bool // the request may have reached the owner
}

func (e *EndedError) Error() string { return fmt.Sprintf("%v has ended; start it again", e.Owner) }

func (c *Client) do(ctx context.Context, method, path string, query url.Values, body []byte, v any) error {
	header := make(http.Header)
	if body != nil {
		header.Set("Content-Type", "application/json")
	}
	return c.Do(ctx, method, path, query, header, body, func(resp *http.Response) error { return json.NewDecoder(resp.Body).Decode(v) })
}

func (c *Client) Do(ctx context.Context, method, path string, query url.Values, header http.Header, body []byte, take func(*http.Response) error) error {
	return c.Attend(ctx, func(ctx context.Context) error {
		resp, err := c.send(ctx, method, path, query, header, body)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return take(resp)
	})
}

func (c *Client) send(ctx context.Context, method, path string, query url.Values, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.address(path, query), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unanswered(err)
	}
	if wanted := header.Get("Upgrade") != ""; wanted && resp.StatusCode != http.StatusSwitchingProtocols || !wanted && resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, c.refusal(resp)
	}
	return resp, nil
}

// exitTimeout is the maximum time in which a killed process closes its socket.
const exitTimeout = time.Second

func (c *Client) unanswered(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		return &EndedError{Owner: c.Info()}
	}
	ended := false
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) {
		// A process that exits may close this connection before its listening socket.
		for start := time.Now(); !ended && time.Since(start) < exitTimeout; time.Sleep(exitTimeout / 20) {
			ended = !IsReachable(c.Info())
		}
	}
	if ended {
		return &EndedError{Owner: c.Info(), Sent: true}
	}
	if c.Info().PID == 0 {
		return err
	}
	return fmt.Errorf("%v does not answer: %w", c.Info(), err)
}

type RefusedError struct {
	Owner  Info
	Status int // HTTP status
	Text   string
	Hint   string // the fix, "" if unknown
}

func (e *RefusedError) Error() string {
	if e.Owner.PID == 0 { // the owner is this process
		return e.Text
	}
	return fmt.Sprintf("%v: %s", e.Owner, e.Text)
}

func (c *Client) refusal(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
	return &RefusedError{c.Info(), resp.StatusCode, string(bytes.TrimSpace(text)), resp.Header.Get("Hint")}
}

// Stream is a connection that carries messages in both directions.
type Stream interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// Open returns a connection on which the owner serves protocol.
func (c *Client) Open(ctx context.Context, path string, query url.Values, protocol string) (s Stream, err error) {
	err = c.Attend(ctx, func(ctx context.Context) error {
		resp, err := c.send(ctx, http.MethodGet, path, query, http.Header{"Connection": {"Upgrade"}, "Upgrade": {protocol}}, nil)
		if err == nil {
			s = resp.Body.(Stream) // net/http guarantees this for a response with this status
		}
		return err
	})
	return s, err
}
