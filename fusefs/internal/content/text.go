//go:build !windows

// Package content has what a file shows and what is written to it, as values.
package content

import (
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
)

// Image is what somebody sees of a note: the kernel, which caches its size and
// pages, or a process, which computes what it will write from it. Mostly the
// text is that of version. It is not after a commit that merged: the writer
// still sees the bytes it wrote, and version holds another's change besides.
type Image struct {
	Text    string
	ModTime time.Time
	Version *model.Version
	// Form is set for a text that was written, and that changed nothing: it may differ from the version's in its form.
	Form bool
}

// ImageOf is what v looks like.
func ImageOf(v *model.Version) Image { return Image{Text: v.Text(), ModTime: v.ModTime(), Version: v} }

// Exact says that text is the version's own.
func (im Image) Exact() bool { return im.Version != nil && im.Text == im.Version.Text() }

// Write is the bridge.Write of a program that was shown one of these images and wrote text.
// If all images are exact the workspace chooses among their versions. Otherwise Write
// chooses the nearest one, and carries over the difference between it and its version.
func Write(shown []Image, text string) bridge.Write {
	w := bridge.Write{Text: text}
	if !slices.ContainsFunc(shown, func(im Image) bool { return !im.Exact() }) {
		for _, im := range shown {
			w.Bases = append(w.Bases, im.Version)
		}
		return w
	}
	im := textmerge.Nearest(shown, func(im Image) string { return im.Text }, text)
	w.Bases = []*model.Version{im.Version}
	if !im.Exact() {
		w.Text = textmerge.Merge(textmerge.RawSide(im.Text, nil), textmerge.RawSide(im.Version.Text(), nil), text)
	}
	return w
}

// State says where a Text is.
type State uint8

const (
	Unread  State = iota // nothing is known of it
	Asleep               // the kernel was told of it, and only its length and time are in memory
	Shown                // the kernel was told of it, and it is in memory
	Refused              // it could not be saved; its writer still sees it
	Written              // it is in a buffer, as that of a scratch file always is
)

// Text is what an inode shows, and what its note has become since.
type Text struct {
	state State
	// image is what the kernel was told of the note, and what reads return if it is not
	// written: the same for as long as nobody writes through the inode.
	image  Image
	size   int64   // of a text that is asleep
	from   *Image  // what a refused text was made from: nobody's next write is computed from that text
	buffer *Buffer // of a text that is written
	latest *model.Version
	// notBefore is the earliest time that a new image may have.
	notBefore time.Time
}

// WrittenText is the text of a new file.
func WrittenText(b *Buffer) Text { return Text{state: Written, buffer: b} }

// State says where the text is.
func (t *Text) State() State { return t.state }

// Buffer is nil unless the text is written.
func (t *Text) Buffer() *Buffer { return t.buffer }

// Image is what is shown, or was before it was written.
func (t *Text) Image() Image { return t.image }

// Latest is the newest version known, nil if there is a newer one that has not been read.
func (t *Text) Latest() *model.Version { return t.latest }

// Rests says that the text is not in memory.
func (t *Text) Rests() bool { return t.state <= Asleep }

// Size is the text's length.
func (t *Text) Size() int64 {
	switch t.state {
	case Written:
		return int64(len(t.buffer.Data))
	case Asleep:
		return t.size
	}
	return int64(len(t.image.Text))
}

// ModTime is when the text became what it is.
func (t *Text) ModTime() time.Time {
	if t.state == Written {
		return t.buffer.ModTime
	}
	return t.image.ModTime
}

// ReadAt copies from the text to dest.
func (t *Text) ReadAt(dest []byte, off int64) int {
	switch {
	case off >= t.Size():
		return 0
	case t.state == Written:
		return copy(dest, t.buffer.Data[off:])
	}
	return copy(dest, t.image.Text[off:])
}

// String is a copy of the text.
func (t *Text) String() string {
	if t.state == Written {
		return string(t.buffer.Data)
	}
	return t.image.Text
}

// Base is what the text is made from.
func (t *Text) Base() Image {
	switch t.state {
	case Written:
		return t.buffer.From
	case Refused:
		return *t.from
	}
	return t.image
}

// Learn keeps v if it is newer than the latest. nil says that there is a newer one.
func (t *Text) Learn(v *model.Version) {
	if v == nil || t.latest == nil || v.Seq() > t.latest.Seq() {
		t.latest = v
	}
}

// Outdated says whether something else is shown than the newest version. What is written
// is not: it is to become the newest.
func (t *Text) Outdated() bool {
	switch {
	case t.state == Unread, t.state == Written:
		return false
	case t.latest == nil:
		return true
	case t.state == Asleep:
		return int64(len(t.latest.Text())) != t.size || !t.imageOf(t.latest).ModTime.Equal(t.image.ModTime)
	}
	return t.image.Text != t.latest.Text() && !t.keepsForm()
}

// keepsForm says that what is shown was written since the newest version was made, and differs from it in its form alone:
// whoever wrote it finds it as it was written. The note keeps its own form.
func (t *Text) keepsForm() bool {
	return t.image.Form && t.image.Version == t.latest && form(t.image.Text) == form(t.latest.Text())
}

// form is a text without a byte order mark, carriage returns at line ends and a final newline.
func form(text string) string {
	return strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
}

func (t *Text) imageOf(v *model.Version) Image {
	im := ImageOf(v)
	if im.ModTime.Before(t.notBefore) {
		im.ModTime = t.notBefore
	}
	return im
}

// Show shows the newest version if its text is shown already, or if nothing is.
func (t *Text) Show() {
	if t.latest == nil || t.state == Written || t.Outdated() || t.image.Version == t.latest && (t.image.Exact() || t.state == Shown) {
		return
	}
	t.state, t.image = Shown, t.imageOf(t.latest)
}

// Sleep drops the text if the workspace has it.
func (t *Text) Sleep() {
	if t.state == Shown && t.image.Exact() {
		*t = Text{state: Asleep, size: t.Size(), image: Image{ModTime: t.image.ModTime}, notBefore: t.notBefore}
	}
}

// Forget is called when the kernel has forgotten the text.
func (t *Text) Forget() { t.state = Unread }

// Next is the text of the inode that follows, for a version other than the image.
func (t *Text) Next() Text {
	t.notBefore = Later(t.notBefore, t.image.ModTime)
	return Text{notBefore: t.notBefore}
}

// Edit returns the buffer, made from what is shown if there is none.
func (t *Text) Edit() *Buffer {
	if t.state != Written {
		t.buffer = &Buffer{Data: []byte(t.image.Text), ModTime: t.image.ModTime, From: t.Base(), First: true}
		t.state = Written
	}
	return t.buffer
}

// Settle shows what was committed last.
func (t *Text) Settle() { t.state, t.image, t.buffer = Shown, t.buffer.From, nil }

// Refuse shows what could not be committed.
func (t *Text) Refuse() {
	b := t.buffer
	from := b.From
	t.state, t.from, t.buffer = Refused, &from, nil
	t.image = Image{Text: string(b.Data), ModTime: b.ModTime, Version: b.From.Version}
}

// Detach moves what is shown to a buffer that has nothing to do with a note.
func (t *Text) Detach() {
	b := t.buffer
	if b == nil {
		b = &Buffer{Data: []byte(t.image.Text), ModTime: t.image.ModTime}
	}
	*t = Text{state: Written, buffer: b, notBefore: t.notBefore}
}

// Adopt makes the text that of a note. The buffer as of gen has become v.
func (t *Text) Adopt(im Image, gen uint64, v *model.Version) {
	t.image, t.latest = im, v
	if t.buffer == nil {
		t.state = Shown
		return
	}
	t.buffer.Saved(im, gen)
}
