package ycrdt

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"reflect"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// A scenarioLog is what tests/peer/scenario.mjs recorded of several Yjs
// documents: every edit and delivery with the bytes it caused.
type scenarioLog struct {
	Seed    int
	Clients []struct {
		ID      uint64
		Foreign bool
	}
	Steps []scenarioStep
	Final []struct {
		JSON                any
		SV, State, Snapshot string
	}
}

type scenarioStep struct {
	Kind   string  `json:"k"` // "local", "foreign" or "apply"
	Client int     `json:"c"`
	Ops    [][]any // of a local step

	Update string // of an apply step
	Merge  []string
	Diff   []string // update, state vector
	From   *int
	SV     string

	Updates []string `json:"u"` // emitted
	Hash    string   `json:"h"` // sha1 of the state
	State   string   `json:"s"` // the state, of foreign clients or if asked for
}

// A replica repeats in Go what one Yjs document of a log did. What only Yjs
// can do reaches it as an update.
type replica struct {
	doc     *Doc
	foreign bool
	text    *Text
	m       *Map
	array   *Array
	updates []string
}

func newReplica(id uint64) *replica {
	d := NewDoc(Options{ClientID: ClientID(id)})
	r := &replica{doc: d, text: d.Text("t"), m: d.Map("m"), array: d.Array("a")}
	d.OnUpdate(func(u []byte) { r.updates = append(r.updates, hex.EncodeToString(u)) })
	return r
}

// replay repeats the log in Go and compares every step.
func replay(log *scenarioLog) error {
	replicas := make([]*replica, len(log.Clients))
	for i, c := range log.Clients {
		id := c.ID
		if c.Foreign {
			id = uint64(5000 + i) // the updates that it is fed carry the other's id
		}
		replicas[i] = newReplica(id)
		replicas[i].foreign = c.Foreign
	}
	for i := range log.Steps {
		if err := replayStep(replicas, &log.Steps[i]); err != nil {
			return fmt.Errorf("seed %d, step %d (%s by %d): %w", log.Seed, i, log.Steps[i].Kind, log.Steps[i].Client, err)
		}
	}
	for i, f := range log.Final {
		d := replicas[i].doc
		got := map[string]any{"t": replicas[i].text.String(), "m": packValue(replicas[i].m).(map[string]any)["$m"], "a": packValue(replicas[i].array).(map[string]any)["$a"]}
		for _, err := range []error{
			same("JSON", normalize(got), f.JSON),
			same("state vector", hex.EncodeToString(d.EncodeStateVector()), f.SV),
			replicas[i].sameState("state", d.EncodeStateAsUpdate(nil), f.State),
			same("snapshot", hex.EncodeToString(d.Snapshot().Encode()), f.Snapshot),
		} {
			if err != nil {
				return fmt.Errorf("seed %d, end of client %d: %w", log.Seed, i, err)
			}
		}
	}
	return nil
}

func same(what string, got, want any) error {
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return fmt.Errorf("%s differs:\n got %v\nwant %v", what, got, want)
}

func replayStep(replicas []*replica, s *scenarioStep) error {
	r := replicas[s.Client]
	r.updates = nil
	follow := s.Updates // updates that Yjs made and that r has to be fed
	var err error
	switch s.Kind {
	case "local":
		r.doc.Transact(func(tx *Txn) {
			for _, op := range s.Ops {
				if err == nil {
					err = r.perform(tx, op)
				}
			}
		})
		follow = follow[min(1, len(follow)):]
	case "apply":
		err = r.deliver(replicas, s)
		// After the first, Yjs has cleaned up formats in transactions of its own.
		follow = follow[min(len(r.updates), len(follow)):]
	}
	if err != nil {
		return err
	}
	for _, u := range follow {
		if err := r.doc.ApplyUpdate(mustHex(u)); err != nil {
			return err
		}
	}
	r.doc.mu.Lock()
	err = checkStore(r.doc.store)
	r.doc.mu.Unlock()
	if err != nil {
		return err
	}
	if s.Kind != "foreign" { // who makes a change announces more deletes than who receives it
		if err := same("updates", append([]string{}, r.updates...), s.Updates); err != nil {
			return err
		}
	}
	state := r.doc.EncodeStateAsUpdate(nil)
	if s.State != "" {
		err := r.sameState("state", state, s.State)
		if err != nil || r.foreign {
			return err
		}
	}
	sum := sha1.Sum(state)
	return same("hash of the state", hex.EncodeToString(sum[:]), s.Hash)
}

// sameState compares encoded states. Those of a foreign client may differ in
// which GC structs have been merged: Yjs collects what it deletes itself by
// other steps than what an update deletes.
func (r *replica) sameState(what string, got []byte, want string) error {
	err := same(what, hex.EncodeToString(got), want)
	if err == nil || !r.foreign {
		return err
	}
	return same(what+", reloaded", reload(got), reload(mustHex(want)))
}

func reload(state []byte) string {
	d := NewDoc(Options{})
	if err := d.ApplyUpdate(state); err != nil {
		return err.Error()
	}
	return hex.EncodeToString(d.EncodeStateAsUpdate(nil))
}

// deliver applies the update of the step, after comparing how it was made.
func (r *replica) deliver(replicas []*replica, s *scenarioStep) error {
	update := mustHex(s.Update)
	if s.From != nil {
		got := replicas[*s.From].doc.EncodeStateAsUpdate(mustHex(s.SV))
		if err := replicas[*s.From].sameState("encoded state", got, s.Update); err != nil {
			return err
		}
	}
	if s.Merge != nil {
		parts := make([][]byte, len(s.Merge))
		for i, m := range s.Merge {
			parts[i] = mustHex(m)
		}
		got, err := MergeUpdates(parts...)
		if err != nil {
			return err
		}
		if err := same("merged update", hex.EncodeToString(got), s.Update); err != nil {
			return err
		}
	}
	if s.Diff != nil {
		have, err := DecodeStateVector(mustHex(s.Diff[1]))
		if err != nil {
			return err
		}
		got := wire.DiffScanned(mustHex(s.Diff[0]), have)
		if err := same("diff", hex.EncodeToString(got), s.Update); err != nil {
			return err
		}
	}
	return r.doc.ApplyUpdate(update)
}

func mustHex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// perform makes one edit of a log: [kind, path, arguments...].
func (r *replica) perform(tx *Txn, op []any) error {
	target, err := r.resolve(tx, op[1].([]any))
	if err != nil {
		return err
	}
	num := func(i int) int { return int(op[i].(float64)) }
	switch t := target.(type) {
	case *Text:
		if op[0] == "ti" {
			t.Insert(tx, num(2), op[3].(string))
		} else {
			t.Delete(tx, num(2), num(3))
		}
	case *Map:
		if op[0] == "md" {
			t.Delete(tx, op[2].(string))
			return nil
		}
		return t.Set(tx, op[2].(string), unpackValue(op[3]))
	case *Array:
		switch op[0] {
		case "ad":
			t.Delete(tx, num(2), num(3))
		case "ap":
			return t.Push(tx, unpackValue(op[2]).([]any)...)
		default:
			return t.Insert(tx, num(2), unpackValue(op[3]).([]any)...)
		}
	}
	return nil
}

func (r *replica) resolve(tx *Txn, path []any) (any, error) {
	target := map[any]any{"t": r.text, "m": r.m, "a": r.array}[path[0]]
	for _, key := range path[1:] {
		var ok bool
		switch t := target.(type) {
		case *Map:
			target, ok = t.GetIn(tx, key.(string))
		case *Array:
			target, ok = t.ValuesIn(tx)[int(key.(float64))], true
		}
		if !ok {
			return nil, fmt.Errorf("no type at path %v", path)
		}
	}
	return target, nil
}
