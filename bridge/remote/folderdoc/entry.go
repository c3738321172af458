package folderdoc

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// ErrPath is the error for a path that cannot be a key of a folder document.
var ErrPath = errors.New("path is not valid in a shared folder")

var ErrNotEmpty = errors.New("folder is not empty")

// Types of entries. All except TypeFolder, TypeMarkdown and TypeCanvas are attachments, stored by their hash.
const (
	TypeFolder   = "folder"
	TypeMarkdown = "markdown"
	TypeCanvas   = "canvas"
	TypeImage    = "image"
	TypePDF      = "pdf"
	TypeAudio    = "audio"
	TypeVideo    = "video"
	TypeBase     = "base"
	TypeFile     = "file"
)

type Entry struct {
	Path string // relative, '/'-separated, no leading slash
	ID   string // UUID; "" for a folder without an entry
	Type string
	// The fields below are only set for attachments.
	Mimetype string
	Hash     string // SHA-256 of the bytes, lower-case hex
	SyncTime int64  // Unix milliseconds
}

// fileTypes has the type and the MIME type for each extension that Obsidian's plugin supports. The plugin uses the type
// to decide what to fetch: it fetches attachments of TypeFile only if the user wants all files.
var fileTypes = map[string]struct{ typ, mime string }{
	".md":     {TypeMarkdown, "text/markdown"},
	".canvas": {TypeCanvas, "application/canvas+json"},
	".base":   {TypeBase, "application/yaml"},

	".png":  {TypeImage, "image/png"},
	".jpg":  {TypeImage, "image/jpeg"},
	".jpeg": {TypeImage, "image/jpeg"},
	".gif":  {TypeImage, "image/gif"},
	".svg":  {TypeImage, "image/svg+xml"},
	".webp": {TypeImage, "image/webp"},
	".avif": {TypeImage, "image/avif"},
	".bmp":  {TypeImage, "image/bmp"},

	".pdf": {TypePDF, "application/pdf"},

	".mp3":  {TypeAudio, "audio/mpeg"},
	".wav":  {TypeAudio, "audio/wav"},
	".m4a":  {TypeAudio, "audio/x-m4a"},
	".flac": {TypeAudio, "audio/flac"},
	".ogg":  {TypeAudio, "audio/ogg"},
	".oga":  {TypeAudio, "audio/ogg"},
	".opus": {TypeAudio, "audio/opus"},

	".mp4":  {TypeVideo, "video/mp4"},
	".webm": {TypeVideo, "video/webm"},
	".ogv":  {TypeVideo, "video/ogg"},
	".mov":  {TypeVideo, "video/quicktime"},
	".mkv":  {TypeVideo, "video/x-matroska"},

	".3gp":  {TypeFile, "video/3gpp"},
	".txt":  {TypeFile, "text/plain"},
	".html": {TypeFile, "text/html"},
	".css":  {TypeFile, "text/css"},
	".json": {TypeFile, "application/json"},
	".js":   {TypeFile, "application/javascript"},
	".ts":   {TypeFile, "application/typescript"},
}

func TypeOf(name string) (typ, mimetype string) {
	if t, ok := fileTypes[strings.ToLower(path.Ext(name))]; ok {
		return t.typ, t.mime
	}
	return TypeFile, "application/octet-stream"
}

func NewID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// maxPath is the maximum length of a path in bytes: that of Linux. Each folder of a path becomes an entry.
const maxPath = 4096

// CheckPath returns ErrPath if p cannot be a path of a shared folder.
func CheckPath(p string) error {
	if !utf8.ValidString(p) || strings.Contains(p, "\x00") || len(p) > maxPath {
		return ErrPath
	}
	for elem := range strings.SplitSeq(p, "/") {
		if elem == "" || elem == "." || elem == ".." || len(elem) > 255 {
			return ErrPath
		}
	}
	return nil
}

// key returns the map key of a valid path. pathOf is its inverse, and returns "" for an invalid key.
func key(p string) string { return "/" + p }

func pathOf(key string) string {
	p := strings.TrimPrefix(key, "/")
	if CheckPath(p) != nil {
		return ""
	}
	return p
}

func parent(p string) string { return p[:max(strings.LastIndexByte(p, '/'), 0)] }

func below(dir, p string) bool {
	return len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir
}

// readMeta parses a value of filemeta_v0. ok is false if the value has another version of the format, or no ID or type.
func readMeta(p string, value any) (e Entry, ok bool) {
	o, _ := value.(ycrdt.Object)
	m := o.ByKey()
	e = Entry{Path: p}
	e.ID, _ = m["id"].(string)
	e.Type, _ = m["type"].(string)
	e.Mimetype, _ = m["mimetype"].(string)
	e.Hash, _ = m["hash"].(string)
	e.SyncTime = int64(number(m["synctime"]))
	return e, e.ID != "" && e.Type != "" && number(m["version"]) == 0
}

func number(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

func (e Entry) meta() map[string]any {
	m := map[string]any{"id": e.ID, "type": e.Type, "version": 0}
	if e.Hash != "" {
		m["hash"], m["mimetype"], m["synctime"] = e.Hash, e.Mimetype, float64(e.SyncTime)
	}
	return m
}
