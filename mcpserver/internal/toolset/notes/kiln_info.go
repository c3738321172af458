package notes

import (
	"context"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type kilnInfoArgs struct {
	Detailed bool `arg:"detailed" def:"false" doc:"Also return the statistics of each top-level folder"`
}

type kilnInfoResult struct {
	Roots []kilnRoot `json:"roots" doc:"The top-level folders"`
	Stats kilnStats  `json:"stats" doc:"Statistics of all folders"`
}

type kilnRoot struct {
	URI   string     `json:"uri"`
	Name  string     `json:"name"`
	Stats *kilnStats `json:"stats,omitempty"`
}

type kilnStats struct {
	TotalNotes     int   `json:"total_notes"`
	TotalSizeBytes int64 `json:"total_size_bytes"`
	TotalWords     int   `json:"total_words"`
	IndexedNotes   int   `json:"indexed_notes"`
	PendingIndex   int   `json:"pending_index" doc:"Notes that have not been indexed since they last changed"`
}

func getKilnInfo(ctx context.Context, c *tool.Client, a kilnInfoArgs) (kilnInfoResult, error) {
	res := kilnInfoResult{Roots: []kilnRoot{}}
	for _, name := range c.Resolver.Folders() {
		st, err := folderStats(ctx, c, model.Path(name))
		if err != nil {
			return res, err
		}
		root := kilnRoot{URI: document.URIOf(model.Path(name)), Name: name}
		if a.Detailed {
			root.Stats = &st
		}
		res.Roots = append(res.Roots, root)
		res.Stats.add(st)
	}
	return res, nil
}

// folderStats returns the statistics of a folder. The number of notes comes from the tree, and the other statistics
// come from the index.
func folderStats(ctx context.Context, c *tool.Client, folder model.Path) (kilnStats, error) {
	var st kilnStats
	notes, err := c.Workspace.Notes(ctx, folder)
	if err != nil {
		return st, err
	}
	for _, n := range notes {
		st.TotalSizeBytes += n.Size
		st.TotalWords += n.Words
	}
	err = c.Workspace.Walk(ctx, folder, func(e bridge.Info) error {
		if e.Kind == model.KindNote {
			st.TotalNotes++
		}
		return nil
	})
	st.IndexedNotes = len(notes)
	st.PendingIndex = max(0, st.TotalNotes-len(notes))
	return st, err
}

func (st *kilnStats) add(o kilnStats) {
	st.TotalNotes += o.TotalNotes
	st.TotalSizeBytes += o.TotalSizeBytes
	st.TotalWords += o.TotalWords
	st.IndexedNotes += o.IndexedNotes
	st.PendingIndex += o.PendingIndex
}
