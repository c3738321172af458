package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// newOutcomesCommand returns the log as a command at the top level, so that an agent's permissions can include it
// without the other commands on suggestions.
func newOutcomesCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var hook bool
	cmd := logCommand(e, &f, "outcomes", "List decisions on suggestions and their reasons, for agents")
	list := cmd.RunE
	cmd.Flags().BoolVar(&hook, "hook", false, "as a hook of Claude Code: print only decisions that are new to the session")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !hook {
			return list(cmd, args)
		}
		return f.tellNews(cmd.Context(), e)
	}
	return cmd
}

type hookInput struct {
	Session string `json:"session_id"`
	Dir     string `json:"cwd"`
}

// reportedDecisions records which decisions relayfs has reported to a session of Claude Code: all decisions up to
// Until. Sessions are the mount's sessions for the processes of Claude Code; each process has its own.
type reportedDecisions struct {
	Sessions []string `json:"sessions"`
	Until    uint64   `json:"until"` // LogEntry.Order of the last decision
}

const (
	keepTold   = 60 * 24 * time.Hour
	maxNews    = 40 // maximum number of suggestions in the output
	maxJournal = 300
)

var claudeSession = regexp.MustCompile(`^[0-9A-Za-z-]{1,100}$`) // restricted because the name of a file contains the session ID

// tellNews prints the user's decisions on the suggestions of a session of Claude Code since the session's last prompt.
// The output of a hook becomes part of the model's context. If no relayfs runs, tellNews prints nothing.
func (f *workspaceFlags) tellNews(ctx context.Context, e *env) error {
	var in hookInput
	if err := json.NewDecoder(e.stdin).Decode(&in); err != nil || !claudeSession.MatchString(in.Session) {
		return errors.New("--hook needs the input of a hook of Claude Code on stdin")
	}
	c, _, err := f.search().At(ctx, cmp.Or(in.Dir, "."))
	if c == nil || err != nil {
		return err
	}
	q := api.NewClient(c)
	base, err := source.StateDir(f.state)
	if err != nil {
		return err
	}
	dir, name := owner.Folder(base).Sub("claude"), in.Session+".json"
	var before reportedDecisions
	if data, err := dir.Read(name); err == nil {
		_ = json.Unmarshal(data, &before) // a damaged file counts as missing
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now := before
	if own := f.ownSession(ctx, q); !slices.Contains(now.Sessions, own) {
		now.Sessions = append(slices.Clone(now.Sessions), own)
	}
	log, err := q.Log(ctx, maxJournal)
	if err != nil {
		return err
	}
	for _, x := range log { // the notes of a batch are sorted by path
		now.Until = max(now.Until, x.Order)
	}
	if lines := newsIn(log, now.Sessions, before.Until); len(lines) > 0 {
		fmt.Fprintln(e.stdout, "Since your last prompt the user has decided on some of your suggestions in the notes:")
		for _, line := range lines[:min(len(lines), maxNews)] {
			fmt.Fprintln(e.stdout, "- "+line)
		}
		if len(lines) > maxNews {
			fmt.Fprintf(e.stdout, "- and %d more: 'relayfs outcomes' lists them\n", len(lines)-maxNews)
		}
	}
	if now.Until == before.Until && len(now.Sessions) == len(before.Sessions) {
		return nil
	}
	return remember(dir, name, now)
}

func remember(dir owner.Folder, name string, now reportedDecisions) error {
	if err := dir.Make(); err != nil {
		return err
	}
	list, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	for _, old := range list {
		if info, err := old.Info(); err == nil && time.Since(info.ModTime()) > keepTold {
			_ = dir.Remove(old.Name())
		}
	}
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return dir.Replace(name, data)
}

// newsIn returns a line for each decision that is newer than the log order after and concerns a suggestion of the
// sessions, oldest first. It omits decisions that lapsed or were undone, and link updates that belong to a rename.
func newsIn(log []reviewqueue.LogEntry, sessions []string, after uint64) (lines []string) {
	became := map[string]string{
		string(model.Accepted): "accepted", string(model.Rejected): "rejected", string(model.Changed): "accepted with another text", string(model.Undone): "decision undone, pending again",
	}
	fresh := make(map[string]bool) // batches in the log so far; the undo of such a batch is not reported
	for _, x := range slices.Backward(log) {
		if became[x.Action] == "" || x.Lapsed || x.Order <= after || fresh[x.Undoes] {
			continue
		}
		fresh[x.Batch] = true
		for _, s := range x.Suggestions {
			if s.Undone || s.Proposal != "" || !slices.Contains(sessions, s.Session) {
				continue
			}
			line := became[x.Action] + ": " + cli.OneLine(x.Path)
			if s.Line > 0 {
				line += fmt.Sprintf(":%d", s.Line)
			}
			line += ", " + described(&s)
			if x.Reason != "" {
				line += ", because: " + cli.OneLine(x.Reason)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// described describes a suggestion in words, without marks, because the model might repeat marks in a note.
func described(s *reviewqueue.LogItem) string {
	quoted := func(text string) string { return fmt.Sprintf("%q", reviewqueue.Shorten(strings.TrimSpace(text))) }
	what := ""
	switch {
	case s.Kind == string(model.ProposedRename):
		return "the rename to " + cli.OneLine(s.New)
	case s.Kind == string(model.ProposedDelete):
		return "the deletion"
	case s.Kind == string(model.ProposedFile):
		return "the new content"
	case s.Old == "":
		what = quoted(s.New) + " added"
	case s.New == "":
		what = quoted(s.Old) + " deleted"
	default:
		what = quoted(s.Old) + " replaced by " + quoted(s.New)
	}
	if s.ReplacedBy != nil {
		what += ", it now reads " + quoted(*s.ReplacedBy)
	}
	return what
}
