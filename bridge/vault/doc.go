// Package vault serves a local folder of notes, such as an Obsidian vault, as a model.Source, model.Structure and model.Files.
//
//	v, err := vault.New("/home/ann/Notes", vault.Options{})
//	...
//	defer v.Close()
//	err = v.Scan(ctx, func(e model.SourceEntry) { fmt.Println(e.Rel) })
//	data, stamp, err := v.Read(ctx, "Projects/Plan.md")
//	stamp, err = v.Replace(ctx, "Projects/Plan.md", model.Replacement{IfMatch: stamp, Data: edited, ModTime: time.Now()})
//	err = v.Run(ctx, func(ev model.SourceEvent) { fmt.Println(ev.Kind, ev.Rel) })
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
// # Concurrency and errors
//
// Methods are safe for concurrent use. No lock is held across a system call. Errors are *fs.PathError around a sentinel of
// bridge/model or io/fs.
package vault
