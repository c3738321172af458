package notes

import (
	"context"
	"fmt"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type oneSet struct {
	Path  string                 `arg:"path" is:"path" need:"true" doc:"Path of the note"`
	Set   frontmatter.Properties `arg:"set" doc:"Properties to set, for example {\"status\": \"done\"}; other properties stay"`
	Unset []string               `arg:"unset" doc:"Names of properties to remove"`
}

type setPropertiesArgs struct {
	oneSet
	Notes []oneSet `arg:"notes" for:"path" doc:"Several notes instead of one; set and unset default to those of the call"`
}

type setPropertiesResult struct {
	Updated  int          `json:"updated" doc:"Notes that changed"`
	Failures int          `json:"failed" doc:"Notes that could not be changed"`
	Results  []setOutcome `json:"results" doc:"In the order of the call"`
	LeftOut  int          `json:"left_out,omitempty" doc:"Results that did not fit into the answer"`
}

func (r setPropertiesResult) Failed() bool { return r.Failures == len(r.Results)+r.LeftOut }

type setOutcome struct {
	Path   string `json:"path"`
	Status string `json:"status" doc:"updated, unchanged or failed"`
	Error  string `json:"error,omitempty"`
}

// first returns r with only n of its results. It omits successes before failures.
func (r setPropertiesResult) first(n int) setPropertiesResult {
	succeeded := max(0, n-r.Failures) // number of successes to keep
	kept := []setOutcome{}
	for _, o := range r.Results {
		if o.Error == "" {
			if succeeded--; succeeded < 0 {
				continue
			}
		} else if len(kept) == n {
			break
		}
		kept = append(kept, o)
	}
	return setPropertiesResult{r.Updated, r.Failures, kept, len(r.Results) - len(kept)}
}

func setProperties(ctx context.Context, c *tool.Client, a setPropertiesArgs) (setPropertiesResult, error) {
	list := a.Notes
	switch {
	case list != nil && a.Path != "":
		return setPropertiesResult{}, result.InvalidArgument("Give path for one note, or notes for several, and not both.")
	case list == nil:
		list = []oneSet{a.oneSet}
	}
	var whats []string
	for _, s := range list {
		whats = append(whats, fmt.Sprintf("set %s in %s", result.OneLine(result.PlainJSON(s.Set)), s.Path))
	}
	ctx, err := c.Changes.ApproveAll(ctx, whats)
	if err != nil {
		return setPropertiesResult{}, err
	}
	c = c.Batched()
	var all setPropertiesResult
	for _, s := range list {
		changed, err := s.apply(ctx, c)
		switch {
		case err != nil && a.Notes == nil:
			return setPropertiesResult{}, err
		case err != nil:
			all.Failures++
			all.Results = append(all.Results, setOutcome{s.Path, "failed", tool.ErrorText(err, c.Phrases)})
		case changed:
			all.Updated++
			all.Results = append(all.Results, setOutcome{Path: s.Path, Status: "updated"})
		default:
			all.Results = append(all.Results, setOutcome{Path: s.Path, Status: "unchanged"})
		}
	}
	return result.Fit(len(all.Results), all.first), nil
}

// apply changes one note. The session must have read the values that it replaces or removes.
func (s oneSet) apply(ctx context.Context, c *tool.Client) (changed bool, err error) {
	if len(s.Set)+len(s.Unset) == 0 {
		return false, result.InvalidArgument("There is nothing to change: give the argument \"set\", \"unset\" or both.")
	}
	p, err := c.Resolver.Resolve(ctx, s.Path)
	if err != nil {
		return false, err
	}
	known, read := c.Session.ReadStateOf(p)
	var set string
	var seen textrange.RangeSet // ranges of set that the session has read
	before, res, err := c.Changes.Update(ctx, p, "change the properties of "+string(p), func(current *model.Version) ([]diffwrap.Edit, error) {
		text, err := s.rewrite(current.Text())
		if err != nil {
			return nil, result.InvalidArgument("%s was left as it is: %v. Correct the front matter as text first.", p, err)
		}
		edits := diffwrap.Diff(current.Text(), text)
		now := session.ReadState{Text: current.Text(), ReadRanges: known.RangesIn(current.Text())}
		if err := c.Changes.CheckDeletions(p, now, edits); err != nil {
			return nil, err
		}
		set, seen = text, now.ReadRanges.AfterEdits(edits, true)
		return edits, nil
	})
	if err != nil {
		return res.Changed, err
	}
	if !read {
		c.Session.RecordChange(p, before, res.Version, seen.Rebase(set, res.Version.Text()))
	}
	text := res.Version.Text()
	for _, e := range s.Set { // the session has written all of these, whatever their values were before
		if at, ok := frontmatter.Entry(text, e.Key); ok {
			c.Session.RecordRead(document.OfNote(p, res.Version), besidesComments(text, textrange.Range{Start: at.From, End: at.To})...)
		}
	}
	return res.Changed, err
}

func (s oneSet) rewrite(text string) (string, error) {
	have, err := frontmatter.Parse(text)
	if err != nil || len(s.Set)+len(s.Unset) == 0 {
		return text, err
	}
	for _, e := range s.Set {
		have = have.With(e.Key, e.Value)
	}
	for _, key := range s.Unset {
		have = have.Without(key)
	}
	return frontmatter.Rewrite(text, have)
}
