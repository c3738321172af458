package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

func newAdoptCommand(e *env) *cobra.Command {
	var f workspaceFlags
	cmd := &cobra.Command{
		Use:   "adopt OLD VAULT",
		Short: "Take over what is kept for a vault that was moved",
		Long: `Adopt lets the vault in the directory VAULT have the authors, the log and the
proposals of the vault that was in the directory OLD, or whose state folder OLD
is. relayfs does so by itself for a vault that was moved or renamed on its disk;
this is for the others, such as one that was copied to another disk. What was
kept for VAULT so far is set aside. OLD must not be a vault any more.`,
		Example: "  relayfs adopt ~/Notes /mnt/disk/Notes",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			base, err := source.StateDir(f.state)
			if err != nil {
				return err
			}
			src, err := source.ParseVault(args[1])
			if err != nil {
				return err
			}
			from, err := keptFor(base, args[0])
			if err != nil {
				return err
			}
			aside, err := owner.Adopt(from, owner.LockRequest{Vault: src.Dir, Name: src.Place(), State: src.OwnState(base)})
			if err != nil {
				return err
			}
			fmt.Fprintf(e.stderr, "%s has the authors, log and proposals of %s\n", src.Place(), args[0])
			if aside != "" {
				fmt.Fprintf(e.stderr, "what was kept for it so far is in %s\n", aside)
			}
			return nil
		},
	}
	registerState(e, cmd, &f.state)
	return cmd
}

// keptFor returns the state folder of the vault that was at old, or old if that is a state folder.
func keptFor(base, old string) (string, error) {
	dir, err := filepath.Abs(old)
	if err != nil {
		return "", err
	}
	if filepath.Dir(dir) == source.VaultsDir(base) {
		return dir, nil
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(real, filepath.Base(dir))
	}
	state := source.Source{Dir: dir}.OwnState(base)
	if _, err := os.Stat(state); errors.Is(err, fs.ErrNotExist) {
		return "", cli.WithHint(fmt.Errorf("nothing is kept for a vault %q", old), "the state folders are in "+source.VaultsDir(base))
	}
	return state, nil
}
