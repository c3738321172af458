package checkpoint

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
)

// The format of bbolt (its version 2); sizes are in bytes. A file is a sequence of pages, the first two of which hold a
// meta record each: the valid one with the later transaction counts. Every other page has a header (its number in 8
// bytes, kind in 2, number of elements in 2, number of overflow pages in 4), then its elements, then their keys and
// values. Numbers are in the byte order of the machine.
const (
	pageSize    = 4096
	headerSize  = 16
	elementSize = 16 // of trees; an element of a freelist is the number of a page
	bucketSize  = 16 // a bucket, as a value: number of its root page, and a counter
	metaSize    = 64

	branchPage    = 1
	leafPage      = 2
	freelistPage  = 16
	bucketElement = 1      // flag of a leaf's element whose value is a bucket
	inlineRoot    = 0      // number of a bucket's only page that is not in the file, but follows the bucket in its value
	manyElements  = 0xffff // in the header of a freelist: its first element is the number of the others
)

var (
	order    = binary.NativeEndian
	metaMark = order.AppendUint32(order.AppendUint32(nil, 0xED0CDAED), 2)
)

// pages checks the pages of a bbolt file. Its methods panic if a page is invalid. Many of these panics are Go's own, for
// an index out of range.
type pages struct {
	file  io.ReaderAt
	used  []bool   // by page number
	spare [][]byte // pages that are done, whose memory is used again
}

// checkPages returns ErrDamaged if bbolt would read outside of a page of the file. bbolt trusts the numbers in its
// pages: a wrong one can make it take all memory, or give it a pointer at which Go ends the process. (bbolt's own check
// trusts them, too.)
func checkPages(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return guard(func() error {
		p := &pages{file: file}
		meta := newest(p.read(nil, 0, 1), p.read(nil, 1, 1))
		root, freelist, count := order.Uint64(meta[16:]), order.Uint64(meta[32:]), order.Uint64(meta[40:])
		if count > uint64(info.Size())/pageSize {
			return Damaged("it is truncated")
		}
		p.used = make([]bool, count)
		p.use(0)
		p.use(1)
		p.tree(root, nil, nil)
		p.freelist(freelist)
		return nil
	})
}

// newest returns the meta record that bbolt uses.
func newest(pages ...[]byte) (newest []byte) {
	for _, page := range pages {
		meta, sum := page[headerSize:][:metaSize], fnv.New64a()
		sum.Write(meta[:metaSize-8])
		valid := bytes.HasPrefix(meta, metaMark) && order.Uint32(meta[8:]) == pageSize && order.Uint64(meta[metaSize-8:]) == sum.Sum64()
		if valid && (newest == nil || order.Uint64(meta[48:]) > order.Uint64(newest[48:])) {
			newest = meta
		}
	}
	return newest
}

// read appends pages to data.
func (p *pages) read(data []byte, number, count uint64) []byte {
	start := len(data)
	data = slices.Grow(data, int(count)*pageSize)[:start+int(count)*pageSize]
	if _, err := p.file.ReadAt(data[start:], int64(number)*pageSize); err != nil {
		panic(err)
	}
	return data
}

func (p *pages) use(number uint64) {
	if p.used[number] {
		panic(fmt.Sprintf("page %d is used twice", number))
	}
	p.used[number] = true
}

// page returns the page of the number, with its overflow pages.
func (p *pages) page(number uint64) []byte {
	p.use(number)
	var page []byte
	if last := len(p.spare) - 1; last >= 0 {
		page, p.spare = p.spare[last][:0], p.spare[:last]
	}
	page = p.read(page, number, 1)
	if order.Uint64(page) != number {
		panic(fmt.Sprintf("page %d has another number", number))
	}
	overflow := uint64(order.Uint32(page[12:]))
	for n := range overflow {
		p.use(number + 1 + n)
	}
	return slices.Clip(p.read(page, number+1, overflow)) // so nothing after it can be sliced
}

func kindOf(page []byte) uint16 { return order.Uint16(page[8:]) }
func countOf(page []byte) int   { return int(order.Uint16(page[10:])) }

// tree checks the tree with the given root, whose keys must be at least low and less than high. nil is no limit.
func (p *pages) tree(root uint64, low, high []byte) {
	page := p.page(root)
	defer func() { p.spare = append(p.spare, page) }()
	if kindOf(page) == leafPage {
		p.leaf(page, low, high, true)
		return
	}
	if kindOf(page) != branchPage || countOf(page) == 0 {
		panic(fmt.Sprintf("page %d is in a tree", root))
	}
	child, from := uint64(0), low
	for i := range countOf(page) {
		element := page[headerSize+i*elementSize:]
		key := element[order.Uint32(element):][:order.Uint32(element[4:])]
		checkOrder(key, from, high, i > 0)
		if i > 0 {
			p.tree(child, from, key)
		}
		child, from = order.Uint64(element[8:]), key
	}
	p.tree(child, from, high)
}

// leaf checks a leaf. Only those in the file may have buckets.
func (p *pages) leaf(page, low, high []byte, inFile bool) {
	for i := range countOf(page) {
		element := page[headerSize+i*elementSize:]
		content := element[order.Uint32(element[4:]):]
		keySize, valueSize := order.Uint32(element[8:]), order.Uint32(element[12:])
		key, value := content[:keySize], content[keySize:][:valueSize:valueSize]
		checkOrder(key, low, high, i > 0)
		low = key
		if order.Uint32(element)&bucketElement == 0 {
			continue
		}
		if !inFile {
			panic("a bucket is in a bucket without pages")
		}
		if root := order.Uint64(value[:bucketSize]); root != inlineRoot {
			p.tree(root, nil, nil)
		} else if inline := value[bucketSize:]; kindOf(inline) == leafPage {
			p.leaf(inline, nil, nil, false)
		} else {
			panic("a bucket has no leaf")
		}
	}
}

func checkOrder(key, low, high []byte, afterLow bool) {
	if c := bytes.Compare(low, key); low != nil && (c > 0 || c == 0 && afterLow) || high != nil && bytes.Compare(key, high) >= 0 {
		panic("keys are in the wrong order")
	}
}

func (p *pages) freelist(number uint64) {
	page := p.page(number)
	if kindOf(page) != freelistPage {
		panic("the list of free pages has another kind")
	}
	numbers, count := page[headerSize:], uint64(countOf(page))
	if count == manyElements {
		count, numbers = order.Uint64(numbers), numbers[8:]
	}
	for ; count > 0; count, numbers = count-1, numbers[8:] {
		p.use(order.Uint64(numbers))
	}
}
