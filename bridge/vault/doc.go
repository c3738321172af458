// Package vault serves a local folder of notes, such as an Obsidian vault, as a model.Source, model.Structure and
// model.Files.
//
// Package internal/vaultdir documents which files are served and how paths are walked. Symlinks are reported and never
// followed, so that a file has one path.
//
// # Who writes when
//
// Users' programs write to the vault at any moment and take no locks. An editor truncates a file and then writes it, so
// Read waits until a file that was just changed stays the same. An editor may also save during a Replace; the doc of
// internal/filereplace explains why no save is lost then.
//
// # Durability
//
// When Replace returns, the change survives a crash of the process; a moment later, or after Sync, it survives a power
// cut. A change by a method of Structure is synced before the method returns. Scan, which must come first, also repairs
// the damage of a power cut (internal/filereplace).
//
// # Following changes
//
// Run watches every folder with inotify. An event only marks a path. When the path has stayed the same for a moment,
// Run compares the disk with the Vault's tree of names. So a lost event costs only a rescan, and a burst of events
// becomes one report per path. Changes by Replace and the Structure methods are already in the tree, so Run does not
// report them. A change by a user is made in the tree when the receiver takes the report (model.SourceEvent.Next), so
// that it is never about names that relayfs has changed in the meantime.
//
// Methods are safe for concurrent use. No lock is held across a system call. Most errors are *fs.PathError values
// that wrap a sentinel of bridge/model or io/fs.
package vault
