// Package vault serves a local folder of notes, such as an Obsidian vault, as a
// model.Source that can also restructure itself (model.Structure) and serve
// attachments (model.Files). Linux only.
//
//	v, err := vault.New("/home/ann/Notes", vault.Options{})
//	...
//	defer v.Close()
//	err = v.Scan(ctx, func(e model.SourceEntry) { fmt.Println(e.Rel) })
//	data, stamp, err := v.Read(ctx, "Projects/Plan.md")
//	stamp, err = v.Replace(ctx, "Projects/Plan.md", model.Replacement{Expect: stamp, Data: edited, ModTime: time.Now()})
//	err = v.Run(ctx, func(ev model.SourceEvent) { fmt.Println(ev.Kind, ev.Rel) })
//
// # What is served
//
// Folders and regular files whose names are UTF-8, and symlinks that lead to a place
// in the same vault. Hidden are folders whose names begin with a dot
// (.obsidian, .trash, .git), this package's own temp files, symlinks that lead
// elsewhere, and everything else. No method reaches
// a hidden path: paths are walked from the vault's directory name by name, and
// a symlink in place of a folder, even one swapped in at that moment, is an error.
//
// No symlink is followed here. It is told of as what it is, so that a file has one
// path and is known once, and who uses the vault follows it.
//
// # Who writes when
//
// People's programs write to the vault at any moment and know nothing of this
// package. Two of their habits shape it. An editor truncates a file and then
// writes it, so Read waits until a file that was just changed stays the same.
// And an editor may save while Replace is at work, so Replace exchanges the new
// file with the old one in one step and only then looks at what it displaced;
// swap.go and late.go tell how no person's save is lost to that.
//
// # Following changes
//
// Run watches every folder with inotify. An event only marks a path as worth a
// look; what happened is decided by comparing the disk with what the Vault
// knows, once the path has stayed the same for a moment. So a lost event costs
// a rescan and nothing else, a burst becomes one report per path, and what
// Replace and the Structure methods did is known already and not reported.
//
// # Concurrency and errors
//
// All methods may be called from several goroutines. Vault.mu protects memory
// and is never held across a system call. Errors are *fs.PathError around a
// sentinel of bridge or of io/fs.
package vault
