// Package vault serves a local folder of notes, such as an Obsidian vault, as a
// model.Source that can also restructure itself (model.Structure) and serve
// attachments (model.Files).
//
//	v, err := vault.New("/home/ann/Notes", vault.Options{})
//	...
//	defer v.Close()
//	err = v.Scan(ctx, func(e model.SourceEntry) { fmt.Println(e.Rel) })
//	data, stamp, err := v.Read(ctx, "Projects/Plan.md")
//	stamp, err = v.Replace(ctx, "Projects/Plan.md", model.Replacement{Expect: stamp, Data: edited, ModTime: time.Now()})
//	err = v.Run(ctx, func(ev model.SourceEvent) { fmt.Println(ev.Kind, ev.Rel) })
//
// What is served, and how paths are walked, is in the documentation of internal/vaultdir. No
// symlink is followed: it is reported as what it is, so that a file has one path, and the
// user of the vault follows it.
//
// # Who writes when
//
// Users' programs write to the vault at any moment and take no locks. Two of their habits
// shape this package. An editor truncates a file and then writes it, so Read waits until a
// file that was just changed stays the same. And an editor may save while Replace is at
// work; internal/filereplace tells how no person's save is lost to that.
//
// # Following changes
//
// Run watches every folder with inotify. An event only marks a path as worth a
// look; what happened is decided by comparing the disk with the Vault's tree of names, once
// the path has stayed the same for a moment. So a lost event costs a rescan and nothing
// else, a burst becomes one report per path, and what Replace and the Structure methods
// did is in the tree already and not reported.
//
// # Concurrency and errors
//
// All methods may be called from several goroutines. No lock is held across a system call.
// Errors are *fs.PathError around a sentinel of bridge/model or of io/fs.
package vault
