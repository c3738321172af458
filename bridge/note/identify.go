package note

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
)

// A store finds a document by the path of its note. But while relayfs was stopped, or did not follow the note,
// another file may have come to that path: a note was deleted and another one created, or two notes exchanged their
// names. So the file decides when it is first read, not its name:
//
//	relayfs wrote the file, or read it there       it is the document's: inode and time of birth identify a file
//	it holds the last text of the document's file  the same: git or a backup copied it back
//	it holds much of the document's text           a user's program has saved it as a new file
//	otherwise                                      it is another note, and the document has ended at the path
//
// While relayfs follows a note, each change of its file counts as a save, and a removal ends the document
// (Path.Ended).

// identify finds the document of the note, whose file was just read and holds raw, and loads its history. It leaves
// n.id empty if there is none.
func (n *Locked) identify(ctx context.Context, loc Location, raw string) (h model.History, err error) {
	if n.id != "" {
		return n.store.Load(n.id) // relayfs has followed the note
	}
	id, err := n.lookupID(loc)
	if err != nil {
		return h, err
	}
	if id != "" {
		if h, err = n.store.Load(id); err != nil {
			return h, err
		}
		if belongsTo(h, n.stamp, raw) {
			n.id = id
			return h, nil
		}
	}
	if err := n.findMovedDocument(ctx, loc, id != "", raw); err != nil || n.id == "" {
		return model.History{}, err
	}
	return n.store.Load(n.id)
}

// belongsTo reports whether a file at the path of a document belongs to the document.
func belongsTo(h model.History, file model.Stamp, raw string) bool {
	if len(h.Records) == 0 || isKnown(h, file, raw) {
		return true
	}
	if isBlank(raw) {
		return false
	}
	doc, err := replay(h.Records)
	if err != nil {
		return true // whoever needs the document gets the error
	}
	text := doc.Text(model.ContentsName).String()
	return text == raw || isAlike(text, raw)
}

// isKnown reports whether relayfs wrote the file with a text of the document or read the document from it, or the
// file holds the last text of the document's file. A blank text identifies no document.
func isKnown(h model.History, file model.Stamp, raw string) bool {
	return h.IsOf(file) || h.Sum == model.SumOf(raw) && !isBlank(raw)
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// maxAlike bounds the documents of one text that a note without marks is compared with: many notes may start from one
// template.
const maxAlike = 8

// findMovedDocument looks for the note's document if the path has none, or another note's: a document that ended there, or whose
// file was moved here. other is set if the document at the path belongs to another note, and is ended there.
func (n *Locked) findMovedDocument(ctx context.Context, loc Location, other bool, raw string) error {
	n.set.claimMu.Lock()
	defer n.set.claimMu.Unlock()
	rel, file := model.Path(loc.Rel), n.stamp
	var list []model.StoredDoc
	if id, err := n.store.DocID(rel.Ended()); err == nil {
		list = append(list, model.StoredDoc{ID: id, Path: rel.Ended()})
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	more, err := n.store.DocsOf(file, model.SumOf(raw))
	if err != nil {
		return err
	}
	if !other && !attribution.MarksIn(raw) {
		more = more[:min(len(more), maxAlike)]
	}
	list = append(list, more...)
	var from model.Path
	for _, d := range list {
		if mine, err := n.isDocumentOf(ctx, d, file, raw); err != nil {
			return err
		} else if mine {
			n.id, from = d.ID, d.Path
			break
		}
	}
	if other && from == rel.Ended() {
		if err := n.store.Rename(from, from.Ended()); err != nil {
			return err
		}
		from = from.Ended()
	}
	if other {
		if err := n.store.End(rel); err != nil {
			return err
		}
	}
	if n.id == "" {
		return nil
	}
	return n.store.Rename(from, rel)
}

// isDocumentOf reports whether a document stored for another path belongs to the file. It does not if its own file still
// exists.
func (n *Locked) isDocumentOf(ctx context.Context, d model.StoredDoc, file model.Stamp, raw string) (bool, error) {
	original, ended := d.Path.EndedAt()
	if original == "" || !ended && d.Path == model.Path(n.node.Location().Rel) {
		return false, nil
	}
	h, err := n.store.Load(d.ID)
	if err != nil || !isKnown(h, file, raw) {
		return false, err
	}
	if ended {
		return true, nil
	}
	data, there, err := n.source.Read(ctx, string(d.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return err == nil && !belongsTo(h, there, string(data)), nil
}

// isAlike reports whether two texts share a quarter of the shorter one's pairs of words. Two notes on one subject
// share a twentieth.
func isAlike(a, b string) bool {
	mine, n := wordPairs(a)
	pairsOfB, m := wordPairs(b)
	shared := 0
	for pair, times := range mine {
		shared += min(times, pairsOfB[pair])
	}
	return shared > 0 && 4*shared >= min(n, m)
}

// wordPairs counts the pairs of adjacent words. The ends of the text count as words.
func wordPairs(text string) (pairs map[[2]string]int, n int) {
	pairs = make(map[[2]string]int)
	last := ""
	for word := range strings.FieldsSeq(text + " \x00") {
		pairs[[2]string{last, word}]++
		last = word
		n++
	}
	return pairs, n
}
