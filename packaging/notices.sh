#!/usr/bin/env bash
# Prints the licences of everything that is linked into relayfs, on any system: of the Go standard library and of each
# module in the module cache. A module that says its licence in its README only has that printed; one that says none
# is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

# print NAME DIR: the licence files in DIR
print() {
	local file files
	mapfile -t files < <(find "$2" -maxdepth 1 -type f \( -iname 'licen[sc]e*' -o -iname 'copying*' -o -iname 'notice*' -o -iname 'patents*' \) | sort)
	((${#files[@]})) || mapfile -t files < <(grep -il '^#* *licen[sc]e' "$2"/README* || true)
	((${#files[@]})) || { echo "notices: $1 says no licence in $2" >&2; return 1; }
	for file in "${files[@]}"; do
		printf '%s\n%s\n\n' "=== $1, $(basename "$file")" "$(tr -d '\r' <"$file")"
	done
}

echo "relayfs holds the Go standard library and the modules below, under these licences."
echo
print "Go standard library" "$(go env GOROOT)"
cat <<'END'
=== GloVe word vectors (bridge/index/semantic/english.vectors)
Jeffrey Pennington, Richard Socher and Christopher D. Manning: GloVe: Global Vectors for Word Representation, 2014.
In the public domain by the Open Data Commons Public Domain Dedication and Licence 1.0:
https://opendatacommons.org/licenses/pddl/1-0/

END
print "KaTeX (cmd/relayfs/internal/page/katex)" cmd/relayfs/internal/page/katex
modules=$(for system in linux darwin windows; do
	GOOS=$system CGO_ENABLED=0 go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}' ./cmd/relayfs
done | sort -u)
while IFS=$'\t' read -r name dir; do
	print "$name" "$dir"
done <<<"$modules"
