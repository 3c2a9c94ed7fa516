"""A fleet of virtual machines that were copied from one template and have drifted since, and the reads of their boots.

The template is a real Debian system (bench_images). Each machine is a copy of its image, in which further packages were installed by apt,
others were installed again, so that their files lie elsewhere, and keys and logs are its own. A boot mounts an image by a loop device,
read-only, and runs programs of the machine that a start of it runs: so the reads are those of a kernel, with its page faults and its
read-ahead. Needs root, debootstrap, e2fsprogs and the network; the packages are kept for later runs.
"""

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import bench_images
from bench_images import Machine, run

TEMPLATE = Machine("template", "bookworm", "systemd-sysv openssh-server nginx php-fpm cron rsyslog python3 curl ca-certificates")
# What a machine may have besides: packages, and the program that starts with it.
EXTRAS = (
    ("postgresql", "/usr/lib/postgresql/15/bin/postgres --version"),
    ("redis-server", "redis-server --version"),
    ("git make", "git --version"),
    ("python3-flask python3-psycopg2", "python3 -c 'import flask, psycopg2'"),
    ("haproxy", "haproxy -v"),
    ("squid", "squid -v"),
    ("php-gd php-mysql php-xml", "php -m"),
    ("bind9", "named -v"),
    ("memcached", "memcached --version"),
    ("vim", "vim --version"),
    ("ruby", "ruby -e 'require \"json\"; require \"net/http\"'"),
    ("postfix", "postconf mail_version"),
    ("snmpd", "snmpd --version"),
    ("rsync tmux", "rsync --version"),
)
EXTRAS_OF_A_MACHINE = 3
AGAIN_OF_A_MACHINE = 25
LOG_BYTES = 4_000_000
# Added to the file system for what is installed.
GROWTH_MB = 512
# What every machine starts. /lib/systemd/systemd and its helpers load the libraries of the system; cat reads small files.
BOOT = (
    "/lib/systemd/systemd --version",
    "/lib/systemd/systemd-journald --version",
    "systemd-tmpfiles --version",
    "systemctl --version",
    "find /lib/systemd/system /etc -xdev -type f -exec cat {} +",
    "ldconfig -p",
    "rsyslogd -N1",
    "sshd -t",
    "cron -h",
    "nginx -t",
    "php-fpm8.2 -t",
    "python3 -c 'import asyncio, email, http.server, json, sqlite3, ssl, xml.dom'",
    "perl -MPOSIX -MIO::Socket -e 1",
    "curl --version",
    "dpkg-query -W",
)


def extras(number):
    """The extras of a machine: those of the same number are always the same."""
    return random.Random(number).sample(EXTRAS, EXTRAS_OF_A_MACHINE)


def make(folder, count, mirror=None):
    """Makes the missing images of a fleet. Returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    images = [folder / f"machine-{number:02d}.img" for number in range(count)]
    for number, image in enumerate(images):
        if not image.exists():
            template = bench_images.make_one(folder, TEMPLATE, mirror or bench_images.apt_mirror())
            drift(template, image, number)
    return images


def drift(template, image, number):
    """Makes one machine of the template."""
    part = image.with_suffix(".part")
    run("cp", "--sparse=always", template, part)
    run("truncate", "-s", f"+{GROWTH_MB}M", part)
    run("resize2fs", part)
    root = image.with_suffix(".root")
    root.mkdir(exist_ok=True)
    mounted = []
    try:
        mount(mounted, root, "-o", "loop", part)
        for name in ("lists", "archives"):
            (template.parent / f"apt-{name}" / "partial").mkdir(parents=True, exist_ok=True)
        mount(mounted, root / "var/lib/apt/lists", "--bind", template.parent / "apt-lists")
        mount(mounted, root / "var/cache/apt/archives", "--bind", template.parent / "apt-archives")
        mount(mounted, root / "proc", "-t", "proc", "proc")
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        change(root, number)
        run("fstrim", root)
    finally:
        for place in reversed(mounted):
            run("umount", place)
        root.rmdir()
    part.rename(image)


def mount(mounted, place, *what):
    run("mount", *what, place)
    mounted.append(place)


def change(root, number):
    chance = random.Random(number)
    if not any((root / "var/lib/apt/lists").glob("*Packages*")):
        inside(root, "apt-get update")
    (root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    (root / "usr/sbin/policy-rc.d").chmod(0o755)
    install = "apt-get -q -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io -o APT::Keep-Downloaded-Packages=true install"
    inside(root, f"{install} {' '.join(packages for packages, _ in extras(number))}")
    installed = inside(root, "dpkg-query -W -f '${Package}\\n'").split()
    inside(root, f"{install} --reinstall {' '.join(chance.sample(installed, AGAIN_OF_A_MACHINE))}")
    inside(root, "rm -f /etc/ssh/ssh_host_* && ssh-keygen -A")
    (root / "etc/machine-id").write_text(f"{chance.getrandbits(128):032x}\n")
    (root / "etc/hostname").write_text(f"machine-{number:02d}\n")
    with open(root / "var/log/messages", "w") as log:
        while log.tell() < LOG_BYTES:
            log.write(f"machine-{number:02d} kernel: [{chance.random() * 1e6:12.6f}] event {chance.getrandbits(64):x} of {chance.getrandbits(32)}\n")


def inside(root, command):
    return run("chroot", root, "sh", "-c", command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})


def boot(image, number, place):
    """Mounts a machine's image and starts its programs; returns the seconds taken. Their exit codes do not count: some want to write."""
    place.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    run("mount", "-o", "loop,ro,noload", image, place)
    try:
        script = "\n".join([*BOOT, *(command for _, command in extras(number))])
        subprocess.run(["chroot", place, "sh", "-c", script], env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"},
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
    finally:
        run("umount", place)
    return time.monotonic() - begin
