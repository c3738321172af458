package bridge

import (
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/review"
)

type Mode = note.Mode

const (
	Suggest = note.Suggest
	Direct  = note.Direct
)

func ParseMode(s string) (Mode, error) {
	i, err := parseName(s, "mode", []string{Suggest.String(), Direct.String()})
	return Mode(i), err
}

type StructurePolicy = namespace.Policy

const (
	StructurePropose = namespace.Propose
	StructureDirect  = namespace.Direct
	StructureDeny    = namespace.Deny
)

func ParseStructurePolicy(s string) (StructurePolicy, error) {
	i, err := parseName(s, "structure policy", []string{StructurePropose.String(), StructureDirect.String(), StructureDeny.String()})
	return StructurePolicy(i), err
}

// CheckRules returns an error if a glob for Options.Hide or Options.Lock is invalid.
func CheckRules(hide, lock []string) error {
	_, err := namespace.NewRules(hide, lock)
	return err
}

func parseName(s, what string, names []string) (int, error) {
	i := slices.Index(names, s)
	if i < 0 {
		return 0, fmt.Errorf("%s %q is not one of %s", what, s, strings.Join(names, ", "))
	}
	return i, nil
}

type (
	Info          = namespace.Info
	Write         = note.Write
	Result        = note.Result
	ChangeRequest = namespace.ChangeRequest
	ChangeResult  = namespace.ChangeResult
	UntouchedNote = namespace.UntouchedNote
	Outcome       = review.Outcome
	CommentAnchor = review.CommentAnchor
	Resolved      = review.Resolved
)

// ErrNothingToUndo is the error for a batch, an item or a session without anything to undo.
var ErrNothingToUndo = review.ErrNothingToUndo

// RootSource is one root of a workspace: its name in the tree, the source of its documents, and the store of their
// updates. A store belongs to one source, independent of the root's name and of the other roots.
type RootSource struct {
	Name   string
	Vault  string // the vault's name in Obsidian, "" if unknown
	Source model.Source
	Store  model.Store
}

const defaultCacheBytes = 256 << 20

// Options configure a Workspace. At least one root is required; zero values of the other fields are the defaults.
type Options struct {
	note.Options
	Roots     []RootSource
	Structure StructurePolicy
	// Hide and Lock are globs: agents cannot reach paths that match Hide, and cannot change paths that match Lock; see
	// Workspace.ForAgents.
	Hide, Lock []string
}

// ObsidianURL returns the obsidian:// URL of the document at p, or "" if the name of the root's vault is unknown. p
// must be a source path.
func (o *Options) ObsidianURL(p model.Path) string {
	folder, rel := p.Split()
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") } // Obsidian does not decode a plus
	for _, f := range o.Roots {
		switch {
		case f.Name != folder || f.Vault == "":
		case rel == "":
			return "obsidian://open?vault=" + escape(f.Vault)
		default:
			return "obsidian://open?vault=" + escape(f.Vault) + "&file=" + escape(rel)
		}
	}
	return ""
}

func (o *Options) check() error {
	seen := make(map[string]bool)
	for _, f := range o.Roots {
		if err := model.CheckName(f.Name); err != nil {
			return fmt.Errorf("folder name %q: %w", f.Name, err)
		}
		if f.Source == nil || f.Store == nil {
			return fmt.Errorf("folder %q has no source or no store", f.Name)
		}
		if seen[f.Name] {
			return fmt.Errorf("two folders are named %q: name one of them with NAME=DIR", f.Name)
		}
		seen[f.Name] = true
	}
	if len(seen) == 0 {
		return fmt.Errorf("workspace has no folders")
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = defaultCacheBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}
