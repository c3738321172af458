package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
)

// statusReport is what 'relayfs status --json' prints.
type statusReport struct {
	Owner *owner.Info `json:"owner,omitempty"` // absent if nothing is running
	Token string      `json:"token,omitempty"` // the bearer token of the owner's HTTP port
	// Connection is the connection string of the owner's Yjs port, token included.
	Connection string `json:"connection,omitempty"`
	bridge.Status
}

func newStatusCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [SOURCE...]",
		Short: "Folders, notes, pending suggestions, and who serves them",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStatus(cmd.Context(), e, &f, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.registerState(cmd)
	f.log.register(cmd)
	return cmd
}

func runStatus(ctx context.Context, e *env, f *workspaceFlags, args []string, asJSON bool) error {
	c, err := f.search().Find(ctx, args)
	if err != nil {
		return err
	}
	if c == nil {
		return f.withSession(ctx, e, args, func(s *ownership.Session) error {
			st, err := s.Workspace.Status(ctx)
			if err != nil {
				return err
			}
			return showStatus(e, statusReport{Status: st}, asJSON)
		})
	}
	info := c.Info()
	report := statusReport{Owner: &info}
	if report.Status, err = ownership.Status(ctx, c); err != nil {
		return err
	}
	if info.HTTP != nil {
		if report.Token, err = secret.ReadToken(info.HTTP.TokenFile); err != nil {
			return err
		}
	}
	if info.Yjs != nil {
		if report.Connection, err = ports.ConnectionString(info.Yjs); err != nil {
			return err
		}
	}
	return showStatus(e, report, asJSON)
}

func showStatus(e *env, report statusReport, asJSON bool) error {
	if asJSON {
		return output.JSON(e.stdout, report)
	}
	printStatus(e.stdout, report)
	return nil
}

func printStatus(w io.Writer, r statusReport) {
	if r.Owner == nil {
		fmt.Fprintln(w, "not running")
	} else {
		output.Line(w, "running: %v since %s", r.Owner, r.Owner.Started.Local().Format("2006-01-02 15:04"))
		fmt.Fprintf(w, "mode: %s, view: %s%s\n", r.Mode, r.View, map[bool]string{true: ", read-only"}[r.ReadOnly])
	}
	if r.Token != "" {
		output.Line(w, "MCP: %s", r.Owner.HTTP.URL)
		output.Line(w, "token: %s", r.Token)
	}
	if r.Connection != "" {
		output.Line(w, "Yjs clients: %s", r.Connection)
	}
	for _, f := range r.Folders {
		facts := []string{output.Plural(f.Notes, "note"), output.Plural(f.Files, "other file"), output.Plural(f.Suggestions, "pending suggestion")}
		if f.Proposals > 0 {
			facts = append(facts, output.Plural(f.Proposals, "pending proposal"))
		}
		if f.Offline {
			facts = append(facts, "OFFLINE: its directory is missing or empty")
		}
		if r.Owner != nil && r.Owner.Yjs != nil {
			facts = append(facts, "folder document "+r.Owner.Yjs.Folders[f.Name])
		}
		output.Line(w, "%s: %s", f.Name, strings.Join(facts, ", "))
		if f.Sync != nil {
			printSync(w, f.Sync)
		}
	}
}

// maxHidden is how many names of what is hidden are told.
const maxHidden = 10

// printSync says how far a folder and its server are in step.
func printSync(w io.Writer, s *bridge.SyncStatus) {
	state := "not connected"
	switch {
	case s.Connected:
		state = "connected"
	case s.LastError == "":
		state = "connecting"
	}
	facts := []string{fmt.Sprintf("  %s: %s", s.Server, state)}
	if s.ReadOnly {
		facts = append(facts, "READ-ONLY")
	}
	if s.Unsent > 0 {
		facts = append(facts, fmt.Sprintf("%s with changes that it has not acknowledged", output.Plural(s.Unsent, "document")))
	} else {
		facts = append(facts, "everything is acknowledged")
	}
	if s.Unfetched > 0 {
		facts = append(facts, output.Plural(s.Unfetched, "note")+" to be fetched")
	}
	output.Line(w, "%s", strings.Join(facts, ", "))
	if s.LastError != "" {
		output.Line(w, "  %s", s.LastError)
	}
	for i, path := range s.Hidden {
		if i == maxHidden {
			output.Line(w, "  and %d more", len(s.Hidden)-i)
			break
		}
		output.Line(w, "  not shown, since its name holds control characters; rename it on the server: %q", path)
	}
}
