package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
)

// Metrics are the metrics that this process updates itself, also before the port is open. It serves them, and all
// other metrics, which it reads from its Control at each scrape. The metrics contain names of folders, but no names or
// texts of notes. docs/operations.md describes each metric.
type Metrics struct {
	addr     string
	saves    *prometheus.HistogramVec
	listener net.Listener // set by Listen
}

func NewMetrics(addr string) *Metrics {
	if addr == "" {
		return nil
	}
	n := &Metrics{addr: addr}
	n.saves = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "relayfs_save_duration_seconds", Help: "Duration of note changes by programs and of decisions, by result.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 4, 8), // up to 8 s
	}, []string{"outcome"})
	for _, outcome := range []string{saved, refused, failed} {
		n.saves.WithLabelValues(outcome)
	}
	return n
}

func (n *Metrics) Listen() (err error) {
	if n != nil {
		n.listener, err = ports.Open(ports.MetricsSetting, n.addr)
	}
	return err
}

const (
	saved   = "saved"
	refused = "refused" // the same save would be refused again
	failed  = "failed"  // the disk or the server returned an error
)

func (n *Metrics) Saved(took time.Duration, err error) {
	n.saves.WithLabelValues(outcomeOf(err)).Observe(took.Seconds())
}

func outcomeOf(err error) string {
	if err == nil {
		return saved
	}
	for _, no := range []error{
		model.ErrRefused, model.ErrReadOnly, model.ErrInvalidUTF8, model.ErrTooLarge, model.ErrBadName, model.ErrNotNote, model.ErrConflict,
		fs.ErrNotExist, fs.ErrExist, fs.ErrPermission,
	} {
		if errors.Is(err, no) {
			return refused
		}
	}
	return failed
}

func (n *Metrics) Announce(w io.Writer) {
	fmt.Fprintf(w, "serving metrics at http://%s/metrics\n", n.listener.Addr())
}

func (n *Metrics) serve(ctx context.Context, c *Control) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(n.saves, &collector{c, ctx}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	ports.Health(mux, c.Workspace.Ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
	}))
	if _, err := ports.Serve(ctx, n.listener, ports.NewServer(mux)); err != nil {
		return fmt.Errorf("%s: %w", ports.MetricsSetting, err)
	}
	return nil
}

func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("relayfs_"+name, help, labels, nil)
}

var (
	info           = metric("info", "1, with the version.", "version")
	notes          = metric("notes", "Notes.", "folder")
	suggestions    = metric("pending_suggestions", "Suggestions that wait for a decision.", "folder")
	proposals      = metric("pending_proposals", "Renames, deletions and files that wait for a decision.", "folder")
	offline        = metric("folder_offline", "1 if the directory of a vault is missing or empty.", "folder")
	connected      = metric("server_connected", "1 if the server of a folder is connected.", "folder")
	unacknowledged = metric("unacknowledged_documents", "Documents with changes that the server has not acknowledged.", "folder")
	unfetched      = metric("unfetched_notes", "Server notes whose text has not been fetched yet.", "folder")
	queued         = metric("queued_documents", "Documents that wait to be compared with the server.", "folder")
	problems       = metric("problems", "Current problems, as 'relayfs status' lists them.", "folder", "about")
	storeBytes     = metric("store_bytes", "Size of relayfs's own data for a folder.", "folder")
	connections    = metric("connections", "Open connections of clients.", "port")
	sessions       = metric("sessions", "MCP clients, by transport.", "transport")
	refusalsTotal  = metric("refusals_total", "Operations of programs that the mount refused with a reason.")
)

type collector struct {
	*Control
	ctx context.Context
}

// Describe sends no descriptors, because the collector reads the folders, ports and transports only at a scrape.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

const scrapeTimeout = 5 * time.Second

func (c *collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(c.ctx, scrapeTimeout)
	defer cancel()
	set := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	set(info, 1, c.about.Version)
	if c.HTTP != nil {
		set(connections, float64(c.HTTP.Connections()), "http")
	}
	set(sessions, float64(c.clients.Load()), "stream")
	set(sessions, float64(c.MCP.Sessions()), "http")
	out <- prometheus.MustNewConstMetric(refusalsTotal, prometheus.CounterValue, float64(c.Refusals.Count()))
	for _, f := range c.stores {
		set(storeBytes, float64(f.State.Size()), f.Name)
	}
	st, err := c.Workspace.Status(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(notes, err)
	}
	for _, f := range st.Roots {
		set(notes, float64(f.Notes), f.Name)
		set(suggestions, float64(f.Suggestions), f.Name)
		set(proposals, float64(f.Proposals), f.Name)
		set(offline, oneIf(f.Offline), f.Name)
		if f.Sync != nil {
			set(connected, oneIf(f.Sync.Connected), f.Name)
			set(unacknowledged, float64(f.Sync.Unsent), f.Name)
			set(unfetched, float64(f.Sync.Unfetched), f.Name)
			set(queued, float64(f.Sync.Queued), f.Name)
		}
		for about, n := range countProblems(f.Problems) {
			set(problems, n, f.Name, about)
		}
	}
}

// otherProblem is the label of problems with single documents of a server. The names of documents must not occur in a
// metric.
const otherProblem = "document"

func countProblems(list []model.Problem) map[string]float64 {
	n := map[string]float64{otherProblem: 0}
	for _, about := range []string{model.AboutStore, model.AboutFiles, model.AboutCheckpoint, model.AboutDamage, model.AboutConnection, model.AboutReports, model.AboutAttachments} {
		n[about] = 0
	}
	for _, p := range list {
		if _, ok := n[p.About]; !ok {
			p.About = otherProblem
		}
		n[p.About]++
	}
	return n
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
