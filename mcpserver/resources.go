package mcpserver

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const (
	noteTemplate = "note:///{+path}"
	noteType     = "text/markdown"
	resourcePage = 500
)

// addResources offers notes and other files as resources, such as note:///Folder/Name.md. It lists the notes on demand,
// because mcp-go would store an entry for every registered note.
func (s *Server) addResources(hooks *server.Hooks) {
	s.mcp.AddResourceTemplate(mcp.NewResourceTemplate(noteTemplate, "note",
		mcp.WithTemplateTitle("Note"),
		mcp.WithTemplateDescription("A Markdown note, with all pending suggestions accepted; or an attachment, image or other file of at most 4 MiB"),
		mcp.WithTemplateMIMEType(noteType),
	), s.readResource)
	hooks.AddAfterListResources(func(ctx context.Context, _ any, req *mcp.ListResourcesRequest, res *mcp.ListResourcesResult) {
		res.Resources, res.NextCursor = s.listResources(ctx, req.Params.Cursor)
	})
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, req *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		s.subscriptions.Add(s.session(ctx).id(), req.Params.URI)
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, req *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		s.subscriptions.Remove(s.session(ctx).id(), req.Params.URI)
	})
}

// readResource returns the text of a note or the content of another file. For a long note it returns one part, with the
// URI of the next part.
func (s *Server) readResource(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	c := s.session(ctx).client
	p, begin, err := c.Resolver.AtURI(ctx, req.Params.URI)
	if err != nil {
		return nil, err
	}
	info, err := c.Workspace.Stat(ctx, p)
	if err != nil {
		return nil, err
	}
	if info.Kind == model.KindFile {
		return attachment(ctx, c, p)
	}
	v, err := c.Workspace.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	d := document.OfNote(p, v)
	w := textrange.Window{Range: textrange.Range{End: len(d.Text)}}
	if begin != (textrange.Position{}) || result.TextCost(d.Text) > result.Max-4000 {
		w, err = textrange.WindowOf(d.Text, begin, textrange.CountLines(d.Text), result.Max-6000, func(s string) int { return result.TextCost(s) + 4 })
	}
	if err != nil {
		return nil, err
	}
	c.Session.RecordRead(d, w.Range)
	contents := []mcp.ResourceContents{mcp.TextResourceContents{URI: document.URIOf(p), MIMEType: noteType, Text: d.Text[w.Range.Start:w.Range.End]}}
	more := w.Notice(func(at textrange.Position) string {
		return fmt.Sprintf("resources/read with %s?line=%d&column=%d", document.URIOf(p), at.Line, at.Column)
	})
	for _, notice := range []string{more, d.Notice()} {
		if notice != "" {
			contents = append(contents, mcp.TextResourceContents{URI: document.URIOf(p), MIMEType: "text/plain", Text: "[" + notice + "]"})
		}
	}
	return contents, nil
}

const maxAttachment = 4 << 20

func attachment(ctx context.Context, c *tool.Client, p model.Path) ([]mcp.ResourceContents, error) {
	data, err := c.Resolver.ReadFile(ctx, p, maxAttachment)
	if errors.Is(err, model.ErrTooLarge) {
		return nil, fmt.Errorf("%s is larger than %d MiB, the maximum for a resource; tell the user, who can open it", result.Escape(p), maxAttachment>>20)
	}
	if err != nil {
		return nil, err
	}
	kind := cmp.Or(types[strings.ToLower(path.Ext(string(p)))], "application/octet-stream")
	if text, _, _ := strings.Cut(kind, "/"); (text == "text" || kind == "application/json" || kind == "image/svg+xml") && utf8.Valid(data) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: document.URIOf(p), MIMEType: kind, Text: string(data)}}, nil
	}
	return []mcp.ResourceContents{mcp.BlobResourceContents{URI: document.URIOf(p), MIMEType: kind, Blob: base64.StdEncoding.EncodeToString(data)}}, nil
}

// types makes the media type of a file independent of the machine's MIME database.
var types = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".bmp": "image/bmp", ".svg": "image/svg+xml", ".avif": "image/avif",
	".pdf": "application/pdf", ".canvas": "application/json", ".json": "application/json", ".base": "text/yaml", ".txt": "text/plain", ".csv": "text/csv", ".css": "text/css", ".html": "text/html",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".m4a": "audio/mp4", ".ogg": "audio/ogg", ".flac": "audio/flac", ".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime", ".zip": "application/zip",
}

// listResources returns a page of the notes after the cursor, and the next cursor. A cursor is the last path of the
// previous page in base64.
func (s *Server) listResources(ctx context.Context, cursor mcp.Cursor) ([]mcp.Resource, mcp.Cursor) {
	after, _ := base64.StdEncoding.DecodeString(string(cursor)) // mcp-go refuses invalid base64
	paths := s.notePaths(ctx)
	i, found := slices.BinarySearch(paths, model.Path(after))
	if found {
		i++
	}
	rest := paths[i:]
	list := make([]mcp.Resource, 0, min(len(rest), resourcePage))
	left := result.Max - result.ProtocolOverhead - 6000
	for _, p := range rest {
		left -= result.TextCost(document.URIOf(p)) + result.TextCost(string(p)) + 80
		if len(list) == resourcePage || left < 0 && len(list) > 0 {
			break
		}
		list = append(list, mcp.NewResource(document.URIOf(p), string(p), mcp.WithMIMEType(noteType)))
	}
	if len(list) == len(rest) {
		return list, ""
	}
	return list, mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(rest[len(list)-1])))
}

func (s *Server) notePaths(ctx context.Context) []model.Path {
	notes, err := s.index.All(ctx)
	if err != nil {
		s.log.Warn("cannot list the notes", model.LogErr, err)
		return nil
	}
	var paths []model.Path
	for _, n := range notes {
		if n.Path.IsNote() {
			paths = append(paths, n.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// complete returns at most 100 paths that contain typed, ignoring case. Paths that begin with typed come first.
func (s *Server) complete(ctx context.Context, typed string) *mcp.Completion {
	const limit = 100
	typed = strings.ToLower(strings.TrimPrefix(typed, "/"))
	var begin, hold []string
	for _, p := range s.notePaths(ctx) {
		switch lower := strings.ToLower(string(p)); {
		case strings.HasPrefix(lower, typed):
			begin = append(begin, string(p))
		case strings.Contains(lower, typed):
			hold = append(hold, string(p))
		}
	}
	all := append(begin, hold...)
	return &mcp.Completion{Values: all[:min(limit, len(all))], Total: len(all), HasMore: len(all) > limit}
}

type completer struct{ s *Server }

func (c completer) CompletePromptArgument(ctx context.Context, _ string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return c.s.complete(ctx, a.Value), nil
}

func (c completer) CompleteResourceArgument(ctx context.Context, _ string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return c.s.complete(ctx, a.Value), nil
}

// notifyUpdated notifies a session of a changed resource, and reports whether the session still exists.
func (s *Server) notifyUpdated(session, uri string) bool {
	err := s.mcp.SendNotificationToSpecificClient(session, mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
	if err != nil {
		s.log.Debug("cannot send a notification", model.LogErr, err)
	}
	return !errors.Is(err, server.ErrSessionNotFound)
}

// listAfter is the time for which changes of the list are collected for one notification.
const listAfter = 500 * time.Millisecond

// follow notifies clients of changed resources and of a changed list until the Server is closed.
func (s *Server) follow() {
	var waits atomic.Bool // whether the timer is running
	timer := time.AfterFunc(math.MaxInt64, func() {
		waits.Store(false)
		s.mcp.SendNotificationToAllClients(mcp.MethodNotificationResourcesListChanged, nil)
	})
	cancel := s.ws.Subscribe(func(ev model.Event) {
		s.subscriptions.event(ev)
		switch ev.Kind {
		case model.EventCreated, model.EventRemoved, model.EventRenamed:
			if !waits.Swap(true) {
				timer.Reset(listAfter)
			}
		}
	})
	s.onClose(func() {
		cancel()
		timer.Stop()
	})
}
