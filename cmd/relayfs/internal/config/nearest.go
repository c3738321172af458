package config

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

// UsageWithSuggestion returns a usage error about an unknown word. If one of the known words is like it, the hint
// asks whether that was meant; format is how the hint shows it.
func UsageWithSuggestion(err error, word, format string, known []string) error {
	// cobra knows which of its commands is like a word.
	words := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range known {
		words.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	err = cli.Usage(err)
	if like := words.SuggestionsFor(word); len(like) > 0 {
		return cli.WithHint(err, "did you mean "+fmt.Sprintf(format, like[0])+"?")
	}
	return err
}
