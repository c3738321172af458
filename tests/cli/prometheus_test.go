package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// The alerting rules are right for promtool, and fire when their tests say; each of them has one in which it fires.
func TestAlertingRules(t *testing.T) {
	t.Parallel()
	promtool := harness.RequireCached(t, "bin", "promtool")
	dir := harness.Repo("packaging", "prometheus")
	for _, args := range [][]string{{"check", "rules", "relayfs.rules.yml"}, {"test", "rules", "relayfs.rules.test.yml"}} {
		if out := harness.OutputIn(t, dir, append([]string{promtool}, args...)); out.Code != 0 {
			t.Errorf("promtool %s: exit code %d\n%s%s", strings.Join(args, " "), out.Code, out.Stdout, out.Stderr)
		}
	}
	tests := harness.ReadFile(t, filepath.Join(dir, "relayfs.rules.test.yml"))
	for _, name := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(harness.ReadFile(t, filepath.Join(dir, "relayfs.rules.yml")), -1) {
		if !regexp.MustCompile(`alertname: ` + name[1] + `\n\s+exp_alerts:`).MatchString(tests) {
			t.Errorf("no test has %s fire", name[1])
		}
		if !strings.Contains(tests, "alertname: "+name[1]+"}") {
			t.Errorf("no test has %s quiet", name[1])
		}
	}
}

// metered is a relayfs with metrics that is not a mount.
type metered struct {
	cmd     *exec.Cmd
	log     *harness.Log
	metrics string // host and port
}

// startMetered starts a command of relayfs with its numbers on a free port.
func startMetered(t *testing.T, s *harness.Sandbox, args ...string) *metered {
	t.Helper()
	m := &metered{cmd: s.Command(context.Background(), append(args, "RELAYFS_METRICS=127.0.0.1:0")...), log: harness.NewLog()}
	m.cmd.Stderr = m.log
	in, err := m.cmd.StdinPipe() // open while the test runs: `relayfs mcp` ends with it
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = m.cmd.Process.Signal(syscall.SIGINT)
		if err := m.cmd.Wait(); err != nil {
			t.Errorf("relayfs %s: %v\n%s", strings.Join(args, " "), err, m.log)
		}
	})
	const announced = "serving metrics at http://"
	select {
	case <-m.log.Seen("/metrics\n"):
	case <-time.After(harness.StartTimeout):
		t.Fatalf("relayfs %s does not serve its numbers\n%s", strings.Join(args, " "), m.log)
	}
	_, rest, _ := strings.Cut(m.log.String(), announced)
	m.metrics, _, _ = strings.Cut(rest, "/metrics\n")
	return m
}

// prometheus is a running Prometheus that scrapes relayfs.
type prometheus struct{ address string }

// startPrometheus starts one with the configuration of docs/operations.md, for other targets and more often.
func startPrometheus(t *testing.T, targets []string) prometheus {
	t.Helper()
	program := harness.RequireCached(t, "bin", "prometheus")
	_, config, found := strings.Cut(harness.ReadFile(t, harness.Repo("docs", "operations.md")), "\nscrape_configs:\n")
	config, _, ended := strings.Cut(config, "```\n")
	if !found || !ended {
		t.Fatal("docs/operations.md has no scrape_configs")
	}
	quoted, _ := json.Marshal(targets) // strings
	config = strings.NewReplacer(`["127.0.0.1:9464"]`, string(quoted), "/usr/share/doc/relayfs", harness.Repo("packaging", "prometheus")).Replace(config)
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	harness.WriteFile(t, file, "global: {scrape_interval: 200ms, evaluation_interval: 1s}\nscrape_configs:\n"+config)
	if out := harness.OutputIn(t, dir, []string{harness.RequireCached(t, "bin", "promtool"), "check", "config", file}); out.Code != 0 {
		t.Fatalf("promtool check config: exit code %d\n%s%s", out.Code, out.Stdout, out.Stderr)
	}
	// The log names the port that was free.
	log := harness.NewLog()
	cmd := exec.Command(program, "--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", "127.0.0.1:0")
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	var p prometheus
	harness.Eventually(t, harness.StartTimeout, func() error {
		listening := regexp.MustCompile(`Listening on" address=(127\.0\.0\.1:\d+)`).FindStringSubmatch(log.String())
		if listening == nil {
			return errors.New(log.String())
		}
		p.address = listening[1]
		res, err := http.Get("http://" + p.address + "/-/ready")
		if err == nil {
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				err = errors.New(res.Status)
			}
		}
		return err
	})
	return p
}

// value is what a query for one number gives, and whether it gives one.
func (p prometheus) value(t *testing.T, query string) (v float64, ok bool) {
	t.Helper()
	var answer struct {
		Error string
		Data  struct{ Result []struct{ Value [2]any } }
	}
	_, body := get(t, "http://"+p.address+"/api/v1/query?query="+url.QueryEscape(query))
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Error != "" {
		t.Fatalf("%s: %v, %s", query, err, body)
	}
	if len(answer.Data.Result) != 1 {
		return 0, false
	}
	v, err := strconv.ParseFloat(answer.Data.Result[0].Value[1].(string), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v, true
}

// becomes waits until a query gives a number.
func (p prometheus) becomes(t *testing.T, query string, want float64) {
	t.Helper()
	harness.Eventually(t, harness.StartTimeout, func() error {
		if got, ok := p.value(t, query); !ok || got != want {
			return fmt.Errorf("%s is %v (%v), want %v", query, got, ok, want)
		}
		return nil
	})
}

// A Prometheus scrapes everything that serves notes, while programs save as fast as they can. It misses no scrape, counts
// each save, and takes the rules; the health is told within a second.
func TestTimedPrometheus(t *testing.T) {
	promtool := harness.RequireCached(t, "bin", "promtool")
	s := harness.NewSandbox(t)
	note := map[string]string{"note.md": harness.TideTable}
	mount := mountMeasured(t, s, s.Vault(t, "Mounted", note))
	overHTTP := startMetered(t, s, "mcp", s.Vault(t, "HTTP", note), "--http", "127.0.0.1:0")
	targets := []string{mount.metrics, overHTTP.metrics}
	s.MCP(t, mount.Vault)
	p := startPrometheus(t, targets)
	p.becomes(t, "sum(up)", float64(len(targets)))

	const writers, saves = 4, 50
	slowest := make(chan time.Duration, 1)
	done := make(chan struct{})
	go func() {
		defer close(slowest)
		var worst time.Duration
		for {
			for _, path := range []string{"/healthz", "/readyz"} {
				start := time.Now()
				res, err := http.Get("http://" + mount.metrics + path)
				if err != nil || res.StatusCode != http.StatusOK {
					t.Errorf("%s under load: %v, %v", path, res, err)
				} else {
					res.Body.Close()
				}
				worst = max(worst, time.Since(start))
			}
			select {
			case <-done:
				slowest <- worst
				return
			default:
			}
		}
	}()
	var load sync.WaitGroup
	for w := range writers {
		load.Go(func() {
			for i := range saves {
				text := fmt.Sprintf("save %d of writer %d\n", i, w)
				if err := os.WriteFile(mount.Path(fmt.Sprintf("note %d.md", w)), []byte(text), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
	load.Wait()
	close(done)
	if worst := <-slowest; worst > harness.Soon {
		t.Errorf("the health was told after %v, want at most %v", worst, harness.Soon)
	}
	p.becomes(t, `sum(relayfs_save_duration_seconds_count{outcome="saved"})`, writers*saves)
	p.becomes(t, `sum(relayfs_save_duration_seconds_bucket{outcome="saved", le="+Inf"})`, writers*saves)
	p.becomes(t, `sum(relayfs_notes{folder="Mounted"})`, 1+writers)
	p.becomes(t, `sum(relayfs_sessions{transport="stream"})`, 1)
	p.becomes(t, `min(min_over_time(up[1m]))`, 1)
	p.becomes(t, `count(relayfs_info)`, float64(len(targets)))
	_, rules := get(t, "http://"+p.address+"/api/v1/rules")
	if strings.Contains(rules, `"lastError"`) || !strings.Contains(rules, `"name":"RelayfsCannotStore"`) {
		t.Errorf("Prometheus says of the rules: %s", rules)
	}
	for _, target := range targets {
		status, scrape := get(t, "http://"+target+"/metrics")
		cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
		cmd.Stdin = strings.NewReader(scrape)
		if out := harness.RunCommand(t, cmd); status != http.StatusOK || out.Code != 0 || out.Stderr != "" {
			t.Errorf("%s: %d; promtool check metrics: exit code %d\n%s", target, status, out.Code, out.Stderr)
		}
	}
	mount.Stop(t)
	p.becomes(t, `sum(up)`, float64(len(targets)-1))
}

// An MCP process that finds the vault served leaves the numbers to who serves it, and says so.
func TestMetricsOfTheOwner(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := mountMeasured(t, s, s.Vault(t, "Vault", map[string]string{"note.md": "text\n"}))
	s.Env = append(s.Env, "RELAYFS_METRICS="+m.metrics) // as for the mount: no reason to end
	c := s.MCP(t, m.Vault)
	m.checkMetrics(t, `relayfs_sessions{transport="stream"} 1`)
	c.Close(t)
	m.checkMetrics(t, `relayfs_sessions{transport="stream"} 0`)
	m.Stop(t)
}
