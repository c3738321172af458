package glob

import "slices"

// Type returns the patterns of the names of a file type, as ripgrep's --type
// knows them, and false for a type that is unknown.
func Type(name string) (patterns []string, ok bool) {
	switch name {
	case "md", "markdown":
		return []string{"*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"}, true
	case "all":
		return []string{"*"}, true
	}
	return []string{"!*"}, slices.Contains(otherTypes, name)
}

// otherTypes are common types that no note is of.
var otherTypes = []string{
	"asm", "awk", "bat", "c", "cmake", "config", "cpp", "cs", "csharp", "css", "csv", "cxx", "dart", "docker",
	"elixir", "elm", "erlang", "fish", "fsharp", "go", "graphql", "h", "haskell", "html", "java", "jl", "js", "json",
	"jsonl", "julia", "kotlin", "less", "license", "lisp", "log", "lua", "make", "ml", "nix", "objc", "ocaml", "org",
	"pdf", "perl", "php", "po", "proto", "py", "python", "r", "readme", "rst", "ruby", "rust", "sass", "scala", "sh",
	"sql", "svelte", "svg", "swift", "tcl", "tex", "textile", "tf", "toml", "ts", "txt", "typescript", "vim", "vue",
	"xml", "yaml", "zig", "zsh",
}
