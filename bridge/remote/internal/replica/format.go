package replica

import (
	"bytes"
	"context"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/facts"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/canvasdoc"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Format converts documents of one type to files, and adds files to them.
type Format struct {
	Read func(doc *ycrdt.Doc) []byte
	// Add adds the content of another file to a document. It returns the content's marks.
	Add func(doc *ycrdt.Doc, data []byte) ([]model.MarkRecord, error)
	// Holds returns true only if file contains all content of other.
	Holds func(file, other []byte) bool
}

// FormatOf returns the format of the documents of an entry type. ok is false if entries of that type have no document.
func FormatOf(typ string) (f Format, ok bool) {
	switch typ {
	case folderdoc.TypeMarkdown:
		return Format{readText, addText, bytes.Contains}, true
	case folderdoc.TypeCanvas:
		return Format{canvasdoc.Read, addCanvas, bytes.Equal}, true
	}
	return Format{}, false
}

func readText(doc *ycrdt.Doc) []byte { return []byte(doc.Text(folderdoc.ContentsName).String()) }

// addText appends data after an empty line, unless the document contains that text already.
func addText(doc *ycrdt.Doc, data []byte) ([]model.MarkRecord, error) {
	text := doc.Text(folderdoc.ContentsName)
	have := text.String()
	if len(data) == 0 || strings.Contains(have, string(data)) {
		return nil, nil
	}
	gap := "\n\n"
	switch {
	case have == "" || strings.HasSuffix(have, "\n\n"):
		gap = ""
	case strings.HasSuffix(have, "\n"):
		gap = "\n"
	}
	doc.Transact(func(tx *ycrdt.Txn) { text.Insert(tx, text.LenIn(tx), gap+string(data)) })
	return facts.MarksFrom(text, len(have)), nil
}

func addCanvas(doc *ycrdt.Doc, data []byte) ([]model.MarkRecord, error) {
	return nil, canvasdoc.Write(doc, nil, data)
}

func (d *Document) Read(f Format) (data []byte, stamp model.Stamp, err error) {
	err = d.loaded(func(s *docState) error {
		data = f.Read(s.doc)
		stamp = d.Stamp(len(data))
		return nil
	})
	return data, stamp, err
}

// ReplaceCanvas sets the content of the document's file, a canvas, if expect is its current stamp, and returns the new
// stamp. Otherwise it returns model.ErrConflict.
func (d *Document) ReplaceCanvas(ctx context.Context, rec *model.Record, expect model.Stamp, data []byte) (model.Stamp, error) {
	err := d.Change(ctx, rec, func(doc *ycrdt.Doc) error {
		have := canvasdoc.Read(doc)
		if d.Stamp(len(have)) != expect {
			return model.ErrConflict
		}
		return canvasdoc.Write(doc, have, data)
	})
	if err != nil {
		return model.Stamp{}, err
	}
	_, stamp, err := d.Read(Format{Read: canvasdoc.Read})
	return stamp, err
}
