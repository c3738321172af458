package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// get returns the status and the body of an answer.
func get(t *testing.T, address string) (int, string) {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// measured is a mount with all of its ports, by what it says of them.
type measured struct {
	*harness.Mount
	metrics, http string // host and port
}

func mountMeasured(t *testing.T, s *harness.Sandbox, vault string, flags ...string) measured {
	t.Helper()
	m := measured{Mount: s.Mount(t, vault, append(flags, "RELAYFS_METRICS=127.0.0.1:0", "--http", "127.0.0.1:0")...)}
	for _, line := range regexp.MustCompile(`serving (\w+).* at ([^ ,\n]+)`).FindAllStringSubmatch(m.Log.String(), -1) {
		u, err := url.Parse(line[2])
		if err != nil {
			t.Fatal(err)
		}
		*map[string]*string{"metrics": &m.metrics, "MCP": &m.http}[line[1]] = u.Host
	}
	return m
}

// checkMetrics scrapes until the lines are there.
func (m measured) checkMetrics(t *testing.T, lines ...string) {
	t.Helper()
	var last string
	harness.Eventually(t, harness.StartTimeout, func() error {
		_, last = get(t, "http://"+m.metrics+"/metrics")
		for _, line := range lines {
			if !strings.Contains("\n"+last, "\n"+line+"\n") {
				return errors.New(line + " is not in\n" + last)
			}
		}
		return nil
	})
}

// The numbers follow what is done, and name nothing but folders. Every HTTP server tells its health.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := mountMeasured(t, s, s.Vault(t, "Vault", map[string]string{"secret plan.md": harness.TideTable, "picture.png": "png"}))
	m.checkMetrics(t, `relayfs_notes{folder="Vault"} 1`, `relayfs_pending_suggestions{folder="Vault"} 0`,
		`relayfs_save_duration_seconds_count{outcome="saved"} 0`, `relayfs_refusals_total 0`, `relayfs_connections{port="http"} 0`)

	harness.WriteFile(t, m.Path("secret plan.md"), strings.Replace(harness.TideTable, "six", "seven", 1))
	harness.WriteFile(t, m.Path("new.md"), "new\n")
	if err := os.Remove(m.Path("secret plan.md")); err != nil {
		t.Fatal(err)
	}
	if err := harness.WriteAll(m.Path("new.md"), []byte("\xff")); err == nil {
		t.Fatal("bytes that are not UTF-8 were taken")
	}
	m.checkMetrics(t, `relayfs_notes{folder="Vault"} 1`, `relayfs_pending_suggestions{folder="Vault"} 1`, `relayfs_pending_proposals{folder="Vault"} 1`,
		`relayfs_save_duration_seconds_count{outcome="saved"} 2`, `relayfs_save_duration_seconds_count{outcome="refused"} 1`,
		`relayfs_save_duration_seconds_count{outcome="failed"} 0`, `relayfs_refusals_total 1`, `relayfs_problems{about="store",folder="Vault"} 0`)
	_, text := get(t, "http://"+m.metrics+"/metrics")
	if strings.Contains(text, "secret") || strings.Contains(text, s.Dir) {
		t.Errorf("the numbers tell of notes or paths:\n%s", text)
	}
	if size := regexp.MustCompile(`(?m)^relayfs_store_bytes\{folder="Vault"\} ([0-9.e+]+)$`).FindStringSubmatch(text); size == nil || size[1] == "0" {
		t.Errorf("the size of the store is %v", size)
	}
	if !regexp.MustCompile(`(?m)^relayfs_info\{version="[^"]+"\} 1$`).MatchString(text) {
		t.Error("the version is not told")
	}
	checkDescribed(t, text)
	for _, host := range []string{m.metrics, m.http, reviewPage(t, s, m.Vault)} {
		for _, path := range []string{"/healthz", "/readyz"} {
			if status, body := get(t, "http://"+host+path); status != http.StatusOK || strings.TrimSpace(body) != `{"ok":true}` {
				t.Errorf("%s%s: %d, %s", host, path, status, body)
			}
		}
	}
	m.Stop(t)
}

// checkDescribed compares the names of a scrape of a vault with those in the manual and the alerting rules, which also has
// the numbers of servers.
func checkDescribed(t *testing.T, scrape string) {
	t.Helper()
	manual := harness.ReadFile(t, harness.Repo("docs", "operations.md"))
	rules := harness.ReadFile(t, harness.Repo("packaging", "prometheus", "relayfs.rules.yml"))
	served := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (relayfs_\w+) `).FindAllStringSubmatch(scrape, -1) {
		served[m[1]] = true
		if !strings.Contains(manual, "`"+m[1]+"`") {
			t.Errorf("docs/operations.md does not name %s", m[1])
		}
	}
	for _, name := range []string{"relayfs_server_connected", "relayfs_unacknowledged_documents", "relayfs_unfetched_notes", "relayfs_queued_documents"} {
		served[name] = true
	}
	for _, name := range regexp.MustCompile(`relayfs_\w+`).FindAllString(manual+rules, -1) {
		if name = regexp.MustCompile(`_(count|bucket)$`).ReplaceAllString(name, ""); !served[name] {
			t.Errorf("docs/operations.md or the rules name %s, which is not served", name)
		}
	}
}

// reviewPage starts the review page, which ends with the test, and returns its host and port.
func reviewPage(t *testing.T, s *harness.Sandbox, args ...string) string {
	t.Helper()
	cmd := s.Command(context.Background(), append([]string{"review"}, args...)...)
	out := harness.NewLog()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait() // it says "interrupted"
	})
	out.Says(t, "/#")
	u, err := url.Parse(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// On a full disk of the state folder nothing is ready, everything is alive, and the numbers say so.
func TestMetricsOnAFullDisk(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	disk := s.SmallDisk(t, "1m")
	m := mountMeasured(t, s, s.Vault(t, "Vault", map[string]string{"note.md": "text\n"}), "RELAYFS_STATE="+s.Path("disk", "state"))
	page := reviewPage(t, s, m.Vault, "RELAYFS_STATE="+s.Path("disk", "state"))
	disk.Fill(t)
	var err error
	for size := 64 << 10; err == nil && size < 4<<20; size *= 2 { // until what the log has reserved is used up
		err = harness.WriteAll(m.Path("note.md"), bytes.Repeat([]byte("text\n"), size/5))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the save on the full disk: %v", err)
	}
	m.checkMetrics(t, `relayfs_problems{about="store",folder="Vault"} 1`, `relayfs_save_duration_seconds_count{outcome="failed"} 1`)
	for _, host := range []string{m.metrics, m.http, page} {
		if status, body := get(t, "http://"+host+"/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("%s/readyz: %d, %s", host, status, body)
		}
		if status, body := get(t, "http://"+host+"/healthz"); status != http.StatusOK {
			t.Errorf("%s/healthz: %d, %s", host, status, body)
		}
	}
	disk.Drain(t)
	m.checkMetrics(t, `relayfs_problems{about="store",folder="Vault"} 0`)
	m.Stop(t)
}

// An address that is none is a wrong command line; a port that is taken is an error with a hint.
func TestMetricsAddress(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": "text\n"})
	if out := s.Run(t, "mcp", "--http", "127.0.0.1:0", vault, "RELAYFS_METRICS=9464"); out.Code != 2 || !strings.Contains(out.Stderr, `metrics "9464" is not HOST:PORT`) {
		t.Errorf("%+v", out)
	}
	m := mountMeasured(t, s, vault)
	other := s.Vault(t, "Other", map[string]string{"note.md": "text\n"})
	if out := s.Run(t, "mcp", "--http", "127.0.0.1:0", other, "RELAYFS_METRICS="+m.metrics); out.Code != 1 || !strings.Contains(out.Stderr, "choose another port") {
		t.Errorf("%+v", out)
	}
	m.Stop(t)
}
