package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
)

// suggestion is the JSON of one pending change.
type suggestion struct {
	ID       string    `json:"id"`
	Path     string    `json:"path"`
	Line     int       `json:"line"` // 1-based, in the accepted view
	Kind     string    `json:"kind"`
	Old      string    `json:"old"`
	New      string    `json:"new"`
	Author   string    `json:"author"`
	Session  string    `json:"session"`
	Time     time.Time `json:"time,omitzero"`
	Comments []string  `json:"comments"`
}

func listSuggestions(ctx context.Context, ws *bridge.Workspace, under string) ([]suggestion, error) {
	list, err := ws.Suggestions(ctx, bridge.Path(under))
	if err != nil {
		return nil, err
	}
	out := make([]suggestion, len(list))
	for i, s := range list {
		out[i] = suggestion{
			ID: s.ID, Path: string(s.Path), Line: s.Line, Kind: s.Kind.String(), Old: s.Old, New: s.New,
			Author: s.Author, Session: s.Session, Time: s.Time, Comments: append([]string{}, s.Comments...),
		}
	}
	return out, nil
}

// listOptions are the flags of 'relayfs suggestions list'.
type listOptions struct {
	workspaceFlags
	glob   string
	byName string
	json   bool
}

func newSuggestionsCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "suggestions",
		Short: "Changes that wait for a person",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.Help()
			return errHelpShown
		},
	}
	cmd.AddCommand(newSuggestionsListCommand(e))
	return cmd
}

func newSuggestionsListCommand(e *env) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list [SOURCE...]",
		Short: "List pending suggestions",
		Long: `List asks the running relayfs that serves SOURCE, or the only one that runs;
without one it reads the vault itself.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args) },
	}
	cmd.Flags().StringVar(&o.glob, "path", "", "only notes whose path matches, for example 'Notes/Projects/**'")
	cmd.Flags().StringVar(&o.byName, "author", "", "only suggestions of this author")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON array")
	o.registerState(cmd)
	o.log.register(cmd)
	return cmd
}

func (o *listOptions) run(ctx context.Context, e *env, args []string) error {
	if o.glob != "" && !doublestar.ValidatePattern(o.glob) {
		return usagef("--path %q is not a valid pattern", o.glob)
	}
	var list []suggestion
	err := ask(ctx, e, &o.workspaceFlags, args, suggestionsPath, &list,
		func(ws *bridge.Workspace) (any, error) { return listSuggestions(ctx, ws, "") })
	if err != nil {
		return err
	}
	list = o.filter(list)
	if o.json {
		return printJSON(e.stdout, list)
	}
	return printSuggestions(e.stdout, list)
}

func (o *listOptions) filter(list []suggestion) []suggestion {
	kept := []suggestion{}
	for _, s := range list {
		if o.glob != "" && !doublestar.MatchUnvalidated(o.glob, s.Path) && !doublestar.MatchUnvalidated(o.glob, path.Base(s.Path)) {
			continue
		}
		if o.byName != "" && s.Author != o.byName {
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// ask gets a result from the owner of the sources, or from the workspace itself
// when nobody owns it.
func ask(ctx context.Context, e *env, f *workspaceFlags, args []string, path string, v any,
	self func(*bridge.Workspace) (any, error)) error {
	info, err := findOwner(f, args)
	if err != nil {
		return err
	}
	if info != nil {
		return owner.NewClient(*info).Get(ctx, path, url.Values{}, v)
	}
	if len(args) == 0 {
		return &hintError{fmt.Errorf("no relayfs is running"), "name the vault: relayfs ... ~/Notes"}
	}
	return fromSelf(ctx, e, f, args, v, self)
}

// findOwner finds the running owner of the sources, or the only one; nil if
// nobody owns the sources.
func findOwner(f *workspaceFlags, args []string) (*owner.Info, error) {
	base, err := stateDir(f.state)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 {
		sources, err := parseSources(args)
		if err != nil {
			return nil, err
		}
		info, err := owner.Read(sources[0].state(base))
		if err != nil || !owner.Answers(*info) {
			return nil, nil
		}
		return info, nil
	}
	live, err := owner.Live(vaultsDir(base))
	switch {
	case err != nil:
		return nil, err
	case len(live) == 1:
		return &live[0], nil
	case len(live) > 1:
		names := make([]string, len(live))
		for i, l := range live {
			names[i] = l.String()
		}
		return nil, usagef("several relayfs processes run (%s): name the vault", strings.Join(names, ", "))
	}
	return nil, nil
}

// fromSelf opens the workspace for one question.
func fromSelf(ctx context.Context, e *env, f *workspaceFlags, args []string, v any, self func(*bridge.Workspace) (any, error)) error {
	log, err := f.log.logger(e.stderr)
	if err != nil {
		return err
	}
	sources, err := parseSources(args)
	if err != nil {
		return err
	}
	s, err := openSession(ctx, sources, &workspaceFlags{
		mode: "suggest", view: "accepted", dialect: "plain", frontMatter: "direct", structure: "propose", state: f.state,
	}, log)
	if err != nil {
		return err
	}
	defer s.close()
	got, err := self(s.ws)
	if err != nil {
		return err
	}
	data, err := json.Marshal(got)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func printSuggestions(w io.Writer, list []suggestion) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range list {
		who := s.Author
		if !s.Time.IsZero() {
			who += ", " + s.Time.Local().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(tw, "%s\t%s:%d\t%s\t%s\n", s.ID, s.Path, s.Line, marks(s), who)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n", plural(len(list), "pending suggestion"))
	return err
}

// marks shows a suggestion on one line, as it stands in the note.
func marks(s suggestion) string {
	var b strings.Builder
	if s.Old != "" {
		b.WriteString("{--" + shorten(s.Old) + "--}")
	}
	if s.New != "" {
		b.WriteString("{++" + shorten(s.New) + "++}")
	}
	return b.String()
}

// shorten keeps a side of a suggestion on one line of a terminal.
func shorten(s string) string {
	const limit = 60 // characters
	s = strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\t", " ").Replace(s)
	if r := []rune(s); len(r) > limit {
		return string(r[:limit/2]) + " … " + string(r[len(r)-limit/3:])
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
