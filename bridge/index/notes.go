package index

import (
	"time"

	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/model"
)

// NoteInfo describes the view of a note. It is immutable.
type NoteInfo struct {
	Path    model.Path
	ModTime time.Time
	Size    int64 // size of the view in bytes
	outline.Outline
}

func NewNoteInfo(p model.Path, v *model.Version) *NoteInfo {
	text, _ := v.Decoded()
	return &NoteInfo{Path: p, ModTime: v.ModTime(), Size: int64(len(v.Text())), Outline: outline.Of(text)}
}
