package main

import (
	"context"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

type serveOptions struct {
	workspaceFlags
	mcpFlags
	metrics       string           // HOST:PORT, or "" if metrics are not served
	metricNumbers *serving.Metrics // nil if metrics are not served; set by prepare
}

func (o *serveOptions) register(e *env, cmd *cobra.Command) {
	o.workspaceFlags.register(e, cmd)
	o.mcpFlags.register(e, cmd)
	cmd.SetUsageTemplate(serverUsage)
	e.settings(cmd).StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics and health checks at this address, without a token, for example 127.0.0.1:9464")
}

// prepare checks the flags and parses the sources without opening them. For a relay: source it first updates the stored
// list of folders. errs are the errors that prevent the start.
func (o *serveOptions) prepare(ctx context.Context, e *env, args []string) (sources []source.Source, opts serving.Options, errs []error) {
	log, err := o.log.logger(e.stderr)
	if err != nil {
		return nil, opts, []error{err}
	}
	for _, err := range e.config.UnknownVariables() {
		log.Warn(err.Error(), model.LogHint, hintFor(err))
	}
	add := func(err error) { errs = append(errs, parts(err)...) }
	opts, err = o.session(log)
	opts.About.Config, opts.About.ConfigSum = e.config.File, e.config.Sum
	add(err)
	add(o.mcpFlags.check())
	add(ports.CheckMetrics(o.metrics))
	if len(errs) == 0 {
		add(o.http.CheckFile(opts.Base))
	}
	if o.metricNumbers = serving.NewMetrics(o.metrics); o.metricNumbers != nil {
		opts.Workspace.Saved = o.metricNumbers.Saved
	}
	if slices.ContainsFunc(args, source.IsRelay) {
		refreshFolders(ctx, source.AccountOf(opts.Base), log)
	}
	sources, err = source.Parse(args, o.state)
	add(err)
	add(o.checkGlobs(sources))
	if slices.ContainsFunc(sources, func(s source.Source) bool { return s.Server != nil }) {
		_, err := source.ServerKey()
		add(err)
	}
	return sources, opts, errs
}

func parts(err error) []error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return list.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// serve opens the sources and serves them to other processes while work runs. mountpoint may be "".
func (o *serveOptions) serve(ctx context.Context, sources []source.Source, opts serving.Options, command, mountpoint string,
	work func(context.Context, *serving.Control) error) error {
	signal.Ignore(syscall.SIGPIPE) // a line of the log that nobody reads any more does not end the process
	s, err := serving.OpenOrTakeOver(ctx, sources, opts)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Workspace.SetMountpoint(mountpoint)
	c, err := o.control(s)
	if err != nil {
		return err
	}
	defer c.MCP.Close()
	return c.Serve(ctx, command, func(ctx context.Context) error { return work(ctx, c) })
}
