#!/usr/bin/env python3
"""Prints server.json for the MCP registry: registry.py VERSION BUNDLE.mcpb...

The bundles are those of bundle.sh, one for each system, and lie in the release of that version under their names.
"""

import hashlib
import json
import sys
from pathlib import Path

REPOSITORY = "https://github.com/relayfs/relayfs"


def package(version, bundle):
    return {
        "registryType": "mcpb",
        "identifier": f"{REPOSITORY}/releases/download/v{version}/{bundle.name}",
        "version": version,
        "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
        "transport": {"type": "stdio"},
    }


def main(version, *bundles):
    manifest = json.loads((Path(__file__).parent / "manifest.json").read_text())
    server = {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.relayfs/relayfs",
        "title": manifest["display_name"],
        "description": manifest["description"],
        "version": version,
        "repository": {"url": REPOSITORY, "source": "github"},
        "packages": [package(version, Path(b)) for b in bundles],
    }
    print(json.dumps(server, indent=2))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
