"""A tar of a source tree: as many files, directories and bytes as a Linux kernel of these years, made from a seed.

The sizes are distributed as a kernel's (log-normal: half of the files below 4.5 KB, 14 KB on average). The files are lines of
text, which compress as source does; no two files are equal. The same seed gives the same tar.
"""

import io
import json
import math
import random
import tarfile

FILES_PER_DIRECTORY = 15
MAX_DEPTH = 7
MEDIAN_BYTES, SPREAD, MAX_BYTES = 4500, 1.5, 1_000_000
WORDS = ("int char struct static const return if else for while NULL void unsigned long dev ops ret err lock list node size "
         "flags data buf len page inode file read write init exit probe irq clk reg mask port #define #include goto out").split()


def make(folder, seed, files):
    """Makes tree.tar in the folder, unless it exists. Returns its path."""
    stamp, path = folder / "tree.json", folder / "tree.tar"
    wanted = {"seed": seed, "files": files}
    if stamp.exists() and json.loads(stamp.read_text()) == wanted and path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    chance = random.Random(seed)
    temporary = path.with_suffix(".tmp")
    with tarfile.open(temporary, "w", format=tarfile.GNU_FORMAT) as tar:
        write(tar, files, chance)
    temporary.rename(path)
    stamp.write_text(json.dumps(wanted))
    print(f"  {path} {path.stat().st_size / 1e6:.0f} MB, {files} files", flush=True)
    return path


def write(tar, files, chance):
    lines = [line(chance) for _ in range(5000)]
    directories = ["tree"]
    add_directory(tar, "tree")
    for number in range(files):
        if number % FILES_PER_DIRECTORY == 0:
            parent = chance.choice([path for path in chance.sample(directories, min(8, len(directories)))
                                    if path.count("/") < MAX_DEPTH] or ["tree"])
            directories.append(f"{parent}/{chance.choice(WORDS).strip('#')}-{number // FILES_PER_DIRECTORY}")
            add_directory(tar, directories[-1])
        size = int(min(MAX_BYTES, MEDIAN_BYTES * math.exp(SPREAD * chance.gauss(0, 1))))
        add_file(tar, f"{directories[-1]}/{chance.choice(WORDS).strip('#')}_{number}.c", text(number, size, lines, chance))


def line(chance):
    return "\t" * chance.randrange(3) + " ".join(chance.choices(WORDS, k=3 + chance.randrange(8))) + f" {chance.random()};\n"


def text(number, size, lines, chance):
    parts = [f"// {number}\n", *chance.choices(lines, k=size // 40 + 1)]
    return "".join(parts).encode()[:size]


def add_directory(tar, name):
    info = tarfile.TarInfo(name)
    info.type, info.mode = tarfile.DIRTYPE, 0o755
    tar.addfile(info)


def add_file(tar, name, content):
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(content), 0o644, 1_700_000_000
    tar.addfile(info, io.BytesIO(content))
