package main

import (
	"cmp"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/backup"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

func newBackupCommand(e *env) *cobra.Command {
	var f workspaceFlags
	cmd := &cobra.Command{
		Use:   "backup DIR [SOURCE...]",
		Short: "Copy what relayfs keeps beside the notes",
		Long: `Backup makes the folder DIR, with what relayfs keeps for the vaults and for
folders of servers: authors, sessions, suggestions, proposals, decisions, the
history of the notes, what a server has yet to get, and its attachments. It can be
made while relayfs runs, and holds nobody up. The files of a vault are not in it:
back them up after it, as before. Nor is any token, key or login.`,
		Example: "  relayfs backup ~/backups/relayfs-$(date +%F)",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			return f.ask(cmd.Context(), e, args[1:], func(c *api.Client) error {
				m, err := backup.Write(cmd.Context(), c, dir, version(), progress)
				progress("")
				if err != nil {
					return err
				}
				return show(e, m, func(w io.Writer, m backup.Manifest) {
					for _, folder := range m.Folders {
						cli.Line(w, "%s  %s", folder.Name, folder.Place)
					}
					cli.Line(w, "%s in %s", backup.Size(m.Bytes), dir)
				})
			})
		},
	}
	e.offerJSON(cmd)
	f.registerClient(e, cmd)
	return cmd
}

func newRestoreCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var o backup.Options
	cmd := &cobra.Command{
		Use:   "restore DIR [SOURCE...]",
		Short: "Put back what 'relayfs backup' has copied",
		Long: `Restore puts back what the backup in DIR has of the vaults and of folders of
servers, or of those named: NAME=DIR is for a vault that is elsewhere now. Nobody
may serve them meanwhile. It compares all files with their checksums first, and
refuses to take the place of what changed later than the backup, but for --replace.
What it replaces is set aside in the state folder. For each folder all of it
is done or nothing, also when the machine stops.
The files of a vault stay as they are: what people wrote there since the backup was
made is taken over when relayfs starts.`,
		Example: "  relayfs restore ~/backups/relayfs-2026-01-31\n  relayfs restore ~/backups/relayfs-2026-01-31 Notes=/mnt/disk/Notes",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.refuseAgent("restoring", ""); err != nil {
				return err
			}
			b, err := backup.Open(args[0], progress)
			progress("")
			if err != nil {
				return err
			}
			sources, err := source.Parse(b.Sources(args[1:]), f.state)
			if err != nil {
				return err
			}
			if o.Base, err = source.StateDir(f.state); err != nil {
				return err
			}
			list, err := b.Restore(sources, o)
			if len(list) == 0 && err != nil {
				return err
			}
			return cmp.Or(err, show(e, list, printRestored))
		},
	}
	e.offerJSON(cmd)
	cmd.Flags().BoolVar(&o.Replace, "replace", false, "also in the place of what changed later than the backup")
	f.registerState(e, cmd)
	return cmd
}

func printRestored(w io.Writer, list []backup.Restored) {
	for _, r := range list {
		cli.Line(w, "%s  %s, as of %s", r.Name, r.Place, r.Changed.Local().Format("2006-01-02 15:04:05"))
		switch {
		case r.Damaged != "":
			cli.Line(w, "  what was there before was damaged, and is in %s", r.Aside)
		case r.Aside != "":
			cli.Line(w, "  what was there before is a backup in %s", r.Aside)
		}
	}
}

// compacted is what a compaction did for one folder.
type compacted struct {
	Name string `json:"name"`
	store.Gain
}

func newCompactCommand(e *env) *cobra.Command {
	var f workspaceFlags
	cmd := &cobra.Command{
		Use:   "compact [SOURCE...]",
		Short: "Make what relayfs keeps smaller",
		Long: `Compact merges the changes of each document, takes what is older than --history
of the mount out of the histories, and gives the freed space back to the disk. A
running relayfs does the first two by itself, for notes that change. It can be done
while relayfs runs. Without one running, nothing is taken out of the histories
unless the configuration has history.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.keep, err = parseRetention(f.history); err != nil {
				return err
			}
			ctx := cmd.Context()
			return f.ask(ctx, e, args, func(c *api.Client) error {
				folders, err := c.Kept(ctx)
				if err != nil {
					return err
				}
				list := []compacted{}
				for _, folder := range folders {
					gain, err := c.Compact(ctx, folder.Name)
					if err != nil {
						return err
					}
					list = append(list, compacted{folder.Name, gain})
				}
				return show(e, list, func(w io.Writer, list []compacted) {
					for _, c := range list {
						cli.Line(w, "%s  %s, %s before", c.Name, backup.Size(c.After), backup.Size(c.Before))
					}
				})
			})
		},
	}
	e.offerJSON(cmd)
	e.settings(cmd).StringVar(&f.history, "history", "0", "how long to keep history, 0 for ever")
	f.registerClient(e, cmd)
	return cmd
}
