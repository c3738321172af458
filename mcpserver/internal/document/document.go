package document

import (
	"bytes"
	"context"
	"errors"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
)

type Document struct {
	Path    model.Path
	Text    string
	Version *model.Version // nil if the document is not a note
	// Encoding is "" for UTF-8. Otherwise it is the name of the encoding of the stored text. Text is then the converted
	// text, and the document is read-only.
	Encoding string
}

func OfNote(p model.Path, v *model.Version) Document {
	d := Document{Path: p, Version: v}
	d.Text, d.Encoding = v.Decoded()
	return d
}

// Notice explains why a text is not shown as it is stored. It returns "" if the text is shown as stored.
func (d Document) Notice() string {
	switch {
	case d.Encoding != "":
		return "This document is stored as " + d.Encoding + ". It is shown converted, and cannot be edited until the user converts it to UTF-8."
	case !utf8.ValidString(d.Text):
		return "This document is not valid UTF-8: \ufffd stands for bytes that cannot be shown. It cannot be edited."
	}
	return ""
}

// Document opens the note at p, or another file with text. For a file without text, the error is model.ErrInvalidUTF8.
func (r Resolver) Document(ctx context.Context, p model.Path) (Document, error) {
	if !p.IsNote() {
		return r.textFile(ctx, p)
	}
	v, err := r.Workspace.Open(ctx, p)
	if err != nil {
		return Document{}, err
	}
	return OfNote(p, v), nil
}

// sniffed is the number of bytes at the start of a file that textFile searches for a NUL byte before it reads a larger
// file. A NUL byte marks a binary file.
const sniffed = 8 << 10

func (r Resolver) textFile(ctx context.Context, p model.Path) (Document, error) {
	binary := &model.Error{Op: "open", Path: p, Err: model.ErrInvalidUTF8}
	data, err := r.ReadFile(ctx, p, sniffed)
	if errors.Is(err, model.ErrTooLarge) {
		isUTF16 := bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
		if !isUTF16 && bytes.IndexByte(data, 0) >= 0 {
			return Document{}, binary
		}
		data, err = r.ReadFile(ctx, p, model.MaxNote)
	}
	if err != nil {
		return Document{}, err
	}
	text, encoding, ok := model.Decode(string(data))
	if !ok {
		return Document{}, binary
	}
	return Document{Path: p, Text: text, Encoding: encoding}, nil
}

// ReadText returns the text of a file for a change, or model.ErrInvalidUTF8 if it is not UTF-8.
func (r Resolver) ReadText(ctx context.Context, p model.Path) (string, error) {
	d, err := r.textFile(ctx, p)
	if err == nil && d.Encoding != "" {
		err = &model.Error{Op: "open", Path: p, Err: model.ErrInvalidUTF8}
	}
	return d.Text, err
}

// ReadFile returns the content of a file that is not a note. most is the maximum size in bytes. For a larger file,
// ReadFile returns the beginning of the content and model.ErrTooLarge.
func (r Resolver) ReadFile(ctx context.Context, p model.Path, most int64) ([]byte, error) {
	info, err := r.Workspace.Stat(ctx, p)
	if err != nil {
		return nil, err
	}
	if info.Kind == model.KindDir {
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrIsDir}
	}
	return r.Workspace.ReadFile(ctx, p, most)
}
