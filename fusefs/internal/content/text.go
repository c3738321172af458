//go:build !windows

// Package content represents the content of a file: the text that the kernel may have cached, and the text that
// programs write.
package content

import (
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
)

// Image is a note as the kernel or a process sees it. The kernel caches its size and pages; a process computes its next
// write from it. Usually the text is the text of Version. After a commit that merged, the two differ: the writer still
// sees the bytes that it wrote, and Version includes another writer's change.
type Image struct {
	Text    string
	ModTime time.Time
	Version *model.Version
	// Form is set for a written text that did not change the note, or left it empty. Such a text may differ from the
	// version's text only in form (see form).
	Form bool
}

func ImageOf(v *model.Version) Image { return Image{Text: v.Text(), ModTime: v.ModTime(), Version: v} }

// Exact reports whether the text is the text of Version.
func (im Image) Exact() bool { return im.Version != nil && im.Text == im.Version.Text() }

// Rebase returns the base and the text to write for a program that was shown the image and wrote text. It merges the
// difference between the image and its version into text.
func (im Image) Rebase(text string) (*model.Version, string) {
	if im.Version != nil && !im.Exact() {
		text = textmerge.Merge(textmerge.RawSide(im.Text, nil), textmerge.RawSide(im.Version.Text(), nil), text)
	}
	return im.Version, text
}

// HasChangesTo reports whether text has the lines that next has more often than im, at least one, and lacks the lines that
// next has less often. Lines that text lacks are no evidence alone: its writer may have changed or deleted them. HasChangesTo
// ignores empty lines and line ends, which programs change.
func (im Image) HasChangesTo(next Image, text string) bool {
	counts := make(map[string][3]int)
	for i, t := range []string{im.Text, next.Text, text} {
		for _, line := range strings.FieldsFunc(t, func(r rune) bool { return r == '\n' || r == '\r' }) {
			n := counts[line]
			n[i]++
			counts[line] = n
		}
	}
	added := false
	for _, n := range counts {
		if n[1] > n[0] && n[2] < n[1] || n[1] < n[0] && n[2] > n[1] {
			return false
		}
		added = added || n[1] > n[0]
	}
	return added
}

type State uint8

const (
	Unloaded    State = iota // the text is not loaded yet
	Evicted                  // the kernel may have cached the text; only its length and time are in memory
	Loaded                   // the kernel may have cached the text, and it is in memory
	WriteFailed              // the text could not be saved; its writer still sees it
	Buffered                 // the text is in a buffer, as it always is for a scratch file
)

// Text is the text that an inode shows, with the newest version of its note.
type Text struct {
	state State
	// image is the text that the kernel may have cached. Reads return it unless the text is buffered. It stays the same
	// while no program writes through the inode.
	image  Image
	size   int64     // length of the text if it is evicted
	made   time.Time // time of the image's version if the text is evicted; image.ModTime may be later
	from   *Image    // base of a text whose write failed; the base of the next write, too
	buffer *Buffer   // set if the text is buffered
	latest *model.Version
	// notBefore is the earliest modification time for a new image.
	notBefore time.Time
}

func WrittenText(b *Buffer) Text { return Text{state: Buffered, buffer: b} }

func (t *Text) State() State { return t.state }

// Buffer returns the buffer. It is nil unless the text is buffered.
func (t *Text) Buffer() *Buffer { return t.buffer }

// Image returns the image that is shown, or that was shown before the text was buffered.
func (t *Text) Image() Image { return t.image }

// Latest returns the newest version of the note, or nil if that version has not been read yet.
func (t *Text) Latest() *model.Version { return t.latest }

// IsEvicted reports whether the text is not in memory, because it was evicted or was never loaded.
func (t *Text) IsEvicted() bool { return t.state <= Evicted }

func (t *Text) Size() int64 {
	switch t.state {
	case Buffered:
		return int64(len(t.buffer.Data))
	case Evicted:
		return t.size
	}
	return int64(len(t.image.Text))
}

func (t *Text) ModTime() time.Time {
	if t.state == Buffered {
		return t.buffer.ModTime
	}
	return t.image.ModTime
}

func (t *Text) ReadAt(dest []byte, off int64) int {
	switch {
	case off >= t.Size():
		return 0
	case t.state == Buffered:
		return copy(dest, t.buffer.Data[off:])
	}
	return copy(dest, t.image.Text[off:])
}

func (t *Text) String() string {
	if t.state == Buffered {
		return string(t.buffer.Data)
	}
	return t.image.Text
}

func (t *Text) Base() Image {
	switch t.state {
	case Buffered:
		return t.buffer.Base
	case WriteFailed:
		return *t.from
	}
	return t.image
}

// SetLatest sets the latest version to v if v is newer. nil means that there is a newer version that has not been read.
func (t *Text) SetLatest(v *model.Version) {
	if v == nil || t.latest == nil || v.Seq() > t.latest.Seq() {
		t.latest = v
	}
}

// IsStale reports whether the text of the newest version differs, or may differ, from the shown text by more than its
// form (see keepsForm). A buffered text is not stale, because its commit will make it the newest.
func (t *Text) IsStale() bool {
	switch {
	case t.state == Unloaded, t.state == Buffered:
		return false
	case t.latest == nil:
		return true
	case t.state == Evicted:
		return int64(len(t.latest.Text())) != t.size || !t.latest.ModTime().Equal(t.made)
	}
	return t.image.Text != t.latest.Text() && !t.keepsForm()
}

// keepsForm reports whether a program wrote the shown text, and the newest version differs from that text only in form.
// The writer must read the text as it was written, although the note keeps another form.
func (t *Text) keepsForm() bool {
	return t.image.Form && t.image.Version == t.latest && form(t.image.Text) == form(t.latest.Text())
}

// form returns a text without byte order mark, without carriage returns at line ends, and without final newline.
func form(text string) string {
	return strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
}

// Show makes the newest version the image, if the image has the text of that version or no text is loaded.
func (t *Text) Show() {
	if t.latest == nil || t.state == Buffered || t.IsStale() || t.image.Version == t.latest && (t.image.Exact() || t.state == Loaded) {
		return
	}
	t.state, t.image = Loaded, ImageOf(t.latest)
	if t.image.ModTime.Before(t.notBefore) {
		t.image.ModTime = t.notBefore
	}
}

// Evict drops the text if the workspace has it.
func (t *Text) Evict() {
	if t.state == Loaded && t.image.Exact() {
		*t = Text{state: Evicted, size: t.Size(), made: t.image.Version.ModTime(), image: Image{ModTime: t.image.ModTime}, notBefore: t.notBefore}
	}
}

func (t *Text) Forget() { t.state = Unloaded }

// Next returns the text of the next inode, which shows a newer version than the image.
func (t *Text) Next() Text {
	t.notBefore = model.NextModTime(t.image.ModTime, t.notBefore)
	return Text{notBefore: t.notBefore}
}

// Committed returns the text without uncommitted writes.
func (t *Text) Committed() Text {
	if t.state != Buffered {
		return *t
	}
	return Text{state: Loaded, image: t.buffer.Base, latest: t.latest, notBefore: t.notBefore}
}

// Edit returns the buffer. It creates one from the shown text if needed.
func (t *Text) Edit() *Buffer {
	if t.state != Buffered {
		t.buffer = &Buffer{Data: []byte(t.image.Text), ModTime: t.image.ModTime, Base: t.Base()}
		t.state = Buffered
	}
	return t.buffer
}

// Release makes the text show the image that was committed last.
func (t *Text) Release() { t.state, t.image, t.buffer = Loaded, t.buffer.Base, nil }

func (t *Text) FailWrite() {
	b := t.buffer
	from := b.Base
	t.state, t.from, t.buffer = WriteFailed, &from, nil
	t.image = Image{Text: string(b.Data), ModTime: b.ModTime, Version: b.Base.Version}
}

func (t *Text) BecomeScratch() {
	b := t.buffer
	if b == nil {
		b = &Buffer{Data: []byte(t.image.Text), ModTime: t.image.ModTime, Base: t.Base()}
		if t.state == WriteFailed {
			b.Gen++ // Data is not the text of Base
		}
	}
	*t = Text{state: Buffered, buffer: b, notBefore: t.notBefore}
}

// Adopt turns the text into the text of a note. v is the version in which the workspace has stored the buffer of
// generation gen.
func (t *Text) Adopt(im Image, gen uint64, v *model.Version) {
	t.image = im
	t.SetLatest(v)
	if t.buffer == nil {
		t.state = Loaded
		return
	}
	t.buffer.Saved(im, gen)
}
