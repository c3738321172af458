package semantic

import (
	"context"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/lexical"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/noteindex"
	"github.com/relayfs/relayfs/bridge/outline"
)

// wordBatch is how many notes are read before they are indexed.
const wordBatch = 256

// updateWords brings the index of words to the notes as they are.
func (x *Index) updateWords(ctx context.Context) error {
	x.updating.Lock()
	defer x.updating.Unlock()
	notes, err := x.ws.Notes(ctx, "")
	if err != nil || slices.Equal(notes, x.wordsDone) {
		return err
	}
	x.wordsDone = nil
	there := make(map[model.Path]*noteindex.NoteInfo, len(notes))
	var changed []*noteindex.NoteInfo
	for _, n := range notes {
		if x.worded[n.Path] == n {
			there[n.Path] = n
		} else {
			changed = append(changed, n)
		}
	}
	var lost []string
	for p := range x.worded {
		if there[p] == nil {
			lost = append(lost, string(p))
		}
	}
	x.words.Apply(nil, lost)
	x.worded = there
	report, total := model.ProgressOf(ctx), len(changed)
	skipped := false
	for part := range slices.Chunk(changed, wordBatch) {
		report(total-len(changed), total)
		var docs []lexical.Document
		for _, n := range part {
			v, err := x.ws.Open(ctx, n.Path)
			if gone(err) {
				skipped = true
				continue
			}
			if err != nil {
				return err
			}
			docs = append(docs, document(n, v.Text()))
			there[n.Path] = n
		}
		x.words.Apply(docs, nil)
	}
	if !skipped {
		x.wordsDone = notes
	}
	return nil
}

// document returns what is indexed of a note: its name, aliases and title are the title, and its
// folders count as properties.
func document(n *noteindex.NoteInfo, text string) lexical.Document {
	_, body, _ := frontmatter.Split(text)
	d := lexical.Document{Key: string(n.Path), Body: text[body:]}
	title := []string{strings.TrimSuffix(n.Path.Base(), model.NoteExt)}
	_, rel := n.Path.Dir().Split()
	properties := []string{rel}
	for _, p := range n.Properties {
		switch key := strings.ToLower(p.Key); {
		case key == "title" || key == "alias" || key == "aliases":
			title = append(title, frontmatter.Text(p.Value))
		case !outline.IsTagKey(p.Key):
			properties = append(properties, p.Key, frontmatter.Text(p.Value))
		}
	}
	var headings []string
	for _, h := range n.Headings {
		headings = append(headings, h.Text)
	}
	d.Title, d.Properties = strings.Join(title, "\n"), strings.Join(properties, "\n")
	d.Headings, d.Tags = strings.Join(headings, "\n"), strings.Join(n.Tags, "\n")
	return d
}
