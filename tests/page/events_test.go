package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// followed is what tests/review-api/follow.mjs prints after an event.
type followed struct {
	Data       string
	Everything bool
	Pending    []string // ids
}

// A program with an EventSource knows what is pending while an agent writes. It is told everything at first and by the
// next owner of the vault, and only what it missed by the next review page.
func TestEventsFollowedByAProgram(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(harness.Repo("tests/review-api/node_modules/eventsource")); err != nil {
		need.Missing(t, "tests/review-api is not installed: run npm ci there")
	}
	need.Programs(t, "node")
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for i := range 8 {
		files[fmt.Sprintf("Note %d.md", i)] = "some words\n"
	}
	m := s.Mount(t, s.Vault(t, "Vault", files), "--author", "claude")
	review := s.Command(context.Background(), "review", m.Vault)
	address := startPage(t, review)
	t.Cleanup(func() { // of a test that ends early, too
		_ = review.Process.Kill()
		_ = review.Wait()
	})
	a := newAPI(t, s)
	cmd := exec.Command("node", harness.Repo("tests/review-api/follow.mjs"), a.file)
	cmd.Stderr = os.Stderr
	_, out := harness.StartPiped(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := json.NewDecoder(out)
	everything := 0
	// pending waits until n suggestions are pending, and returns their ids.
	pending := func(n int) (ids []string) {
		t.Helper()
		harness.Eventually(t, harness.StartTimeout, func() error {
			ids = nil
			for _, x := range s.Suggestions(t) {
				ids = append(ids, x.ID)
			}
			if len(ids) != n {
				return fmt.Errorf("%d pending suggestions, want %d", len(ids), n)
			}
			return nil
		})
		slices.Sort(ids)
		return ids
	}
	// until reads events until the program knows that they are.
	until := func(n int) {
		t.Helper()
		want := pending(n)
		for {
			var now followed
			if err := lines.Decode(&now); err != nil {
				t.Fatal(err)
			}
			a.conforms("an event", "relayfs:api#/components/schemas/Change", now.Data)
			if now.Everything {
				everything++
			}
			if slices.Equal(now.Pending, want) {
				return
			}
		}
	}
	until(0)
	for round := range 5 {
		for name := range files {
			harness.WriteFile(t, m.Path(name), fmt.Sprintf("some words, %d\n", round))
		}
	}
	until(len(files))
	if everything != 1 {
		t.Errorf("told everything %d times, want once", everything)
	}

	m.Stop(t)
	m = s.MountAt(t, m.Vault, s.Mkdir(t, "again"))
	harness.WriteFile(t, m.VaultPath("Note 8.md"), "{++nine++}\n")
	until(len(files) + 1)
	if everything != 2 {
		t.Errorf("told everything %d times with the next owner, want twice", everything)
	}

	_ = review.Process.Signal(syscall.SIGTERM) // its streams are open
	if err := review.Wait(); err != nil {
		t.Errorf("relayfs review: %v", err)
	}
	harness.WriteFile(t, m.VaultPath("Note 8.md"), "nine\n")
	pending(len(files))
	if again := reviewPage(t, s, m.Vault); again != address {
		t.Errorf("the page is at %s, and was at %s", again, address)
	}
	until(len(files))
	if everything != 2 {
		t.Errorf("told everything %d times by the next page, want what was missed", everything)
	}
}

// What the page reads is what was sent, however it comes in pieces.
func TestPageParsesEvents(t *testing.T) {
	t.Parallel()
	need.Programs(t, "node")
	want := []string{`{"now":1,"paths":["Käse/a: b.md"]}`, strings.Repeat("語", 1000), "two\nlines", ""}
	var stream bytes.Buffer
	stream.WriteString("retry: 2000\n:\n\n\n")
	for i, data := range want {
		fmt.Fprintf(&stream, "id: %d\ndata: %s\n\n: a sign of life\n\n", i, strings.ReplaceAll(data, "\n", "\ndata: "))
	}
	stream.WriteString("data: an event that has not come to its end\n")
	for _, size := range []int{1, 2, 3, 7, 64, 1 << 20} {
		cmd := exec.CommandContext(t.Context(), "node", harness.Repo("tests/review-page/events.mjs"), fmt.Sprint(size), harness.Repo("cmd/relayfs/internal/page/events.js"))
		cmd.Stdin = bytes.NewReader(stream.Bytes())
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := json.Unmarshal(out, &got); err != nil || !slices.Equal(got, want) {
			t.Errorf("in pieces of %d: %q, %v; want %q", size, got, err, want)
		}
	}
}

// A stream needs the token. It comes compressed to who accepts that, each event as soon as it is there.
func TestEventsNeedTheTokenAndAreCompressed(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	reviewPage(t, s, s.Vault(t, "Vault", pageNotes))
	a := newAPI(t, s)
	open := func(token string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.base+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req) // accepts gzip, and unpacks it
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	if resp := open("wrong wrong wrong wrong"); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("with a wrong token: %s", resp.Status)
	}
	resp := open(a.token)
	text := make([]byte, len("retry: 2000\nid: "))
	if _, err := resp.Body.Read(text); err != nil || string(text) != "retry: 2000\nid: " {
		t.Errorf("it begins with %q, %v", text, err)
	}
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" || !resp.Uncompressed {
		t.Errorf("%q, compressed %v", got, resp.Uncompressed)
	}
}

// Of many tabs some are told what changes as it happens, others a moment later, and all can decide: a browser has only
// six connections to a server.
func TestReviewPageInManyTabs(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", pageNotes))
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 4 pending suggestions")
	const tabs = 7
	for i := range tabs {
		b.do(t, fmt.Sprintf("tab %d", i+1))
		b.do(t, "wait 4 pending suggestions")
	}
	b.do(t, "press y")
	b.do(t, "wait 1 suggestion accepted")
	for i := range tabs {
		b.do(t, fmt.Sprintf("tab %d", i+1))
		b.do(t, "wait 3 pending suggestions")
	}
	b.do(t, "tab 1")
	b.do(t, "press y") // what had the focus has gone: it goes to the next
	b.do(t, "press y")
	b.do(t, "wait 1 suggestion accepted")
	harness.WriteFile(t, m.Path("Zucchini.md"), "new\n")
	for i := range tabs {
		b.do(t, fmt.Sprintf("tab %d", i+1))
		b.do(t, "wait Zucchini")
		if p := b.do(t, "wait 3 pending suggestions"); p.Message != "" && !strings.Contains(p.Message, "accepted") {
			t.Errorf("tab %d says %q", i+1, p.Message)
		}
	}
}
