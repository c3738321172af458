package api

import (
	"bytes"
	"context"
	"errors"
	"image"
	_ "image/gif"  // for image.DecodeConfig
	_ "image/jpeg" // for image.DecodeConfig
	_ "image/png"  // for image.DecodeConfig
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

// The limits protect the browser, which decodes all pixels: even a small file can contain very many pixels.
const (
	maxImage  = 10 << 20    // maximum size of an image in bytes
	maxPixels = 100_000_000 // maximum number of pixels of a PNG, JPEG or GIF
)

var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func (h *handler) image(w http.ResponseWriter, r *http.Request) {
	data, kind, err := h.embedded(r.Context(), r.FormValue("note"), r.FormValue("target"))
	if err != nil {
		WriteError(w, err)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(data) // fails only if the client has disconnected
}

func (h *handler) embedded(ctx context.Context, note, target string) (data []byte, kind string, err error) {
	index, err := h.Workspace.LinkIndex(ctx)
	if err != nil {
		return nil, "", err
	}
	target, _, _ = strings.Cut(target, "#")
	found, ok := index.Resolve(note, links.Link{Target: target})
	if decoded, err := url.PathUnescape(target); !ok && err == nil {
		found, ok = index.Resolve(note, links.Link{Target: decoded})
	}
	p := model.Path(found)
	if !ok || p.IsNote() {
		return nil, "", &model.Error{Op: "open", Path: model.Path(target), Err: fs.ErrNotExist}
	}
	data, err = h.Workspace.ReadFile(ctx, p, maxImage)
	tooLarge := errors.Is(err, model.ErrTooLarge)
	if err != nil && !tooLarge {
		return nil, "", err
	}
	kind = http.DetectContentType(data)
	switch {
	case strings.EqualFold(path.Ext(found), ".svg") && strings.HasPrefix(kind, "text/"):
		kind = "image/svg+xml"
	case !slices.Contains(imageTypes, kind):
		return nil, "", cli.Usagef("%s is not an image", found)
	}
	if tooLarge {
		return nil, "", cli.Usagef("%s is larger than %d MiB", found, maxImage>>20)
	}
	if size, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil && size.Width*size.Height > maxPixels {
		return nil, "", cli.Usagef("%s has more than %d million pixels", found, maxPixels/1_000_000)
	}
	return data, kind, nil
}
