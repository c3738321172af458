package main

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/backup"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

func newBackupCommand(e *env) *cobra.Command {
	var f workspaceFlags
	cmd := &cobra.Command{
		Use:   "backup FILE [SOURCE...]",
		Short: "Copy what relayfs keeps beside the notes",
		Long: `Backup writes to one file what relayfs keeps for the vaults and for folders of
servers: authors, sessions, suggestions, proposals, decisions, the
history of the notes, what a server has yet to get, and its attachments. It can be
made while relayfs runs, and holds nobody up. The files of a vault are not in it:
back them up after it, as before. Nor is any token, key or login.`,
		Example: "  relayfs backup ~/backups/relayfs-$(date +%F).zip",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			return f.ask(ctx, e, args[1:], func(c *api.Client) error {
				folders, err := c.Stores(ctx)
				if err != nil {
					return err
				}
				m, err := backup.Write(file, version(), folders, func(f backup.Folder, w io.Writer) error { return c.Copy(ctx, f.Name, w) })
				if err != nil {
					return err
				}
				info, err := os.Stat(file)
				if err != nil {
					return err
				}
				return show(e, m, func(w io.Writer, m backup.Manifest) {
					for _, folder := range m.Folders {
						cli.Line(w, "%v", folder)
					}
					cli.Line(w, "%d KB in %s, as of %s", (info.Size()+999)/1000, file, m.Made.Local().Format(time.DateTime))
				})
			})
		},
	}
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}

func newRestoreCommand(e *env) *cobra.Command {
	var f workspaceFlags
	replace := false
	cmd := &cobra.Command{
		Use:   "restore FILE [SOURCE...]",
		Short: "Put back what 'relayfs backup' has copied",
		Long: `Restore puts back what a backup has of the vaults and of folders of servers, or of
those named: NAME=DIR is for a vault that is elsewhere now. Nobody may serve them
meanwhile. It reads all of the backup first. What is kept already is replaced only
with --replace, and set aside in the state folder. For each folder all of it
is done or nothing, also when the machine stops.
The files of a vault stay as they are: what people wrote there since the backup was
made is taken over when relayfs starts.`,
		Example: "  relayfs restore ~/backups/relayfs-2026-01-31.zip\n  relayfs restore ~/backups/relayfs-2026-01-31.zip Notes=/mnt/disk/Notes",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.refuseAgent("restoring"); err != nil {
				return err
			}
			b, err := backup.Open(args[0])
			if err != nil {
				return err
			}
			defer b.Close()
			sources, err := source.Parse(b.Sources(args[1:]), f.state)
			if err != nil {
				return err
			}
			base, err := source.StateDir(f.state)
			if err != nil {
				return err
			}
			list, err := b.Restore(sources, base, replace)
			if len(list) == 0 && err != nil {
				return err
			}
			return cmp.Or(err, show(e, list, func(w io.Writer, list []*backup.Restored) {
				for _, r := range list {
					cli.Line(w, "%v, as of %s", r.Folder, b.Made.Local().Format(time.DateTime))
					if r.Aside != "" {
						cli.Line(w, "  what was there before is in %s", r.Aside)
					}
				}
			}))
		},
	}
	e.addJSONFlag(cmd)
	cmd.Flags().BoolVar(&replace, "replace", false, "set aside what is kept already")
	f.registerState(e, cmd)
	return cmd
}
