package page

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// browser is the review page, open.
type browser struct {
	conn  net.Conn
	shown *json.Decoder
}

// theChromium starts the Chromium of all tests, and returns the socket on which tests/review-page/open.mjs drives it.
var theChromium = sync.OnceValues(func() (string, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "relayfs-browser-")
	if err != nil {
		return "", err
	}
	harness.AtEnd(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "socket")
	cmd := exec.Command("node", harness.Repo("tests/review-page/open.mjs"), socket, path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	harness.AtEnd(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			fmt.Fprintln(os.Stderr, "the browser:", err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return "", fmt.Errorf("the browser is not ready: %w: %s", err, line)
	}
	return socket, nil
})

// windows bounds the windows that are open at the same time. Drawing a page takes a processor, and more windows than
// processors starve each other.
var windows = make(chan struct{}, runtime.GOMAXPROCS(0))

// openPage opens a review page in a window of its own, which shares nothing with those of other tests.
func openPage(t *testing.T, address string) *browser {
	t.Helper()
	windows <- struct{}{}
	t.Cleanup(func() { <-windows })
	conn := dialBrowser(t)
	t.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintln(conn, address); err != nil {
		t.Fatal(err)
	}
	return &browser{conn, json.NewDecoder(conn)}
}

func dialBrowser(t *testing.T) net.Conn {
	t.Helper()
	requireBrowser(t)
	socket, err := theChromium()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// requireBrowser skips where no page can be opened.
func requireBrowser(t *testing.T) {
	t.Helper()
	need.Programs(t, "node", "chromium")
	if _, err := os.Stat(harness.Repo("tests/review-page/node_modules/playwright-core")); err != nil {
		need.Missing(t, "tests/review-page is not installed: run npm ci there")
	}
}

// do carries out a line of open.mjs's language.
func (b *browser) do(t *testing.T, line string) shownPage {
	t.Helper()
	if _, err := fmt.Fprintln(b.conn, line); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	var p shownPage
	if err := b.shown.Decode(&p); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if p.Failed != "" {
		t.Fatalf("%s: %s", line, p.Failed)
	}
	if len(p.Errors) > 0 {
		t.Fatalf("%s: the page's scripts failed, or it did what it may not: %q", line, p.Errors)
	}
	return p
}
