"""Disk images of virtual machines: real Debian systems of several releases and sets of packages, each as a raw ext4 image.

A system is installed by debootstrap and put into an image by mkfs.ext4 -d with fixed identifiers and times, so images of
one release share what real machines share. The mirror determines the versions of packages: the stamp
names the versions. Needs root, debootstrap and e2fsprogs.
"""

import argparse
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

MB = 1_000_000


class Machine(NamedTuple):
    """A system to install: a release and packages in addition to the base system."""

    name: str
    release: str
    packages: str


# In the order in which they are stored. Includes a kernel: without one, an image is half as big.
MACHINES = (
    Machine("bookworm-web", "bookworm", "linux-image-amd64 systemd-sysv openssh-server nginx php-fpm"),
    Machine("bullseye-web", "bullseye", "linux-image-amd64 systemd-sysv openssh-server nginx php-fpm"),
    Machine("bookworm-db", "bookworm", "linux-image-amd64 systemd-sysv openssh-server postgresql python3-psycopg2"),
    Machine("bookworm-build", "bookworm", "linux-image-amd64 systemd-sysv openssh-server build-essential git cmake python3-dev"),
    Machine("trixie-web", "trixie", "linux-image-amd64 systemd-sysv openssh-server nginx php-fpm"),
    Machine("bookworm-all", "bookworm", "linux-image-amd64 systemd-sysv openssh-server nginx postgresql python3-psycopg2 git"),
    Machine("bullseye-db", "bullseye", "linux-image-amd64 systemd-sysv openssh-server postgresql python3-psycopg2"),
)
# Free space in a file system, as on real machines.
FREE_BYTES = 256 * MB


def make(folder, machines=MACHINES, mirror=None):
    """Makes the missing images in the folder. Returns their paths, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    mirror = mirror or apt_mirror()
    return [make_one(folder, machine, mirror) for machine in machines]


def apt_mirror():
    """The Debian mirror of this machine's apt."""
    for entry in subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(COMPONENT)"], text=True,
                                check=True, stdout=subprocess.PIPE).stdout.splitlines():
        uri, *about = entry.split()
        if about == ["Debian", "main"] and "security" not in uri:
            return uri
    raise RuntimeError("apt on this machine has no Debian repository to take packages from: name one with --mirror")


def make_one(folder, machine, mirror):
    image, stamp = folder / f"{machine.name}.img", folder / f"{machine.name}.json"
    wanted = {**machine._asdict(), "mirror": mirror}
    if image.exists() and stamp.exists() and json.loads(stamp.read_text())["made"] == wanted:
        return image
    stamp.unlink(missing_ok=True)
    root = folder / f"{machine.name}.root"
    try:
        remove_tree(root)
        install(root, machine, mirror, folder / "packages")
        versions = run("chroot", root, "dpkg-query", "-W").split("\n")
        tidy(root)
        pack(root, image, number=MACHINES.index(machine) if machine in MACHINES else len(MACHINES))
    finally:
        remove_tree(root)
    stamp.write_text(json.dumps({"made": wanted, "packages": [line.split("\t") for line in versions if line]}, indent=1) + "\n")
    print(f"  {image} {image.stat().st_blocks * 512 / MB:.0f} MB, {len(versions)} packages", flush=True)
    return image


def versions(image):
    """The release and number of packages of an image, for a report."""
    stamp = json.loads(image.with_suffix(".json").read_text())
    names = dict(stamp["packages"])
    kernel = next((name for name in names if name.startswith("linux-image-") and name != "linux-image-amd64"), "no kernel")
    return {"release": stamp["made"]["release"], "baseFiles": names.get("base-files"), "kernel": kernel, "packages": len(names)}


def install(root, machine, mirror, cache):
    cache.mkdir(parents=True, exist_ok=True)
    run("debootstrap", "--variant=minbase", f"--include={','.join(machine.packages.split())}", f"--cache-dir={cache.resolve()}",
        machine.release, root, mirror)


def tidy(root):
    """Removes files that differ between runs: package archives and lists, logs."""
    for pattern in ("var/cache/apt/*.bin", "var/cache/apt/archives/*.deb", "var/lib/apt/lists/*_*", "var/log/*.log"):
        for path in root.glob(pattern):
            path.unlink()


def pack(root, image, number):
    used = int(run("du", "-s", "-B1", "--apparent-size", root).split()[0])
    size = -(-(int(used * 1.1) + FREE_BYTES) // 4096) * 4096
    temporary = image.with_suffix(".tmp")
    temporary.unlink(missing_ok=True)
    identifier = f"00000000-0000-4000-8000-{number:012d}"
    with open(temporary, "wb") as file:
        file.truncate(size)
    run("mkfs.ext4", "-q", "-F", "-b", 4096, "-U", identifier, "-E", f"hash_seed={identifier},lazy_itable_init=1",
        "-L", "root", "-d", root, temporary, env={**os.environ, "E2FSPROGS_FAKE_TIME": "1700000000"})
    temporary.rename(image)


def remove_tree(root):
    """Removes an installed system, after unmounting what an interrupted debootstrap left mounted in it."""
    for below in ("proc", "sys"):
        if os.path.ismount(root / below):
            run("umount", "-l", root / below)
    shutil.rmtree(root, ignore_errors=True)


def run(*words, env=None):
    done = subprocess.run([str(word) for word in words], env=env, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder of the images; keeps them and the packages for later runs")
    parser.add_argument("--mirror", help="Debian mirror (default: the one of this machine's apt)")
    options = parser.parse_args()
    make(options.work, mirror=options.mirror)
