#!/usr/bin/env bash
# Runs the measurements of this folder, each a script of its own.
set -euo pipefail
cd "$(dirname "$0")"
for script in *.sh; do
	if [[ $script != run.sh ]]; then "./$script"; fi
done
