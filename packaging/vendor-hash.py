#!/usr/bin/env python3
"""Prints the vendorHash of flake.nix: the hash of the modules that `go mod vendor` fetches, as Nix archives them."""

import base64
import hashlib
import subprocess
import tempfile
from pathlib import Path


def string(b):
    return len(b).to_bytes(8, "little") + b + bytes(-len(b) % 8)


def node(path):
    """A file or folder in Nix's archive format. Nothing that is vendored is a link or can be executed."""
    if path.is_dir():
        entries = sorted(path.iterdir(), key=lambda p: p.name.encode())
        inner = string(b"type") + string(b"directory") + b"".join(
            string(b"entry") + string(b"(") + string(b"name") + string(p.name.encode()) + string(b"node") + node(p) + string(b")") for p in entries)
    else:
        inner = string(b"type") + string(b"regular") + string(b"contents") + string(path.read_bytes())
    return string(b"(") + inner + string(b")")


def nix_hash(path):
    digest = hashlib.sha256(string(b"nix-archive-1") + node(path)).digest()
    return "sha256-" + base64.b64encode(digest).decode()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        # The published hash of an empty folder.
        assert nix_hash(Path(folder)) == "sha256-pQpattmS9VmO3ZIQUFn66az8GSmB4IvYhTTCFn6SUmo="
        vendor = Path(folder) / "vendor"
        subprocess.run(["go", "mod", "vendor", "-o", vendor], cwd=Path(__file__).resolve().parents[1], check=True)
        print(nix_hash(vendor))
