package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/doctor"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/fusefs"
)

const statusCommand = "status"

func newStatusCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var secrets bool
	cmd := &cobra.Command{
		Use:   statusCommand + " [SOURCE...]",
		Short: "Show running processes, notes, pending suggestions and problems",
		Long: `Status shows which process serves the notes, since when, its log file, the number of
notes and pending changes, and current problems. Without SOURCE it shows all your
relayfs processes, the one that serves the current folder first.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.status(cmd.Context(), e, args, secrets)
			if err != nil && len(r.Others) == 0 || e.configErr != nil && r.Owner == nil {
				return errors.Join(err, e.configErr)
			}
			return errors.Join(show(e, r, printStatus), err, e.configErr)
		},
	}
	e.addJSONFlag(cmd)
	cmd.Flags().BoolVar(&secrets, "show-token", false, "print the access token of --http")
	f.registerClient(e, cmd)
	return cmd
}

func (f *workspaceFlags) status(ctx context.Context, e *env, args []string, secrets bool) (r statusReport, err error) {
	if len(args) == 0 {
		owners, err := f.search().Owners(ctx)
		if err != nil {
			return r, err
		}
		if len(owners) > 0 {
			return askAll(ctx, owners, secrets, f.inAgent())
		}
	}
	c, err := f.search().Find(ctx, args)
	switch {
	case err != nil:
		return r, err
	case c != nil:
		return askStatus(ctx, api.NewClient(c), secrets)
	case e.configErr != nil: // the sources and the state folder are unknown
		return r, nil
	}
	err = f.withSession(ctx, e, args, func(s *serving.Session) (err error) {
		c, end := s.Client(mcpDefaults(s), f.inAgent())
		defer end()
		r.Status, err = c.Status(ctx)
		return err
	})
	return r, err
}

const doctorCommand = "doctor"

// examine returns the options for doctor. They include the errors of the configuration, and the errors that 'relayfs
// mount' would report for the sources in args. If args is empty, the sources are those of the configuration.
func (f *workspaceFlags) examine(ctx context.Context, e *env, args []string) (o doctor.Options, err error) {
	o = doctor.Options{
		Only: len(args) > 0, Audience: f.audience, Version: version(), Author: defaultAuthor(), Values: e.config.Values(), Suspect: e.config.UnknownVariables(),
	}
	if o.Base, err = source.StateDir(f.state); err != nil {
		return o, err
	}
	o.Config = parts(e.configErr)
	var m mountOptions
	cmd := &cobra.Command{Use: "mount"}
	(&cobra.Command{}).AddCommand(cmd)
	m.register(e, cmd)
	o.Config = append(o.Config, parts(e.config.Apply(cmd, e.settings(cmd)))...)
	sources, mountpoint := args, ""
	if !o.Only {
		sources, mountpoint, err = e.config.MountArgs(nil)
		switch {
		case err != nil && e.config.Mounts():
			o.Config = append(o.Config, err)
			sources = e.config.SourcesOr(nil)
		case err != nil:
			o.Suspect = append(o.Suspect, err)
		}
	} else if _, err := source.Parse(args, f.state); err != nil {
		return o, err
	}
	quiet := *e
	quiet.stderr = io.Discard
	abs, err := filepath.Abs(mountpoint)
	if err != nil {
		return o, err
	}
	pid := fusefs.ServerPID(abs)
	plan, errs := m.plan(ctx, &quiet, sources, mountpoint, mountpoint != "" && pid != 0 && !owner.Ended(pid))
	o.Sources, o.Config = plan.sources, append(o.Config, errs...)
	return o, nil
}

func newDoctorCommand(e *env) *cobra.Command {
	var f workspaceFlags
	cmd := &cobra.Command{
		Use:   doctorCommand + " [SOURCE...]",
		Short: "Check the requirements for mounting and suggest fixes",
		Long: `Doctor checks FUSE, its helper and the right to mount; dead mounts; the configuration
for 'relayfs mount'; the state folder and its disk; for each SOURCE its folder, its
disk and the limit of watches; and relayfs's own data. Each line begins with ok, warn
or fail. The exit code is 1 if a check fails.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var r *doctor.Report
			err := runInterruptible(cmd.Context(), func() (err error) {
				o, err := f.examine(cmd.Context(), e, args)
				if err == nil {
					r = doctor.Examine(cmd.Context(), o)
				}
				return err
			})
			if err != nil {
				return err
			}
			return errors.Join(show(e, r, doctor.Print), r.Verdict())
		},
	}
	e.addJSONFlag(cmd)
	f.registerState(e, cmd)
	return cmd
}

// The linker sets release for released builds: -X main.release=v1.2.3.
var release string

func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

func newVersionCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and how it was built",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			build := map[string]string{"version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
			return show(e, build, func(w io.Writer, b map[string]string) {
				fmt.Fprintf(w, "relayfs %s (%s, %s/%s)\n", b["version"], b["go"], b["os"], b["arch"])
			})
		},
	}
	e.addJSONFlag(cmd)
	return cmd
}
