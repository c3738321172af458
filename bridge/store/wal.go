package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// A transaction of bbolt takes two syncs, and everybody who saves a note waits
// for them. So records go to a write-ahead log first, one write(2) for each call
// of Append, and a moment later, together with others, to the bbolt file.
//
// The log is not synced: it outlives the process, not a power cut. What a power
// cut can take is who made the changes of the last second. The changes
// themselves are in the source, which has been synced before. What has no copy
// there, a record that is journalled or ahead of it, does not go through the log.
//
// There are two files. store.db.wal is written; to be emptied, it becomes
// store.db.wal.old, whose records are in the bbolt file when it is removed. A
// record that is in both has the number that bbolt knows, and is left out.

// wal is the log, and what it holds that the bbolt file does not.
type wal struct {
	name string

	flushing sync.Mutex // one flush at a time; before mu

	mu      sync.Mutex // protects the following
	file    *os.File
	size    int64 // of what is whole in file
	old     bool  // there is an old file
	entries []walEntry
	docs    map[model.DocID]*walDoc
	paths   map[model.Path]model.DocID
}

// walEntry is one call of Append: the records from number Seq on of a document.
type walEntry struct {
	ID      model.DocID `json:"id"`
	Path    model.Path  `json:"path"`
	Seq     uint64      `json:"seq"`
	Records [][]byte    `json:"records"`
}

func (e *walEntry) last() uint64 { return e.Seq + uint64(len(e.Records)) - 1 }

// walDoc is what the log knows of a document.
type walDoc struct {
	path    model.Path
	records []model.Record // ascending
}

func (d *walDoc) last() uint64 { return d.records[len(d.records)-1].Seq }

// frameHeader is the length of what precedes an entry: its size and its CRC-32C,
// 4 bytes each, little endian.
const frameHeader = 8

var errTornFrame = errors.New("entry is cut off")

// open takes over what the last process left. applied says whether the bbolt file
// has an entry.
func (w *wal) open(name string, applied func(*walEntry) (bool, error)) error {
	w.name = name
	w.docs, w.paths = make(map[model.DocID]*walDoc), make(map[model.Path]model.DocID)
	if _, err := w.takeOver(w.oldName(), applied); err != nil {
		return err
	}
	w.old = len(w.entries) > 0
	var err error
	if w.size, err = w.takeOver(w.name, applied); err != nil {
		return err
	}
	w.file, err = os.OpenFile(w.name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return w.file.Truncate(w.size)
}

// takeOver reads a file and returns how much of it is whole.
func (w *wal) takeOver(name string, applied func(*walEntry) (bool, error)) (size int64, err error) {
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	entries, n := parseFrames(data)
	for _, e := range entries {
		done, err := applied(&e)
		if err != nil {
			return 0, err
		}
		if done {
			continue
		}
		recs, err := e.decode()
		if err != nil {
			return 0, err
		}
		w.remember(e, recs)
	}
	return int64(n), nil
}

func (w *wal) oldName() string { return w.name + ".old" }

// parseFrames reads entries up to the first that is not whole, where a crash fell
// into its write. size is how much they take up.
func parseFrames(data []byte) (entries []walEntry, size int) {
	for size < len(data) {
		e, n, err := parseFrame(data[size:])
		if err != nil {
			break
		}
		entries = append(entries, e)
		size += n
	}
	return entries, size
}

func parseFrame(data []byte) (e walEntry, n int, err error) {
	if len(data) < frameHeader {
		return e, 0, errTornFrame
	}
	size := int(binary.LittleEndian.Uint32(data))
	if size > len(data)-frameHeader {
		return e, 0, errTornFrame
	}
	body := data[frameHeader : frameHeader+size]
	if crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(data[4:]) {
		return e, 0, errTornFrame
	}
	err = json.Unmarshal(body, &e)
	return e, frameHeader + size, err
}

func (e *walEntry) frame() ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, frameHeader+len(body)), uint32(len(body)))
	frame = binary.LittleEndian.AppendUint32(frame, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return append(frame, body...), nil
}

// append logs records of a document. lastKept asks the bbolt file for the
// document's last number.
func (w *wal) append(id model.DocID, p model.Path, recs []model.Record, values [][]byte, lastKept func() (uint64, error)) (seq uint64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.docs[id]; d != nil {
		seq = d.last()
	} else if seq, err = lastKept(); err != nil {
		return 0, err
	}
	e := walEntry{id, p, seq + 1, values}
	frame, err := e.frame()
	if err != nil {
		return 0, err
	}
	if _, err := w.file.WriteAt(frame, w.size); err != nil {
		return 0, errors.Join(translate(err), w.file.Truncate(w.size))
	}
	w.size += int64(len(frame))
	recs = slices.Clone(recs)
	for i, v := range values {
		r := &recs[i]
		r.Seq, r.Time = e.Seq+uint64(i), r.Time.Round(0)
		r.Update = v[len(v)-len(r.Update):] // not the caller's
	}
	w.remember(e, recs)
	return e.last(), nil
}

// remember adds an entry, whose records are recs, to what is known. mu is held.
func (w *wal) remember(e walEntry, recs []model.Record) {
	w.entries = append(w.entries, e)
	d := w.docs[e.ID]
	if d == nil {
		d = &walDoc{path: e.Path}
		w.docs[e.ID] = d
	}
	if w.paths[d.path] == e.ID {
		delete(w.paths, d.path)
	}
	d.path = e.Path
	w.paths[e.Path] = e.ID
	d.records = append(d.records, recs...)
}

// decode reads the entry's records.
func (e *walEntry) decode() (recs []model.Record, err error) {
	for i, v := range e.Records {
		rec, err := decodeRecord(seqKey(e.Seq+uint64(i)), v)
		if err != nil {
			return nil, err
		}
		recs = append(recs, rec)
	}
	return recs, nil
}

// flush has apply put everything that is logged in the bbolt file, and empties
// the log. After an error everything is still there.
func (w *wal) flush(apply func([]walEntry) error) error {
	w.flushing.Lock()
	defer w.flushing.Unlock()
	entries, err := w.rotate()
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		if err := apply(entries); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(entries)
	if w.old {
		w.old = false
		return os.Remove(w.oldName())
	}
	return nil
}

// rotate begins a new file, unless the old one has not been dealt with, and
// returns what is to be applied.
func (w *wal) rotate() ([]walEntry, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	entries := slices.Clone(w.entries)
	if w.old || w.size == 0 {
		return entries, nil
	}
	if err := os.Rename(w.name, w.oldName()); err != nil {
		return nil, err
	}
	w.old = true
	file, err := os.OpenFile(w.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		w.old = os.Rename(w.oldName(), w.name) != nil // w.file goes on
		return nil, err
	}
	w.file.Close()
	w.file, w.size = file, 0
	return entries, nil
}

// forget drops entries that the bbolt file holds. mu is held.
func (w *wal) forget(entries []walEntry) {
	w.entries = slices.Delete(w.entries, 0, len(entries))
	kept := make(map[model.DocID]uint64)
	for _, e := range entries {
		kept[e.ID] = e.last()
	}
	for id, seq := range kept {
		d := w.docs[id]
		if d == nil {
			continue
		}
		d.records = slices.DeleteFunc(d.records, func(r model.Record) bool { return r.Seq <= seq })
		if len(d.records) > 0 {
			continue
		}
		delete(w.docs, id)
		if w.paths[d.path] == id {
			delete(w.paths, d.path)
		}
	}
}

// since are the logged records of a document after number seq. mu is held.
func (w *wal) since(id model.DocID, seq uint64) []model.Record {
	d := w.docs[id]
	if d == nil {
		return nil
	}
	var out []model.Record
	for _, rec := range d.records {
		if rec.Seq > seq {
			rec.Update = slices.Clone(rec.Update)
			out = append(out, rec)
		}
	}
	return out
}

// at is the document at p, as far as the log decides: known is not set if the
// bbolt file does. mu is held.
func (w *wal) at(p model.Path) (id model.DocID, known bool) {
	id, known = w.paths[p]
	return id, known
}

// has says that there is something of a document in the log.
func (w *wal) has(id model.DocID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.docs[id] != nil
}

// moved says that the log has a document elsewhere than at p. mu is held.
func (w *wal) moved(id model.DocID, p model.Path) bool {
	d := w.docs[id]
	return d != nil && d.path != p
}

func (w *wal) close() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}

func hasEntry(tx *bolt.Tx, e *walEntry) bool {
	doc := document(tx, e.ID)
	return doc != nil && lastSeq(doc.Bucket([]byte(recordsBucket))) >= e.last()
}

// applyEntries puts logged records where they belong, those that are not there yet.
func applyEntries(tx *bolt.Tx, entries []walEntry) error {
	for _, e := range entries {
		if hasEntry(tx, &e) {
			continue
		}
		doc, err := ensure(tx, e.ID, e.Path)
		if err != nil {
			return err
		}
		records := doc.Bucket([]byte(recordsBucket))
		for i, v := range e.Records {
			if err := records.Put(seqKey(e.Seq+uint64(i)), v); err != nil {
				return err
			}
		}
	}
	return nil
}
