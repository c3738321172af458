package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/config"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
)

type statusReport struct {
	Owner *owner.Info `json:"owner,omitempty"` // nil if no owner is running
	Error string      `json:"error,omitempty"` // the owner's error, if it sent no report
	Token string      `json:"token,omitempty"` // bearer token of the owner's HTTP port, with --show-token
	// NewConfig means that the owner's configuration file has changed since its start.
	NewConfig bool `json:"newConfig,omitempty"`
	bridge.Status
	Others []statusReport `json:"others,omitempty"` // reports of the other owners, if no source was named
}

// askAll returns the report of the first owner. The report includes the reports of the other owners.
func askAll(ctx context.Context, owners []owner.Info, secrets, inAgent bool) (r statusReport, err error) {
	for i, info := range owners {
		c := owner.NewClient(info)
		c.Agent = inAgent
		one, failed := askStatus(ctx, api.NewClient(c), secrets)
		if failed != nil {
			one.Error = cli.Text(failed)
			err = errors.Join(err, failed)
		}
		if i == 0 {
			r = one
		} else {
			r.Others = append(r.Others, one)
		}
	}
	return r, err
}

func askStatus(ctx context.Context, c *api.Client, secrets bool) (r statusReport, err error) {
	info := c.Owner()
	r.Owner, r.NewConfig = &info, config.SumOf(info.Config) != info.ConfigSum
	if r.Status, err = c.Status(ctx); err != nil || !secrets {
		return r, err
	}
	if info.HTTP != nil {
		if r.Token, err = secret.ReadToken(info.HTTP.TokenFile); err != nil {
			return r, err
		}
	}
	return r, err
}

func printStatus(w io.Writer, r statusReport) {
	switch {
	case r.Error != "": // the error already names the owner
		cli.Line(w, "%s", r.Error)
	case r.Owner == nil:
		fmt.Fprintln(w, "not running")
	default:
		printOwner(w, &r)
	}
	printServed(w, &r)
	for _, other := range r.Others {
		fmt.Fprintln(w)
		printStatus(w, other)
	}
}

func printOwner(w io.Writer, r *statusReport) {
	cli.Line(w, "running: %v since %s", r.Owner, r.Owner.Started.Local().Format("2006-01-02 15:04"))
	fmt.Fprintf(w, "mode: %s, view: %s%s\n", r.Mode, r.View, map[bool]string{true: ", read-only"}[r.ReadOnly])
	if r.NewConfig {
		cli.Line(w, "NEW CONFIGURATION: %s has changed since then; restart relayfs to use it", r.Owner.Config)
	}
	cli.Line(w, "log: %s", cmp.Or(r.Owner.Log, "stderr of that process"))
	if h := r.Owner.HTTP; h != nil {
		cli.Line(w, "MCP: %s", h.URL)
		cli.Line(w, "token: %s", cmp.Or(r.Token, "in "+h.TokenFile+"; --show-token prints it"))
	}
}

func printServed(w io.Writer, r *statusReport) {
	for _, f := range r.Roots {
		facts := []string{cli.Plural(f.Notes, "note"), cli.Plural(f.Files, "other file"), cli.Plural(f.Suggestions, "pending suggestion")}
		if f.Proposals > 0 {
			facts = append(facts, cli.Plural(f.Proposals, "pending proposal"))
		}
		if f.Offline {
			facts = append(facts, "OFFLINE: its directory is missing or empty")
		}
		if f.ReadOnly != "" && f.Sync == nil {
			facts = append(facts, "READ-ONLY: "+f.ReadOnly)
		}
		cli.Line(w, "%s: %s", f.Name, strings.Join(facts, ", "))
		if f.Sync != nil {
			printSync(w, &f)
		}
		printList(w, f.Misnamed, func(name string) string {
			return "not shown, because its name is not UTF-8; rename it in the vault: " + name
		})
		printList(w, f.Problems, func(p model.Problem) string {
			return fmt.Sprintf("PROBLEM since %s: %s", clockTime(p.Since), p.Text)
		})
	}
}

const maxListed = 10

func printList[T any](w io.Writer, list []T, text func(T) string) {
	for _, item := range list[:min(len(list), maxListed)] {
		cli.Line(w, "  %s", text(item))
	}
	if more := len(list) - maxListed; more > 0 {
		cli.Line(w, "  and %d more", more)
	}
}

func clockTime(t time.Time) string {
	t = t.Local()
	if time.Now().Format(time.DateOnly) == t.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

func printSync(w io.Writer, f *bridge.RootStatus) {
	s := f.Sync
	state := "not connected"
	switch {
	case s.Connected && !s.SilentSince.IsZero():
		state = "connected, but no answer since " + clockTime(s.SilentSince)
	case s.Connected:
		state = "connected"
	case s.LastError == "":
		state = "connecting"
	}
	facts := []string{fmt.Sprintf("  %s: %s", s.Server, state)}
	if s.ReadOnly {
		facts = append(facts, "READ-ONLY")
	}
	stored := !slices.ContainsFunc(f.Problems, func(p model.Problem) bool { return p.About == model.AboutStore })
	if !stored {
		facts = append(facts, "changes cannot be stored here")
	}
	switch {
	case s.Unsent > 0:
		facts = append(facts, fmt.Sprintf("%s with unacknowledged changes", cli.Plural(s.Unsent, "document")))
	case stored:
		facts = append(facts, "everything is acknowledged")
	}
	if s.Unfetched > 0 {
		facts = append(facts, cli.Plural(s.Unfetched, "note")+" to be fetched")
	}
	cli.Line(w, "%s", strings.Join(facts, ", "))
	switch {
	case !s.Connected:
	case s.Uncompared > 0:
		cli.Line(w, "  %s not compared with the server since the start", cli.Plural(s.Uncompared, "note"))
	case !s.Compared.IsZero():
		cli.Line(w, "  every note was compared with the server within the last %v", time.Since(s.Compared).Round(time.Second))
	}
	isProblem := slices.ContainsFunc(f.Problems, func(p model.Problem) bool { return p.Text == s.LastError })
	if s.LastError != "" && !isProblem {
		cli.Line(w, "  %s", s.LastError)
	}
	for _, warning := range s.Warnings {
		cli.Line(w, "  warning: %s", warning)
	}
	printList(w, s.Hidden, func(path string) string {
		return fmt.Sprintf("not shown, because its name has control characters; rename it on the server: %q", path)
	})
}
