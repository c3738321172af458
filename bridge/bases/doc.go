// Package bases reads the expressions of Obsidian's Bases and the .base files that hold them, and says which files they
// choose and what they show of each.
//
//	e, err := bases.Parse(`status != "done" && due < today() + "7d"`)
//	if e.True(&bases.File{Properties: properties, Now: time.Now()}) { ... }
//
// A value is nil, a bool, a float64, a string, a []any, frontmatter.Properties, a time, a link, or a list of tags.
// Front matter has dates as text: where a date is wanted, text that is one counts as one. An operation on values that
// it does not know gives nil, as a property does that a file lacks, and nil is neither less nor greater than anything.
//
// What Obsidian knows and this package does not is an [*Error] of Parse, which names the expression and the part.
// The package reads no file. All functions are pure.
package bases
