// Package metrics serves numbers about a workspace to Prometheus, and its health to who supervises it.
// The numbers name folders, and nothing that is in them. docs/operations.md says what each one is.
package metrics

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

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
)

// Flag is the flag with the address.
const Flag = "metrics"

// Check refuses an address that is none.
func Check(addr string) error {
	if addr == "" {
		return nil
	}
	_, err := ports.Loopback(Flag, addr)
	return err
}

// Numbers are those of this process. Saves are recorded before and while they are served.
type Numbers struct {
	addr  string
	saves *prometheus.HistogramVec
	info  prometheus.Gauge
}

// New returns the Numbers to be served on addr, nil if that is "".
func New(addr, version string) *Numbers {
	if addr == "" {
		return nil
	}
	n := &Numbers{addr: addr}
	n.saves = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "relayfs_save_duration_seconds", Help: "How long changes of notes by programs and decisions took, by what became of them.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 4, 8), // to 8 s
	}, []string{"outcome"})
	for _, outcome := range []string{saved, refused, failed} {
		n.saves.WithLabelValues(outcome)
	}
	n.info = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "relayfs_info", Help: "1, with the version.", ConstLabels: prometheus.Labels{"version": version},
	})
	n.info.Set(1)
	return n
}

// Server serves Numbers on a port of its own, without a token.
type Server struct {
	listener net.Listener
	*Numbers
}

// Listen opens the port. It returns nil if there is none to open.
func (n *Numbers) Listen() (*Server, error) {
	if n == nil {
		return nil, nil
	}
	l, err := ports.Open(Flag, n.addr)
	if err != nil {
		return nil, err
	}
	return &Server{l, n}, nil
}

// Outcomes of a save.
const (
	saved   = "saved"
	refused = "refused" // the note stays as it was, and trying again would not help
	failed  = "failed"  // the disk, or the server, did not take it
)

// Saved records a save; it is for bridge.Options.
func (n *Numbers) Saved(took time.Duration, err error) {
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

// Announce prints the address.
func (m *Server) Announce(w io.Writer) {
	fmt.Fprintf(w, "serving metrics at http://%s/metrics\n", m.listener.Addr())
}

// Sources are what the numbers come from.
type Sources struct {
	Workspace *bridge.Workspace
	States    map[string]owner.Folder // of each Folder
	Ports     map[string]func() int   // the open connections of each port
	Sessions  map[string]func() int   // the MCP clients of each transport
	Inflight  func() int              // the bytes of messages that clients are sending
	Refusals  func() int              // of the mount so far
	Log       *slog.Logger
}

// Serve answers until ctx ends.
func (m *Server) Serve(ctx context.Context, s Sources) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.saves, m.info, &collector{ctx, s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	ports.Health(mux, s.Workspace.Ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
	}))
	if _, err := ports.Serve(ctx, m.listener, ports.NewServer(mux)); err != nil {
		return fmt.Errorf("%s: %w", Flag, err)
	}
	return nil
}

func number(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("relayfs_"+name, help, labels, nil)
}

var (
	notes          = number("notes", "Notes.", "folder")
	suggestions    = number("pending_suggestions", "Suggestions that wait for a person.", "folder")
	proposals      = number("pending_proposals", "Renames, deletions and files that wait for a person.", "folder")
	offline        = number("folder_offline", "1 if the directory of a vault is missing or empty.", "folder")
	connected      = number("server_connected", "1 if the server of a folder is connected.", "folder")
	unacknowledged = number("unacknowledged_documents", "Documents with changes that the server has not acknowledged.", "folder")
	unfetched      = number("unfetched_notes", "Notes of a server that are known by name only.", "folder")
	queued         = number("queued_documents", "Documents of a server that wait for their turn to be compared with it.", "folder")
	problems       = number("problems", "What does not work now, as 'relayfs status' lists it.", "folder", "about")
	storeBytes     = number("store_bytes", "The size of what is kept for a folder outside of the vault.", "folder")
	connections    = number("connections", "Open connections of clients.", "port")
	sessions       = number("sessions", "MCP clients, by how they are connected.", "transport")
	inflightBytes  = number("inflight_bytes", "Bytes of messages that clients of the ports are sending, as far as they count against the budget.")
	refusalsTotal  = number("refusals_total", "Operations of programs on the mount that were refused with a reason.")
)

// collector asks for the numbers when it is scraped.
type collector struct {
	ctx context.Context
	s   Sources
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		notes, suggestions, proposals, offline, connected, unacknowledged, unfetched, queued, problems, storeBytes, connections, sessions, inflightBytes, refusalsTotal,
	} {
		out <- d
	}
}

// scrapeTimeout bounds a scrape.
const scrapeTimeout = 5 * time.Second

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(c.ctx, scrapeTimeout)
	defer cancel()
	set := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for port, count := range c.s.Ports {
		set(connections, float64(count()), port)
	}
	for transport, count := range c.s.Sessions {
		set(sessions, float64(count()), transport)
	}
	set(inflightBytes, float64(c.s.Inflight()))
	out <- prometheus.MustNewConstMetric(refusalsTotal, prometheus.CounterValue, float64(c.s.Refusals()))
	for folder, dir := range c.s.States {
		set(storeBytes, float64(dir.Size()), folder)
	}
	st, err := c.s.Workspace.Status(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(notes, err)
	}
	for _, f := range st.Folders {
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

// document stands for every document of a server that has a problem.
const otherProblem = "document"

// countProblems counts what does not work, with 0 for what does.
func countProblems(list []model.Problem) map[string]float64 {
	n := map[string]float64{otherProblem: 0}
	for _, about := range []string{model.AboutStore, model.AboutFiles, model.AboutCheckpoint, model.AboutDamage, model.AboutConnection, model.AboutReports, model.AboutAttachments} {
		n[about] = 0
	}
	for _, p := range list {
		if _, known := n[p.About]; !known {
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
