//go:build !windows

package fusefs

import "github.com/hanwen/go-fuse/v2/fs"

// What each inode and handle answers. go-fuse finds out by type assertion and
// says nothing when a method's signature is wrong.
var (
	_ folder                = (*Dir)(nil)
	_ fs.NodeLookuper       = (*Dir)(nil)
	_ fs.NodeGetattrer      = (*Dir)(nil)
	_ fs.NodeSetattrer      = (*Dir)(nil)
	_ fs.NodeOpendirHandler = (*Dir)(nil)
	_ fs.NodeStatfser       = (*Dir)(nil)
	_ fs.NodeFsyncer        = (*Dir)(nil)
	_ fs.NodeCreater        = (*Dir)(nil)
	_ fs.NodeMknoder        = (*Dir)(nil)
	_ fs.NodeMkdirer        = (*Dir)(nil)
	_ fs.NodeRmdirer        = (*Dir)(nil)
	_ fs.NodeUnlinker       = (*Dir)(nil)
	_ fs.NodeRenamer        = (*Dir)(nil)
	_ fs.NodeSymlinker      = (*Dir)(nil)
	_ fs.NodeLinker         = (*Dir)(nil)

	_ folder                = (*ScratchDir)(nil)
	_ fs.NodeLookuper       = (*ScratchDir)(nil)
	_ fs.NodeGetattrer      = (*ScratchDir)(nil)
	_ fs.NodeSetattrer      = (*ScratchDir)(nil)
	_ fs.NodeOpendirHandler = (*ScratchDir)(nil)
	_ fs.NodeStatfser       = (*ScratchDir)(nil)
	_ fs.NodeFsyncer        = (*ScratchDir)(nil)
	_ fs.NodeCreater        = (*ScratchDir)(nil)
	_ fs.NodeMknoder        = (*ScratchDir)(nil)
	_ fs.NodeMkdirer        = (*ScratchDir)(nil)
	_ fs.NodeRmdirer        = (*ScratchDir)(nil)
	_ fs.NodeUnlinker       = (*ScratchDir)(nil)
	_ fs.NodeRenamer        = (*ScratchDir)(nil)
	_ fs.NodeSymlinker      = (*ScratchDir)(nil)
	_ fs.NodeLinker         = (*ScratchDir)(nil)

	_ fs.FileReaddirenter = (*dirHandle)(nil)
	_ fs.FileSeekdirer    = (*dirHandle)(nil)

	_ node              = (*ScratchLink)(nil)
	_ fs.NodeReadlinker = (*ScratchLink)(nil)
	_ fs.NodeGetattrer  = (*ScratchLink)(nil)
	_ fs.NodeSetattrer  = (*ScratchLink)(nil)

	_ node              = (*Link)(nil)
	_ fs.NodeReadlinker = (*Link)(nil)
	_ fs.NodeGetattrer  = (*Link)(nil)
	_ fs.NodeSetattrer  = (*Link)(nil)

	_ node               = (*File)(nil)
	_ fs.NodeOpener      = (*File)(nil)
	_ fs.NodeGetattrer   = (*File)(nil)
	_ fs.NodeSetattrer   = (*File)(nil)
	_ fs.NodeOnForgetter = (*File)(nil)

	_ fs.FileReader   = (*Handle)(nil)
	_ fs.FileWriter   = (*Handle)(nil)
	_ fs.FileFlusher  = (*Handle)(nil)
	_ fs.FileFsyncer  = (*Handle)(nil)
	_ fs.FileReleaser = (*Handle)(nil)

	_ node             = (*Attachment)(nil)
	_ fs.NodeOpener    = (*Attachment)(nil)
	_ fs.NodeGetattrer = (*Attachment)(nil)
	_ fs.NodeSetattrer = (*Attachment)(nil)

	_ fs.FileReader   = (*attachmentHandle)(nil)
	_ fs.FileWriter   = (*attachmentHandle)(nil)
	_ fs.FileFsyncer  = (*attachmentHandle)(nil)
	_ fs.FileReleaser = (*attachmentHandle)(nil)
)
