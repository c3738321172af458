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
		Short: "Move relayfs's data to a vault that has moved",
		Long: `Adopt moves the authors, the log and the proposals kept for OLD (the former
directory of a vault, or its state folder) to the vault in the directory VAULT.
You need it only for a vault that was copied to another disk: relayfs itself finds
a vault that was moved or renamed on its disk. If VAULT already has data, it is set
aside. OLD must not be a vault any more.`,
		Example: "  relayfs adopt ~/Notes /mnt/disk/Notes",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.refuseAgent("moving relayfs's data", "run 'relayfs adopt' in a terminal"); err != nil {
				return err
			}
			base, err := source.StateDir(f.state)
			if err != nil {
				return err
			}
			src, err := source.ParseVault(args[1])
			if err != nil {
				return err
			}
			from, err := stateDirFor(base, args[0])
			if err != nil {
				return err
			}
			aside, err := owner.Adopt(from, owner.LockRequest{Vault: src.Dir, Name: src.Place(), State: src.OwnState(base)})
			if err != nil {
				return err
			}
			fmt.Fprintf(e.stderr, "%s now has the authors, log and proposals of %s\n", src.Place(), args[0])
			if aside != "" {
				fmt.Fprintf(e.stderr, "its previous data is in %s\n", aside)
			}
			return nil
		},
	}
	f.registerState(e, cmd)
	return cmd
}

func stateDirFor(base, old string) (string, error) {
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
		return "", cli.WithHint(fmt.Errorf("there is no data for a vault %q", old), "choose a state folder in "+source.VaultsDir(base))
	}
	return state, nil
}
