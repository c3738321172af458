//go:build !windows

package fusefs

import "github.com/hanwen/go-fuse/v2/fs"

// What each inode and handle answers. go-fuse finds out by type assertion and
// says nothing when a method's signature is wrong.
type (
	withAttr interface {
		node
		fs.NodeGetattrer
		fs.NodeSetattrer
	}
	directory interface {
		withAttr
		folder
		fs.NodeLookuper
		fs.NodeOpendirHandler
		fs.NodeStatfser
		fs.NodeFsyncer
		fs.NodeCreater
		fs.NodeMknoder
		fs.NodeMkdirer
		fs.NodeRmdirer
		fs.NodeUnlinker
		fs.NodeRenamer
		fs.NodeSymlinker
		fs.NodeLinker
	}
	link interface {
		withAttr
		fs.NodeReadlinker
	}
	file interface {
		withAttr
		fs.NodeOpener
	}
	handle interface {
		fs.FileReader
		fs.FileWriter
		fs.FileFsyncer
		fs.FileReleaser
	}
)

var (
	_ = []directory{(*Dir)(nil), (*ScratchDir)(nil)}
	_ = []link{(*ScratchLink)(nil), (*Link)(nil)}
	_ = []file{(*File)(nil), (*Attachment)(nil)}
	_ = []handle{(*Handle)(nil), (*attachmentHandle)(nil)}

	_ fs.NodeOnForgetter  = (*File)(nil)
	_ fs.FileFlusher      = (*Handle)(nil)
	_ fs.FileReaddirenter = (*dirHandle)(nil)
	_ fs.FileSeekdirer    = (*dirHandle)(nil)
)
