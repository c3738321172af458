package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/control"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/page"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

type loginOptions struct {
	api, auth, provider, state string
}

func accountOf(state string) (*source.Account, error) {
	base, err := source.StateDir(state)
	return source.AccountOf(base), err
}

func newLoginCommand(e *env) *cobra.Command {
	var o loginOptions
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Log in to Relay's hosted service, to mount folders shared with you",
		Long: `Login prints an address, opens it in a browser if there is a desktop, and waits until
you have logged in there. Then 'relayfs folders' lists the folders that are shared
with you, and 'relayfs mount relay:NAME' mounts one. The login is stored in the
system's keyring, or in a file that only you can read.

A third party, System3, runs the service for Obsidian's plugin Relay. Its terms
apply. The settings api and auth name another service with the same API.`,
		Example: "  relayfs login\n  relayfs login --provider google",
		Args:    usageArgs(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), e) },
	}
	fl, set := cmd.Flags(), e.settings(cmd)
	set.StringVar(&o.api, "api", "https://api.system3.md", "URL of the service for 'relayfs login'")
	set.StringVar(&o.auth, "auth", "https://auth.system3.md", "URL of the service's PocketBase (users and folders)")
	fl.StringVar(&o.provider, "provider", "", "login provider, such as google or github, if the service has several")
	registerState(e, cmd, &o.state)
	return cmd
}

const loginTimeout = 5 * time.Minute

func (o *loginOptions) run(ctx context.Context, e *env) error {
	service, err := control.ParseService(o.api, o.auth)
	if err != nil {
		return cli.Usage(err)
	}
	acc, err := accountOf(o.state)
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	login, err := acc.Client.Login(wait, service, o.provider, func(address string) {
		fmt.Fprintf(e.stderr, "open this address in a browser within %v, and log in there (Ctrl-C to stop waiting):\n", loginTimeout)
		cli.Line(e.stdout, "%s", address)
		if hasDesktop() {
			_ = page.OpenBrowser(ctx, address) // the address is also printed
		}
	})
	switch {
	case errors.Is(err, control.ErrProvider):
		return cli.WithHint(err, "name a provider with --provider")
	case errors.Is(err, context.DeadlineExceeded):
		return cli.WithHint(fmt.Errorf("no login within %v", loginTimeout), "run 'relayfs login' again")
	case err != nil:
		return err
	}
	cli.Line(e.stderr, "logged in as %s", login.User)
	list, err := acc.Refresh(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "%s shared with you: see 'relayfs folders'\n", cli.Plural(len(list.Folders), "folder"))
	return nil
}

// hasDesktop reports whether the user can probably see a browser window.
func hasDesktop() bool {
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

func newFoldersCommand(e *env) *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use:   "folders",
		Short: "List the folders that are shared with you",
		Long: `Folders lists the folders that are shared with you at the service of 'relayfs login',
each with the SOURCE for 'relayfs mount' and other commands. Without a network it
prints the last list.`,
		Example: "  relayfs folders\n  relayfs mount relay:Team ~/notes",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			acc, err := accountOf(state)
			if err != nil {
				return err
			}
			list, err := acc.Refresh(cmd.Context())
			if errors.Is(err, transport.ErrUnreachable) {
				cli.Line(e.stderr, "%v; showing the last list", err)
				list, err = acc.Folders()
			}
			if err != nil {
				return err
			}
			return show(e, list.Folders, printFolders)
		},
	}
	e.addJSONFlag(cmd)
	registerState(e, cmd, &state)
	return cmd
}

func printFolders(w io.Writer, folders []control.Folder) {
	if len(folders) == 0 {
		fmt.Fprintln(w, "no folder is shared with you")
	}
	count := make(map[string]int)
	for _, f := range folders {
		count[f.Name]++
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range folders {
		arg := "relay:" + f.Name
		if count[f.Name] > 1 {
			arg = "relay:" + f.ID
		}
		access := "shared"
		if f.Private {
			access = "private"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", cli.OneLine(f.Name), cli.OneLine(arg), access, cli.OneLine(cmp.Or(f.RelayName, f.Relay)), cli.OneLine(f.Creator))
	}
	table.Flush()
}

func newLogoutCommand(e *env) *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Remove the login, the list of folders and their tokens",
		Long: `Logout removes the login from the keyring or its file, the list of folders and the
tokens of documents. Notes on this machine stay. A running mount continues until its
tokens expire, usually within an hour; 'relayfs unmount' ends it at once.`,
		Example: "  relayfs logout",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			acc, err := accountOf(state)
			if err != nil {
				return err
			}
			login, err := acc.Remove()
			if errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintln(e.stderr, "there is no login")
				return nil
			}
			if err != nil {
				return err
			}
			cli.Line(e.stderr, "logged out %s at %s", login.User, login.API)
			return nil
		},
	}
	registerState(e, cmd, &state)
	return cmd
}

// refreshTimeout is the maximum wait for the list of folders. After it, the stored list is used.
const refreshTimeout = 5 * time.Second

// refreshFolders updates the stored list of folders, so that a SOURCE can name a newly shared folder.
func refreshFolders(ctx context.Context, acc *source.Account, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	if _, err := acc.Refresh(ctx); err != nil {
		attrs := []any{model.LogErr, err}
		if hint := transport.Hint(err); hint != "" {
			attrs = append(attrs, model.LogHint, hint)
		}
		log.Warn("cannot refresh the list of folders", attrs...)
	}
}
