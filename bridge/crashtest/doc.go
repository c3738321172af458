// Package crashtest stops relayfs between any two of its system calls. It runs the workspace on the vault and the store of
// a real process, on disks in memory (bridge/disk/disktest), and starts it again on every state
// that a kill or a power cut leaves.
//
//	go test ./bridge/crashtest                    # a few states
//	RELAYFS_TESTS=all go test ./bridge/crashtest  # as make test does: some states, in about 60 s of CPU time
//	RELAYFS_SOAK=1s go test ./bridge/crashtest    # those at every call, as make soak does; takes hours
//
// Each run visits other states. RELAYFS_SEED, which each test prints, says which.
//
// A scenario is a list of steps. It is run twice without a crash: once to find out what
// notes, suggestions, authors, decisions and proposals there are after each step, and once to keep the disks as they are before each call. In every state a new
// process must find what there was before or after the step that was interrupted:
//
//   - after a kill what a step has returned for is there, with its author;
//   - after a power cut a note has the text before or after a step, whole; what was decided, proposed or
//     acknowledged to a server is there; an author may be missing if the log was not synced;
//   - what a person has saved is there;
//   - the file has the text, no temp file is left, and a second start changes nothing.
//
// A sync that fails ends the step that is told of it: then there is what there was before or after that step. What a
// kill leaves is not followed by a power cut then, since no later process can know of the failure.
//
// It is a package of its own because the race detector, with which bridge, its vault and its store are tested, would take too long.
package crashtest
