package main

import (
	"cmp"
	"errors"
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
		Short: "Back up relayfs's own data (authors, suggestions, history)",
		Long: `Backup writes relayfs's own data to one file: authors, sessions, suggestions,
proposals, decisions and the history of the notes; for folders of servers also
unsent changes and attachments. You can make a backup while relayfs runs.
The backup contains neither the files of a vault, which you back up yourself
afterwards, nor tokens, keys or logins.`,
		Example: "  relayfs backup ~/backups/relayfs-$(date +%F).zip",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.refuseAgent("a backup, which contains hidden notes,", "run 'relayfs backup' in a terminal"); err != nil {
				return err
			}
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
		Short: "Restore a backup made by 'relayfs backup'",
		Long: `Restore restores relayfs's data for the vaults and server folders in FILE, or only
for those you name. Use NAME=DIR for a vault that has moved. Stop relayfs for them
first. Restore verifies the whole backup before it changes anything. Existing data
is replaced only with --replace, and set aside in the state folder. Each folder is
restored completely or not at all, even if the machine stops.
The files of a vault do not change. relayfs adopts changes that were made there
since the backup when it starts.`,
		Example: "  relayfs restore ~/backups/relayfs-2026-01-31.zip\n  relayfs restore ~/backups/relayfs-2026-01-31.zip Notes=/mnt/disk/Notes",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.refuseAgent("restoring", "run 'relayfs restore' in a terminal"); err != nil {
				return err
			}
			b, err := backup.Open(args[0])
			if err != nil {
				return err
			}
			defer b.Close()
			sources, err := source.Parse(b.Sources(args[1:]), f.state)
			if missing, ok := errors.AsType[*source.MissingError](err); ok {
				err = cli.WithHint(missing, "if the vault is at another path on this machine, name it: relayfs restore FILE NAME=DIR")
			}
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
						cli.Line(w, "  the previous data is in %s", r.Aside)
					}
				}
			}))
		},
	}
	e.addJSONFlag(cmd)
	cmd.Flags().BoolVar(&replace, "replace", false, "set existing data aside and replace it")
	f.registerState(e, cmd)
	return cmd
}
