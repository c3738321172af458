// Package crashtest stops relayfs between two of its system calls. It runs the workspace with its real vault and store,
// on disks in memory (bridge/disk/disktest). Then it starts the workspace again on states that a kill or a power cut
// may leave.
//
//	go test ./bridge/crashtest                    # a few states
//	RELAYFS_TESTS=all go test ./bridge/crashtest  # more states, as in make test; about 20 s of CPU time
//	RELAYFS_SOAK=1s go test ./bridge/crashtest    # the states at every call, as in make soak; takes hours
//
// Each run visits different states. RELAYFS_SEED selects them; each test prints its seed.
//
// A scenario is a list of steps. It runs twice without a crash. The first run records the notes, suggestions, authors,
// decisions and proposals after each step; the second keeps a copy of the disks before each call. After a crash in any
// of these states, the next start must find the state before or after the interrupted step:
//
//   - After a kill, the effect of every step that has returned is present, with its author.
//   - After a power cut, a note has its whole text from before or after a step. Decisions, proposals and all changes
//     acknowledged to a server are present. An author may be missing if the log was not synced.
//   - Every save by a user is present.
//   - The file has the text of the note, no temp file is left, and a second start changes nothing.
//
// A step whose sync fails returns the error and leaves the state before or after that step. After a failed sync and a
// kill the test makes no power cut, because no later process can detect the failure.
//
// The tests of bridge, its vault and its store run with the race detector. crashtest is a separate package, because
// with the race detector it would take too long.
package crashtest
