#!/usr/bin/env python3
"""Makes the moving picture of README.md from a real session in a terminal: picture.py FILE.svg

Runs the commands below on a copy of the sample vault, with the relayfs that is in PATH, and draws what the terminal showed.
Only the typing is made up: a person's would take longer.
"""

import html
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SESSION = [
    "# a vault, mounted as a folder",
    "relayfs mount Garden mnt &",
    "# any program or agent works there",
    "sed -i 's/one very loud frog/two very loud frogs/' mnt/Garden/Projects/Pond.md",
    "grep -o 'backswimmers.*frogs' mnt/Garden/Projects/Pond.md",
    "# the vault's own file has a suggestion",
    "grep -o 'backswimmers.*frogs++}' Garden/Projects/Pond.md",
    "relayfs suggestions list --path Pond.md",
    "# you decide",
    "relayfs suggestions accept --path Pond.md --all >/dev/null",
    "grep -o 'backswimmers.*frogs' Garden/Projects/Pond.md",
    "relayfs unmount mnt",
]
COLUMNS, ROWS = 92, 24
WIDTH, HEIGHT, MARGIN = 8.4, 20, 16  # of a character, of a line, around all, in pixels
KEY, READ, LAST = 0.03, 1.1, 5  # seconds for a key, to read a line of output, and to look at the end


def record(commands):
    """Runs the commands in one shell on a terminal. Returns [(command, lines of output)]."""
    repository = Path(__file__).resolve().parents[2]
    folder = Path(tempfile.mkdtemp(prefix="relayfs-demo."))
    try:
        shutil.copytree(repository / "tests/sample-vault/Garden", folder / "Garden")
        for name in ("mnt", "home", "run"):
            (folder / name).mkdir(mode=0o700)
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder / "run"),
                       "RELAYFS_AUTHOR": "agent", "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        if "GOCOVERDIR" in os.environ:  # a program that measures its coverage prints a warning without it
            environment["GOCOVERDIR"] = os.environ["GOCOVERDIR"]
        terminal, program_side = pty.openpty()
        shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=program_side, stderr=program_side, cwd=folder, env=environment)
        os.close(program_side)
        session = [(command, run(command, shell, terminal)) for command in commands]
        shell.stdin.close()
        if shell.wait(20) != 0:
            sys.exit("picture: the session failed")
        return session
    finally:
        subprocess.run(["fusermount3", "-uqz", folder / "mnt"], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(folder)


END = "\x00"


def run(command, shell, terminal):
    """Runs one command, and returns the lines that the terminal showed. A mount is waited for."""
    waited = "; until mountpoint -q mnt; do sleep .05; done" if command.endswith("&") else ""
    shell.stdin.write(f"{command.removesuffix('&')}{' & true' if waited else ''}{waited}\n[ $? = 0 ] || exit; printf '\\0'\n".encode())
    shell.stdin.flush()
    shown = ""
    while END not in shown or waited and "mounted" not in shown:  # a mount may say so before or after
        if not select.select([terminal], [], [], 20)[0] or shell.poll() is not None:
            sys.exit(f"picture: {command} failed: {shown}")
        shown += os.read(terminal, 4096).decode()
    return [re.sub("\x1b\\[[0-9;]*m", "", line).rstrip() for line in shown.replace(END, "").splitlines()]


def draw(session):
    """Draws the session as SVG. Without animation, all of it is seen."""
    rows = sum(1 + len(output) for _, output in session) + 1
    too_long = [line for command, output in session for line in [f"$ {command}", *output] if len(line) > COLUMNS]
    if rows > ROWS or too_long:
        sys.exit(f"picture: {rows} rows, {ROWS} are there; longer than {COLUMNS}: {too_long}")
    time, row, shapes, appearances = 0.5, 0, [], []

    def appear(shape, at):
        appearances.append(at)
        shapes.append(f'<g class="a{len(appearances)}">{shape}</g>')

    def text(line, column=0, kind=""):
        x, y = MARGIN + column * WIDTH, MARGIN + (row + 0.75) * HEIGHT
        length = f' textLength="{len(line) * WIDTH:.1f}"' if len(line) > 1 else ""
        return f'<text x="{x:.1f}" y="{y:.1f}"{length}{kind}>{html.escape(line, quote=False)}</text>'

    for command, output in session:
        appear(text("$", kind=' class="p"'), time)
        kind = ' class="c"' if command.startswith("#") else ""
        for start in re.finditer(r"\S+\s*", command):  # word by word
            appear(text(start.group().rstrip(), 2 + start.start(), kind), time + KEY * start.end())
        time += KEY * len(command) + 0.4
        row += 1
        for line in output:
            appear(text(line), time)
            row += 1
        time += READ * len(output)
    appear(text("$", kind=' class="p"'), time)
    time += LAST
    style = [f".a{i}{{animation-name:a{i}}}@keyframes a{i}{{0%{{opacity:0}}{100 * at / time:.2f}%,100%{{opacity:1}}}}" for i, at in enumerate(appearances, 1)]
    width, height = 2 * MARGIN + COLUMNS * WIDTH, 2 * MARGIN + rows * HEIGHT
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img">
<title>A session in a terminal: relayfs mounts a vault, sed edits a note, and the change is accepted</title>
<style>
text{{font:14px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9;white-space:pre}}
.p{{fill:#8fbf7f}}.c{{fill:#9aa5b5;font-style:italic}}
g{{animation:{time:.1f}s step-end infinite}}
@media (prefers-reduced-motion:reduce){{g{{animation:none!important}}}}
{chr(10).join(style)}
</style>
<rect width="100%" height="100%" rx="8" fill="#1e2430"/>
{chr(10).join(shapes)}
</svg>
"""


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Path(sys.argv[1]).write_text(draw(record(SESSION)), encoding="utf-8")
