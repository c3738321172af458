package semantic

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/index/semantic/internal/lexical"
	"github.com/relayfs/relayfs/bridge/model"
)

const wordBatch = 256

func (x *Index) updateWords(ctx context.Context, notes []*index.NoteInfo) error {
	x.wording.Lock()
	defer x.wording.Unlock()
	changed, lost := changesOf(x.worded, notes)
	x.words.Apply(nil, lost)
	report := model.ProgressOf(ctx)
	skipped := make(map[*index.NoteInfo]bool)
	done := 0
	for part := range slices.Chunk(changed, wordBatch) {
		report(done, len(changed))
		done += len(part)
		var docs []lexical.Document
		for _, n := range part {
			v, err := x.ws.Open(ctx, n.Path)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				skipped[n] = true
				continue
			}
			text, _ := v.Decoded()
			docs = append(docs, document(n, text))
		}
		x.words.Apply(docs, nil)
	}
	if len(changed)+len(lost) > 0 {
		x.worded = slices.DeleteFunc(slices.Clone(notes), func(n *index.NoteInfo) bool { return skipped[n] })
	}
	return nil
}

// changesOf compares two lists that are sorted by path. changed has the notes of now that are new or in another state.
// lost has the paths that are only in before.
func changesOf(before, now []*index.NoteInfo) (changed []*index.NoteInfo, lost []string) {
	for i, k := range pairs(before, now) {
		switch {
		case k < 0:
			lost = append(lost, string(before[i].Path))
		case i < 0 || before[i] != now[k]:
			changed = append(changed, now[k])
		}
	}
	return changed, lost
}

// pairs yields the indexes of each path in two lists that are sorted by path, with -1 for a list without the path.
func pairs(before, now []*index.NoteInfo) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i, k := 0, 0; i < len(before) || k < len(now); {
			more := true
			switch {
			case k == len(now) || i < len(before) && before[i] != now[k] && before[i].Path < now[k].Path:
				more = yield(i, -1)
				i++
			case i == len(before) || before[i] != now[k] && before[i].Path > now[k].Path:
				more = yield(-1, k)
				k++
			default:
				more = yield(i, k)
				i, k = i+1, k+1
			}
			if !more {
				return
			}
		}
	}
}

// document returns the indexed form of a note. Its name, aliases and title form the title, and its folders count as
// properties.
func document(n *index.NoteInfo, text string) lexical.Document {
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
