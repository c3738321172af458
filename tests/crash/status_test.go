package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// report is a part of what 'relayfs status --json' prints.
type report struct {
	Owner struct {
		HTTP struct{ URL string }
	}
	Folders []struct {
		Problems []struct {
			About, Text string
			Since       time.Time
		}
	}
}

// While the state folder takes no writes, the status says so, since when and what to do, and the
// ports are not ready; as soon as it does, all of that is over, whether or not somebody writes.
func TestStatusOfAFullStateFolder(t *testing.T) {
	s := harness.NewSandbox(t)
	disk := newFaultyDisk(t, s, "disk")
	state := filepath.Join(disk.dir, "state")
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), "RELAYFS_STATE="+state, "--http", "127.0.0.1:0")
	ask := func() (r report, text string) {
		out := s.Run(t, "status", "--json", "RELAYFS_STATE="+state, m.Vault)
		if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil || len(r.Folders) != 1 {
			t.Fatalf("%v: %+v", err, out)
		}
		return r, s.Run(t, "status", "RELAYFS_STATE="+state, m.Vault).Stdout
	}
	good := func() {
		t.Helper()
		r, text := ask()
		if len(r.Folders[0].Problems) > 0 || strings.Contains(text, "PROBLEM") {
			t.Errorf("the disk works, and the status is %s", text)
		}
		for _, u := range []string{r.Owner.HTTP.URL} {
			if err := isReady(u); err != nil {
				t.Error(err)
			}
		}
	}
	good()
	start := time.Now()
	disk.fail(faults{"create": syscall.ENOSPC, "write": syscall.ENOSPC})
	for range 3 {
		if err := harness.WriteAll(m.Path("note.md"), []byte("changed\n")); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("the save on a full disk: %v", err)
		}
	}
	r, text := ask()
	const mend = "no space left on device; free space on its disk; relayfs retries automatically"
	if p := r.Folders[0].Problems; len(p) != 1 || p[0].About != "store" || p[0].Since.Before(start) || p[0].Since.After(time.Now()) ||
		!strings.HasPrefix(p[0].Text, `changes cannot be stored in "`+state) || !strings.HasSuffix(p[0].Text, mend) {
		t.Errorf("problems are %+v", p)
	}
	if !strings.Contains(text, "  PROBLEM since ") || !strings.Contains(text, mend) {
		t.Errorf("status is %s", text)
	}
	for _, u := range []string{r.Owner.HTTP.URL} {
		if err := isReady(u); err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "changes cannot be stored") {
			t.Errorf("on a full disk %s is ready: %v", u, err)
		}
	}
	if n := strings.Count(m.Log.String(), "changes cannot be stored"); n != 1 {
		t.Errorf("the log says it %d times, want once: %s", n, m.Log)
	}
	disk.fail(nil)
	good()
	m.Log.Says(t, "problem is over")
	if err := harness.WriteAll(m.Path("note.md"), []byte("changed\n")); err != nil {
		t.Error(err)
	}
	good()
	m.Stop(t)
}

// isReady asks the port of a URL whether it is ready.
func isReady(of string) error {
	u, err := url.Parse(of)
	if err != nil {
		return err
	}
	res, err := http.Get("http://" + u.Host + "/ready")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var h struct {
		OK    bool
		Error string
	}
	if err := json.NewDecoder(res.Body).Decode(&h); err != nil || h.OK != (res.StatusCode == http.StatusOK) {
		return fmt.Errorf("%s answers %s, %+v: %v", u.Host, res.Status, h, err)
	}
	if !h.OK {
		return fmt.Errorf("%s: %s", res.Status, h.Error)
	}
	return nil
}
