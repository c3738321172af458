package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/doctor"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/status"
)

func newStatusCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var asJSON, secrets bool
	cmd := &cobra.Command{
		Use:   "status [SOURCE...]",
		Short: "Folders, notes, pending suggestions, and who serves them",
		Long: `Status prints who serves the notes since when, where its log is, how many notes there
are, what waits for a person, and what does not work now. Without SOURCE it is about
every relayfs process of yours, the one that serves the current folder first.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.status(cmd.Context(), e, args, secrets)
			if err != nil && len(r.Others) == 0 {
				return err
			}
			return errors.Join(show(e, asJSON, r, status.Print), err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&secrets, "show-token", false, "print the tokens with which clients of --http and --listen are let in")
	f.registerClient(cmd)
	return cmd
}

func (f *workspaceFlags) status(ctx context.Context, e *env, args []string, secrets bool) (r status.Report, err error) {
	if len(args) == 0 {
		owners, err := f.search().Owners(ctx)
		if err != nil || len(owners) > 0 {
			return status.AskAll(ctx, owners, secrets)
		}
	}
	c, err := f.search().Find(ctx, args)
	switch {
	case err != nil:
		return r, err
	case c != nil:
		return status.Ask(ctx, c, secrets)
	}
	err = f.withSession(ctx, e, args, func(s *ownership.Session) (err error) {
		r.Status, err = s.Workspace.Status(ctx)
		return err
	})
	return r, err
}

const doctorCommand = "doctor"

// checkConfig returns what is wrong with the configuration: what it was read with, and what
// the commands that serve would say.
func (e *env) checkConfig() []error {
	errs := e.config.Misspelt()
	if list, ok := e.configErr.(interface{ Unwrap() []error }); ok {
		return append(errs, list.Unwrap()...)
	}
	if e.configErr != nil {
		return append(errs, e.configErr)
	}
	var o serveOptions
	cmd := &cobra.Command{Use: "mount"}
	(&cobra.Command{}).AddCommand(cmd)
	o.register(cmd)
	if err := e.config.Apply(cmd); err != nil {
		return append(errs, err)
	}
	log, err := o.log.logger(e.stderr)
	if err != nil {
		errs = append(errs, err)
	}
	_, err = o.session(log)
	for _, err := range []error{err, o.check(), o.yjs.Check()} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func newDoctorCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   doctorCommand + " [SOURCE...]",
		Short: "Check what a mount needs, and say how to mend it",
		Long: `Doctor checks what a mount needs: FUSE, its helper and the rights to mount, dead
mounts, the state folder and its disk, for each SOURCE the folder, its disk and
the limit of watches, and the folders of what runs. A line begins with ok, warn
or fail; the exit code is 1 if something fails.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var r *doctor.Report
			err := abandonable(cmd.Context(), func() (err error) {
				r, err = doctor.Examine(cmd.Context(), doctor.Options{
					Sources: e.config.SourcesOr(args), Only: len(args) > 0, Folders: f.folders, Audience: f.audience, State: f.state,
					Version: version(), Author: defaultAuthor(), Values: e.config.Values(), Config: e.checkConfig(),
				})
				return err
			})
			if err != nil {
				return err
			}
			return errors.Join(show(e, asJSON, r, doctor.Print), r.Verdict())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.registerState(cmd)
	return cmd
}

// release is set by the linker for released builds: -X main.release=v1.2.3.
var release string

// version names this build: the release, or the commit it was built from.
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
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and how it was built",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			build := map[string]string{"version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
			return show(e, asJSON, build, func(w io.Writer, b map[string]string) error {
				_, err := fmt.Fprintf(w, "relayfs %s (%s, %s/%s)\n", b["version"], b["go"], b["os"], b["arch"])
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
