//go:build !windows

package fusefs

import (
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
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

// carry returns theirs with the changes that lead from base to mine made in it
// too. What either dropped is dropped, what both inserted is inserted twice
// unless it is the same replacement.
func carry(base, theirs, mine string) string {
	a, b := diffwrap.Diff(base, theirs), diffwrap.Diff(base, mine)
	var out strings.Builder
	pos := 0 // in base
	for len(a)+len(b) > 0 {
		var e diffwrap.Edit
		switch {
		case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			e, a, b = a[0], a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && a[0].Off <= b[0].Off:
			e, a = a[0], a[1:]
		default:
			e, b = b[0], b[1:]
		}
		if e.Off > pos {
			out.WriteString(base[pos:e.Off])
			pos = e.Off
		}
		out.WriteString(e.New)
		pos = max(pos, e.Off+e.Len)
	}
	out.WriteString(base[pos:])
	return out.String()
}

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
	im := nearest(shown, text)
	w.Bases = []*model.Version{im.version}
	if !im.exact() {
		w.Text = carry(im.text, im.version.Text(), text)
	}
	return w
}

// nearest is the image that differs least from text, the last one of several.
// images is not empty.
func nearest(images []image, text string) image {
	best, bestSize := images[0], -1
	for _, im := range images {
		size := 0
		for _, e := range diffwrap.Diff(im.text, text) {
			size += e.Len + len(e.New)
		}
		if bestSize < 0 || size <= bestSize {
			best, bestSize = im, size
		}
	}
	return best
}
