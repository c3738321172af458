// Package wal is a write-ahead log: an append-only sequence of frames. A frame survives a crash of the process once
// Append returns, and a power cut once Sync returns. Each frame has a log sequence number (LSN). The caller keeps a
// checkpoint, and releases the frames that the checkpoint has. A Log does not interpret the frames; Entry is the format
// of a store's frames.
//
// # Layout
//
// The log is a folder of segments, NUMBER.seg. A segment has at most 4 MiB, unless a single frame needs more. Integers
// are little endian.
//
//	header   magic "rfswal02", LSN of the first frame (8 bytes), salt (8), CRC-32C of these 24 bytes (4), 0 (4)
//	frame    length of the body (4 bytes), CRC-32C (4), LSN (8), body
//
// A frame's checksum covers the segment's salt, the LSN, the length and the body. The space after the last frame is
// filled with zeros in advance, so that a sync only writes data; no frame is all zeros. The salt is random, so that
// blocks of a removed file, which may reappear after a power cut, are not valid frames.
//
// # Crashes
//
// LSNs are consecutive. Open reads each segment up to the first frame that is missing, cut off or damaged. If frames
// are missing before a segment, Open renames the segment to NAME.lost and ignores it. Segments are synced in order, so
// such a segment was never synced, unless the disk is damaged. Open syncs the frames that it found. New frames go only
// to a new segment.
//
// After a failed sync the kernel may have dropped the unwritten data, and the next sync would succeed without it. So
// the log keeps frames in memory until they are synced. After a failed sync it writes them to a new segment; the old
// segment holds a prefix of the same frames. As long as that fails too, each Append and Sync first repeats the attempt
// and returns its error.
package wal
