//go:build !windows

package fusefs

import (
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
)

// image is what somebody sees of a note: the kernel, which caches its size and
// pages, or a process, which computes what it will write from it. Mostly the
// text is that of version. It is not after a commit that merged: the writer
// still sees the bytes it wrote, and version holds another's change besides.
type image struct {
	text    string
	modTime time.Time
	version *model.Version
}

// exact says that text is the version's own.
func (im image) exact() bool { return im.version != nil && im.text == im.version.Text() }

// asWrite expresses "who was shown one of these images wrote text" as a
// bridge.Write. If all images are exact the workspace chooses among their
// versions; otherwise the nearest one is chosen here, and what lies between it
// and its version is carried over.
func asWrite(shown []image, text string) bridge.Write {
	w := bridge.Write{Text: text}
	exact := true
	for _, im := range shown {
		exact = exact && im.exact()
	}
	if exact {
		for _, im := range shown {
			w.Bases = append(w.Bases, im.version)
		}
		return w
	}
	im := textmerge.Nearest(shown, func(im image) string { return im.text }, text)
	w.Bases = []*model.Version{im.version}
	if !im.exact() {
		w.Text = textmerge.Merge(textmerge.RawSide(im.text, nil), textmerge.RawSide(im.version.Text(), nil), text)
	}
	return w
}
