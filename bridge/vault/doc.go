// Package vault serves a local folder of notes, such as an Obsidian vault, as a model.Source, model.Structure and model.Files.
//
// Package internal/vaultdir documents what is served and how paths are walked. Symlinks are reported and never followed, so
// that a file has one path.
//
// # Who writes when
//
// Users' programs write to the vault at any moment and take no locks. An editor truncates a file and then writes it, so Read
// waits until a file that was just changed stays the same. An editor may also save during a Replace; internal/filereplace
// describes why no save is lost then.
//
// # Following changes
//
// Run watches every folder with inotify. An event only marks a path; once the path has stayed the same for a moment, the
// disk is compared with the Vault's tree of names. So a lost event costs only a rescan, a burst becomes one report per path,
// and changes by Replace and the Structure methods are in the tree already and not reported.
//
// Methods are safe for concurrent use. No lock is held across a system call. Errors are *fs.PathError around a sentinel of
// bridge/model or io/fs.
package vault
