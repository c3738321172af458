//go:build packaging

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
)

// With the tag packaging, this program is not relayfs. It generates package files from the commands and writes them
// into a folder: man pages, completions and the systemd unit.
func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags packaging ./cmd/relayfs DIR")
		os.Exit(exitUsage)
	}
	if err := writePackaging(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitFailed)
	}
}

func writePackaging(dir string) error {
	// The default of --author in the man pages must not depend on the user who builds them.
	if err := os.Setenv("RELAYFS_AUTHOR", "$USER"); err != nil {
		return err
	}
	root := newRoot(&env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr})
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true
	if err := writeManPages(root, filepath.Join(dir, "man")); err != nil {
		return err
	}
	unit, err := process.Systemd("").Text(process.Unit{Program: "/usr/bin/relayfs"})
	if err != nil {
		return err
	}
	var bash, zsh, fish bytes.Buffer
	return errors.Join(
		root.GenBashCompletionV2(&bash, true), root.GenZshCompletion(&zsh), root.GenFishCompletion(&fish, true),
		writeFile(dir, "relayfs.service", unit),
		writeFile(dir, "completions/relayfs.bash", bash.Bytes()),
		writeFile(dir, "completions/relayfs.zsh", zsh.Bytes()),
		writeFile(dir, "completions/relayfs.fish", fish.Bytes()),
	)
}

// writeManPages writes the pages of cmd and its subcommands. The date of the pages is $SOURCE_DATE_EPOCH, if it is set.
func writeManPages(cmd *cobra.Command, dir string) error {
	if !cmd.IsAvailableCommand() {
		return nil
	}
	var page bytes.Buffer
	w := gzip.NewWriter(&page)
	errs := []error{doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Source: "relayfs " + version(), Manual: "relayfs"}, w), w.Close()}
	errs = append(errs, writeFile(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1.gz", page.Bytes()))
	for _, sub := range cmd.Commands() {
		errs = append(errs, writeManPages(sub, dir))
	}
	return errors.Join(errs...)
}

func writeFile(dir, name string, content []byte) error {
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}
