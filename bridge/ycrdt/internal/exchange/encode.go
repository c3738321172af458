package exchange

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/edit"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// Encode returns everything that a peer with the given state vector lacks, including pending updates.
func (a *Updates) Encode(have wire.StateVector) []byte {
	update := encodeState(a.store, have)
	if len(a.pending.deletes) == 0 && len(a.pending.updates) == 0 {
		return update
	}
	updates := [][]byte{update}
	if len(a.pending.deletes) > 0 {
		updates = append(updates, a.pending.deletes.AppendTo([]byte{0}))
	}
	if structs := a.pending.structs(); structs != nil {
		updates = append(updates, wire.DiffScanned(structs, have))
	}
	return wire.MergeScanned(updates)
}

// encodeState encodes all deletions, and all structs that a peer with the given state vector lacks.
func encodeState(s *ytypes.Store, have wire.StateVector) []byte {
	active := s.ActiveClients()
	lacking := active[:0:0]
	for _, home := range active {
		if s.Clients[home].Next > have[s.Clients[home].ID] {
			lacking = append(lacking, home)
		}
	}
	var dst []byte
	if len(have) == 0 {
		dst = make([]byte, 0, s.Arena.Live()+12*s.Used()+16)
	}
	dst = lib0.AppendUint(dst, uint64(len(lacking)))
	for _, home := range lacking {
		dst = appendClient(s, dst, home, have[s.Clients[home].ID])
	}
	return DeleteSet(s, active).AppendTo(dst)
}

func EncodeTransaction(tx *edit.Txn) []byte {
	s := tx.Store
	s.SortDescending(tx.Touched)
	dst := lib0.AppendUint(nil, uint64(len(tx.Touched)))
	for _, home := range tx.Touched {
		dst = appendClient(s, dst, home, s.Clients[home].Before)
	}
	return tx.Deletes.AppendTo(dst)
}

func DeleteSet(s *ytypes.Store, clients []uint32) (ds wire.DeleteSet) {
	for _, home := range clients {
		c := &s.Clients[home]
		for i := range c.Index.Chunks {
			for j := range c.Index.Chunks[i].Len() {
				if it := &s.Items[c.Index.Chunks[i].At(j)]; it.Deleted() {
					ds.Add(c.ID, it.From(), it.Units())
				}
			}
		}
	}
	return ds
}

func appendClient(s *ytypes.Store, dst []byte, home uint32, clock uint64) []byte {
	c := &s.Clients[home]
	x := &c.Index
	p := s.Find(x, clock)
	count := x.Chunks[p.Chunk].Len() - p.Index
	for _, ch := range x.Chunks[p.Chunk+1:] {
		count += ch.Len()
	}
	dst = lib0.AppendUint(dst, uint64(count))
	dst = lib0.AppendUint(dst, uint64(c.ID))
	dst = lib0.AppendUint(dst, clock)
	first := &s.Items[x.At(p)]
	dst = appendItem(s, dst, first, clock-first.From())
	for ci, from := p.Chunk, p.Index+1; ci < len(x.Chunks); ci, from = ci+1, 0 {
		ch := &x.Chunks[ci]
		for i := from; i < ch.Len(); i++ {
			dst = appendItem(s, dst, &s.Items[ch.At(i)], 0)
		}
	}
	return dst
}

func appendItem(s *ytypes.Store, dst []byte, it *structs.Item, offset uint64) []byte {
	if it.Kind == wire.KindGC {
		return lib0.AppendUint(append(dst, wire.KindGC), it.Units()-offset)
	}
	info := it.Kind
	if it.Origin != 0 || offset > 0 {
		info |= wire.InfoOrigin
	}
	if it.RightOrigin != 0 {
		info |= wire.InfoRight
	}
	if it.Parent < 0 {
		info |= wire.InfoParentSub
	}
	dst = append(dst, info)
	if offset > 0 {
		dst = wire.AppendID(dst, wire.ID{Client: s.IDOf(it).Client, Clock: it.From() + offset - 1})
	} else if it.Origin != 0 {
		dst = wire.AppendID(dst, wire.ID{Client: s.Clients[it.Origin].ID, Clock: uint64(it.OriginClock)})
	}
	if it.RightOrigin != 0 {
		dst = wire.AppendID(dst, wire.ID{Client: s.Clients[it.RightOrigin].ID, Clock: uint64(it.RightClock)})
	}
	if info&(wire.InfoOrigin|wire.InfoRight) == 0 {
		dst = appendParent(s, dst, it)
	}
	switch it.Kind {
	case wire.KindDeleted:
		return lib0.AppendUint(dst, it.Units()-offset)
	case wire.KindType:
		b := s.Branches[it.Off]
		return wire.AppendType(dst, b.TypeRef, b.Name)
	}
	return wire.AppendContent(dst, it.Kind, s.Arena.Of(it), uint64(it.Length), offset)
}

func appendParent(s *ytypes.Store, dst []byte, it *structs.Item) []byte {
	if b := s.BranchOf(it); b.Item == 0 {
		dst = lib0.AppendString(append(dst, 1), b.Root)
	} else {
		dst = wire.AppendID(append(dst, 0), s.IDOf(&s.Items[b.Item]))
	}
	if it.Parent < 0 {
		dst = lib0.AppendString(dst, s.Entries[-it.Parent].Key)
	}
	return dst
}
