package notes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const (
	listTags  = "list"
	addTag    = "add"
	removeTag = "remove"
	renameTag = "rename"
)

type tagsArgs struct {
	Action string `arg:"action" enum:"list|add|remove|rename" def:"\"list\"" doc:"list counts the notes of each tag; the other actions change the tags of notes"`
	Tag    string `arg:"tag" max:"500" doc:"The tag to add, remove or rename"`
	NewTag string `arg:"new_tag" max:"500" doc:"New name of the tag for rename; renaming work to job also renames work/urgent to job/urgent"`
	Path   string `arg:"path" is:"path" doc:"Note, or folder of notes. Leave it out for all; required for add"`
	DryRun bool   `arg:"dry_run" def:"false" doc:"Change nothing; list the notes that would change"`
	result.Listing
}

type tagsResult struct {
	Action   string     `json:"action"`
	Tags     []tagCount `json:"tags,omitempty" doc:"For the action list: the tags, sorted"`
	Notes    []tagged   `json:"notes,omitempty" doc:"Notes that changed or would change, and notes that failed"`
	Count    int        `json:"count" doc:"Number of tags, or of notes that changed or would change"`
	Failures int        `json:"failed,omitempty" doc:"Notes that could not be changed"`
	LeftOut  int        `json:"left_out,omitempty" doc:"Notes that did not fit into the answer"`
	result.Page
}

func (r tagsResult) Failed() bool { return r.Failures > 0 && r.Count == 0 }

type tagCount struct {
	Tag   string `json:"tag"`
	Notes int    `json:"notes" doc:"Number of notes with the tag; notes with only a nested tag do not count"`
}

type tagged struct {
	Path        string `json:"path"`
	FrontMatter int    `json:"frontmatter" doc:"Places in the note's front matter, which changes immediately"`
	Text        int    `json:"text" doc:"Places in the note's text, where the changes become suggestions"`
	Error       string `json:"error,omitempty"`
}

func tags(ctx context.Context, c *tool.Client, a tagsArgs) (tagsResult, error) {
	a.Action = cmp.Or(a.Action, listTags)
	notes, err := notesAt(ctx, c, a.Path)
	if err != nil {
		return tagsResult{}, err
	}
	if a.Action == listTags {
		return a.list(notes)
	}
	if err := a.check(); err != nil {
		return tagsResult{}, err
	}
	var chosen []model.Path
	for _, n := range notes {
		if a.concerns(n) {
			chosen = append(chosen, n.Path)
		}
	}
	if !a.DryRun && len(chosen) > 0 {
		ctx, err = c.Changes.ApproveAll(ctx, []string{fmt.Sprintf("%s in %s", a.phrase(), result.Count(len(chosen), "note"))})
		if err != nil {
			return tagsResult{}, err
		}
	}
	c = c.Batched()
	all := tagsResult{Action: a.Action}
	for _, p := range chosen {
		done, err := a.apply(ctx, c, p)
		switch {
		case err != nil:
			all.Failures++
			done.Error = tool.ErrorText(err, c.Phrases)
		case done.FrontMatter+done.Text == 0:
			continue
		default:
			all.Count++
		}
		all.Notes = append(all.Notes, done)
	}
	// Failures come first, because they matter more.
	slices.SortStableFunc(all.Notes, func(a, b tagged) int { return cmp.Compare(b.Error, a.Error) })
	return result.Fit(len(all.Notes), func(n int) tagsResult {
		res := all
		res.Notes, res.LeftOut = all.Notes[:n], len(all.Notes)-n
		return res
	}), nil
}

func notesAt(ctx context.Context, c *tool.Client, name string) ([]*index.NoteInfo, error) {
	under, err := c.Resolver.Place(ctx, name)
	if err != nil {
		return nil, err
	}
	if under.IsNote() {
		n, err := c.Workspace.NoteInfo(ctx, under)
		return []*index.NoteInfo{n}, err
	}
	return c.Workspace.Notes(ctx, under)
}

func (a tagsArgs) list(notes []*index.NoteInfo) (tagsResult, error) {
	counts := make(map[string]*tagCount)
	var list []*tagCount
	for _, n := range notes {
		for _, tag := range n.Tags {
			key := strings.ToLower(tag)
			if counts[key] == nil {
				counts[key] = &tagCount{Tag: tag}
				list = append(list, counts[key])
			}
			counts[key].Notes++
		}
	}
	key := func(t *tagCount) string { return strings.ToLower(t.Tag) }
	slices.SortFunc(list, func(a, b *tagCount) int { return strings.Compare(key(a), key(b)) })
	res, _, err := result.List(a.Listing, list, key, strings.Compare, len(list), func(t *tagCount) tagCount { return *t }, func(shown []tagCount, page result.Page) tagsResult {
		return tagsResult{Action: listTags, Tags: shown, Count: len(list), Page: page}
	})
	return res, err
}

// check normalises the tags. It returns an error for a tag that is invalid, an added tag without a path, or a rename
// that changes nothing.
func (a *tagsArgs) check() error {
	check := func(argument string, tag *string) error {
		bare, ok := outline.CheckTag(*tag)
		if !ok {
			return result.InvalidArgument("The argument %q is %q, which is not a tag: a tag has no blanks, has none of the characters ,.:;!?#()[]{} and does not consist only of digits.", argument, *tag)
		}
		*tag = bare
		return nil
	}
	err := check("tag", &a.Tag)
	if err == nil && a.Action == renameTag {
		err = check("new_tag", &a.NewTag)
	}
	if err != nil {
		return err
	}
	switch {
	case a.Action == addTag && a.Path == "":
		return result.InvalidArgument("The argument \"path\" is missing: name the note that gets the tag, or the folder whose notes get it.")
	case a.Action == renameTag && a.Tag == a.NewTag:
		return result.InvalidArgument("No change to make: tag and new_tag are the same.")
	}
	return nil
}

func (a tagsArgs) phrase() string {
	if a.Action == renameTag {
		return fmt.Sprintf("rename the tag %q to %q", a.Tag, a.NewTag)
	}
	return fmt.Sprintf("%s the tag %q", a.Action, a.Tag)
}

func (a tagsArgs) concerns(n *index.NoteInfo) bool {
	has := func(tag string) bool { return outline.SameTag(tag, a.Tag) }
	switch a.Action {
	case addTag:
		return !slices.ContainsFunc(n.Tags, has)
	case renameTag:
		return n.HasTag(a.Tag)
	}
	return slices.ContainsFunc(n.Tags, has)
}

func (a tagsArgs) becomes(tag string) (to string, ok bool) {
	switch a.Action {
	case renameTag:
		to, ok = outline.Renamed(tag, a.Tag, a.NewTag)
		return to, ok && to != tag
	case removeTag:
		return "", outline.SameTag(tag, a.Tag)
	}
	return "", false
}

// apply changes one note, or counts the changes of a dry run. The session need not have read the note, because the call
// names all deleted text.
func (a tagsArgs) apply(ctx context.Context, c *tool.Client, p model.Path) (done tagged, err error) {
	done.Path = string(p)
	plan := func(current *model.Version) ([]diffwrap.Edit, error) {
		done.FrontMatter, done.Text = 0, 0
		edits, err := a.edits(current.Text(), &done)
		if err != nil {
			return nil, result.InvalidArgument("%s was left as it is: %v. Correct the front matter as text first.", p, err)
		}
		return edits, textrange.CheckMarkup(textrange.Argument{Name: "tag", Text: a.Tag}, c.Workspace.Options().View, current.Text(), diffwrap.Apply(current.Text(), edits), 0)
	}
	if a.DryRun {
		err = c.Changes.CheckUpdate(ctx, p, plan)
	} else {
		_, _, err = c.Changes.Update(ctx, p, a.phrase()+" in "+string(p), plan)
	}
	return done, err
}

func (a tagsArgs) edits(text string, count *tagged) ([]diffwrap.Edit, error) {
	var body []diffwrap.Edit
	for _, at := range outline.TagPlaces(text) {
		to, ok := a.becomes(at.Tag)
		if !ok {
			continue
		}
		count.Text++
		e := diffwrap.Edit{Off: at.From, Len: len("#" + at.Tag), New: "#" + to}
		if to == "" {
			e.New = ""
			// This also removes one adjacent blank.
			switch end := e.Off + e.Len; {
			case e.Off > 0 && strings.IndexByte(" \t", text[e.Off-1]) >= 0 && !strings.HasSuffix(strings.TrimRight(text[:e.Off], " \t"), "\n"):
				e.Off, e.Len = e.Off-1, e.Len+1
			case end < len(text) && strings.IndexByte(" \t", text[end]) >= 0:
				e.Len++
			}
		}
		body = append(body, e)
	}
	have, err := frontmatter.Parse(text)
	if err != nil {
		return nil, err
	}
	now, changed := outline.RetagProperties(have, a.becomes)
	if a.Action == addTag {
		now, changed = outline.WithTag(have, a.Tag), 1
	}
	if count.FrontMatter = changed; changed == 0 {
		return body, nil
	}
	rewritten, err := frontmatter.Rewrite(text, now)
	if err != nil {
		return nil, err
	}
	_, old, _ := frontmatter.Split(text)
	_, current, _ := frontmatter.Split(rewritten)
	return append(diffwrap.Diff(text[:old], rewritten[:current]), body...), nil
}
