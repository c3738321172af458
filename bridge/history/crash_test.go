package history_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// diary is a note with what it was after each record.
type diary struct {
	s     *store.Store
	texts map[uint64]string
	last  uint64
}

// write appends records, and has the first of them merged at once and again.
func (d *diary) write() error {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text("contents")
	for i := range 320 {
		rec := model.Record{Author: []string{"", "claude"}[i/3%2], Time: time.Unix(int64(i*25), 0).UTC()}
		doc.OnUpdate(func(u []byte) { rec.Update = u })
		at := i * 7 % (text.Len() + 1)
		cut := min(2, text.Len()-at)
		doc.Transact(func(tx *ycrdt.Txn) {
			text.Delete(tx, at, cut)
			text.Insert(tx, at, fmt.Sprint("w", i, " "))
		})
		doc.OnUpdate(nil)
		seq, err := d.s.Append(id, note, rec)
		if err != nil {
			return err
		}
		d.texts[seq], d.last = text.String(), seq
		switch i {
		case 140, 200, 290:
			d.s.RecordFileSeq(id, seq, model.ContentSum{}, model.Stamp{})
			if err := d.s.Checkpoint(); err != nil {
				return err
			}
		case 250:
			if err := d.s.Rename(note, "Moved.md"); err != nil {
				return err
			}
		}
	}
	return d.s.Sync()
}

// Wherever a store is stopped, by a kill or a power cut, the history has every record that it
// has, and each text is what it was. Only what was appended since the last sync may be missing, at its end.
func TestHistoryStopped(t *testing.T) {
	disk := disktest.New(time.Now, disktest.Volume{Path: "/"})
	root, err := disk.MakeRoot("/state")
	if err != nil {
		t.Fatal(err)
	}
	top, err := disk.OpenRoot("/")
	if err := errors.Join(err, root.Sync(), top.Sync()); err != nil {
		t.Fatal(err)
	}
	file := bridgetest.NewCheckpoint(t, nil)
	s, err := store.Open("/state/store.db", store.Options{Disk: disk, OpenFile: file.OpenFile, Committed: file.Committed, NoBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	type stop struct {
		call    int
		left    *disktest.Disk
		content []byte
		last    uint64
	}
	d := &diary{s: s, texts: make(map[uint64]string)}
	var stops []stop
	calls := 0
	at := func() { stops = append(stops, stop{calls, disk.Killed(), file.Content(), d.last}) }
	first := randomtest.New(t).IntN(13)
	disk.Before(func(disktest.Call) error {
		if calls++; calls%13 == first {
			at()
		}
		return nil
	})
	if err := d.write(); err != nil {
		t.Fatal(err)
	}
	calls++
	at()
	states := 0
	for _, stop := range stops {
		d.check(t, fmt.Sprintf("killed before call %d", stop.call), stop.left, stop.content, stop.last)
		for cut := range stop.left.PowerCuts(3) {
			d.check(t, fmt.Sprintf("power cut before call %d", stop.call), cut, stop.content, 0)
			states++
		}
	}
	t.Logf("%d stops, %d power cuts", len(stops), states)
	_ = s.Close()
}

// check opens what a crash has left. Records up to least are to be there.
func (d *diary) check(t *testing.T, what string, disk *disktest.Disk, content []byte, least uint64) {
	t.Helper()
	file := bridgetest.NewCheckpoint(t, content)
	s, err := store.Open("/state/store.db", store.Options{Disk: disk, OpenFile: file.OpenFile, Committed: file.Committed, NoBackground: true})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer s.Close()
	load, err := s.Load(id)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	past, err := s.Revisions(id)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	h, err := history.New(past)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	last := uint64(0)
	for _, e := range h.Entries() {
		if e.Kind == history.Moved {
			continue
		}
		got, _, err := h.At(history.Point{Entry: e.Number}, diffwrap.RawView)
		if err != nil || got != d.texts[e.Number] {
			t.Fatalf("%s: entry %d is %q, %v, want %q", what, e.Number, got, err, d.texts[e.Number])
		}
		last = e.Number
	}
	if n := len(load.Records); n > 0 && load.Records[n-1].Seq != last || n == 0 && last != 0 || last < least {
		t.Fatalf("%s: the history ends with record %d of %d kept, %d were appended", what, last, n, least)
	}
}
