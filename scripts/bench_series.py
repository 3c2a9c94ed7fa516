"""Backups of one machine, as tars: this machine's own packages, with installs, removals and upgrades in between.

The machine's Debian packages are shuffled by a seed. The first tar contains some of them; before each later one, some are
removed, others installed, and some upgraded: their files get new times, and small edits and insertions in their bytes. The
same machine and seed give the same tars.
"""

import hashlib
import io
import json
import os
import random
import stat
import tarfile
from pathlib import Path

PACKAGE_LISTS = Path("/var/lib/dpkg/info")
# Shares of the packages' bytes that change between two versions.
REMOVED, INSTALLED, UPGRADED = 0.03, 0.10, 0.08
# Share of the first backup that one package may have.
LARGEST = 0.1
EDIT_SPAN = 64 * 1024


def make(folder, seed, first_bytes, versions=5):
    """Makes v1.tar and so on in the folder, unless they exist. Returns their paths."""
    stamp = folder / "series.json"
    wanted = {"seed": seed, "firstBytes": first_bytes, "versions": versions}
    paths = [folder / f"v{version}.tar" for version in range(1, versions + 1)]
    if stamp.exists() and json.loads(stamp.read_text()) == wanted and all(path.exists() for path in paths):
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    chance = random.Random(seed)
    # One that is as large as a backup would come and go as a whole.
    available = [package for package in packages() if package[2] <= LARGEST * first_bytes]
    chance.shuffle(available)
    installed = take(available, first_bytes)
    upgrades = {}
    for version, path in enumerate(paths, start=1):
        if version > 1:
            drift(installed, available, upgrades, first_bytes, version, chance)
        write_tar(path, installed, upgrades)
        print(f"  {path} {path.stat().st_size / 1e6:.0f} MB, {len(installed)} packages", flush=True)
    stamp.write_text(json.dumps(wanted))
    return paths


def packages():
    """Every package, as (name, files, bytes); without dpkg, every folder two levels below /usr is one."""
    lists = sorted(PACKAGE_LISTS.glob("*.list"))
    if lists:
        groups = [(path.stem, [line for line in path.read_text().splitlines() if line.startswith("/usr/")])
                  for path in lists]
    else:
        groups = [(str(below), [os.path.join(folder, name) for folder, _, names in os.walk(below) for name in names])
                  for below in sorted(Path("/usr").glob("*/*"))]
    return [(name, files, sum(os.lstat(file).st_size for file in files))
            for name, files in ((name, present(files)) for name, files in groups) if files]


def present(files):
    """Those that are files or links, in order."""
    found = []
    for file in files:
        try:
            mode = os.lstat(file).st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) and os.access(file, os.R_OK) or stat.S_ISLNK(mode):
            found.append(file)
    return sorted(found)


def take(packages_left, wanted_bytes):
    """Removes packages from the list's end until they have the wanted size, or none is left."""
    taken = []
    total = 0
    while packages_left and total < wanted_bytes:
        taken.append(packages_left.pop())
        total += taken[-1][2]
    return taken


def drift(installed, available, upgrades, first_bytes, version, chance):
    chance.shuffle(installed)
    removed = take(installed, REMOVED * first_bytes)
    installed += take(available, INSTALLED * first_bytes)
    available[:0] = removed
    left = UPGRADED * first_bytes
    for name, _, size in chance.sample(installed, len(installed)):
        if left <= 0:
            break
        upgrades[name] = version
        left -= size


def write_tar(path, installed, upgrades):
    temporary = path.with_suffix(".tmp")
    with tarfile.open(temporary, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, files, _ in sorted(installed):
            for file in files:
                add(tar, file, upgrades.get(name, 0))
    temporary.rename(path)


def add(tar, file, upgrade):
    info = tar.gettarinfo(file)
    if not (info.isreg() or info.islnk()):
        tar.addfile(info)
        return
    with open(file, "rb") as source:
        content = source.read()
    # Hard links would depend on which name is first: here every name has its bytes.
    info.type = tarfile.REGTYPE
    if upgrade:
        content = edited(content, hashlib.sha256(f"{file} {upgrade}".encode()).digest())
        info.mtime += upgrade * 86400
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def edited(content, seed):
    """The bytes with a third of their 64 KiB spans edited, and something inserted in each of these."""
    chance = random.Random(seed)
    parts = []
    for start in range(0, len(content), EDIT_SPAN):
        span = bytearray(content[start : start + EDIT_SPAN])
        if chance.random() < 0.33:
            at = chance.randrange(len(span))
            span[at : at + 100] = chance.randbytes(100 + chance.randrange(40))
        parts.append(bytes(span))
    return b"".join(parts)

