"""Makes what is released, for the architecture of this machine, in target/release: a package of Debian, an archive that can be unpacked
anywhere, both also of the libraries that only volumes in S3 or HDFS need, the plugin's jar, the description of an image for containers, a
list of all parts (SBOM), notices and checksums. The same sources and tools make the same bytes: times are those of the last commit.

Usage: scripts/release [--no-build]
       scripts/release --verify
       scripts/release --program=FOLDER
  --no-build        from what is built
  --verify          make it again from a clone of the last commit, and compare
  --program=FOLDER  only fill a folder with the program, as scripts/install does

Exit codes: 0 made, 1 failed, or --verify found a difference, 2 wrong usage"""

import datetime
import functools
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
import zipfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = PROJECT / "target/release"
INTEGRATION = PROJECT / "sdfs-integration/target"
PACKAGING = PROJECT / "packaging"
# Schemes of addresses whose libraries are packages of their own: an archive of them is unpacked over the program's.
OPTIONAL = ["s3", "hdfs"]
COMMANDS = ["mkfs.sdfs", "mount.sdfs", "sdfscli", "sdfs-check", "sar-plugin"]
# What the commands need beside them.
PARTS = ["java.bash", "rehearsal.bash", "mount-helper", "umount-helper"]
NOTICES = ["LICENSE", "NOTICE", "THIRD-PARTY.md"]
# The native libraries lie beside the jars, once, instead of in them for each system.
NATIVE = re.compile(r".*\.(so|dll|dylib|jnilib|a)")
SCRIPTS = ["postinst", "prerm", "postrm"]
CLIENT = "sdfs-client"
EXECUTABLES = [*SCRIPTS, CLIENT, "sdfs-generator"]
MEBIBYTE = 1 << 20
PACKAGE_BYTES_MAX = 70 * MEBIBYTE


def output(*command):
    return subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@functools.cache
def committed():
    """Seconds since 1970 of the last commit; SOURCE_DATE_EPOCH overrides it. Of sources without commits, the time that their POM sets."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    # The sources may belong to another user.
    if shutil.which("git"):
        log = subprocess.run(["git", "-c", f"safe.directory={PROJECT}", "log", "-1", "--format=%ct"], cwd=PROJECT, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=False)
        if log.returncode == 0:
            return int(log.stdout)
    return int(datetime.datetime.fromisoformat(of_pom("properties/{0}project.build.outputTimestamp").replace("Z", "+00:00")).timestamp())


def of_pom(path):
    namespace = "{http://maven.apache.org/POM/4.0.0}"
    return xml.etree.ElementTree.parse(PROJECT / "pom.xml").getroot().find(namespace + path.format(namespace)).text


def version():
    """That of the POM. Before a release each commit has a version of its own, which is lower than the release's."""
    return of_pom("version").replace("-SNAPSHOT", time.strftime("~%Y%m%d.%H%M%S", time.gmtime(committed())))


def architecture():
    """Debian's name of this machine's."""
    machine = os.uname().machine
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


# --- the program's folder

def copy_jar(jar, target):
    """Without native libraries, if it has some. Entries keep their order and times."""
    with zipfile.ZipFile(jar) as source:
        kept = [entry for entry in source.infolist() if not NATIVE.fullmatch(entry.filename)]
        if len(kept) == len(source.infolist()):
            shutil.copyfile(jar, target)
            return
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as stripped:
            for entry in kept:
                stripped.writestr(entry, source.read(entry))


def only(pattern):
    """The one file of the project that the pattern matches."""
    found = sorted(PROJECT.glob(pattern))
    if len(found) != 1:
        sys.exit(f"release: {len(found)} files are {pattern}, not one; run scripts/build, or remove the old ones")
    return found[0]


def manuals(folder):
    """Manual pages and completions, from the models of the commands."""
    java = output("bash", "-c", "source scripts/java.bash && find_java")
    jars = [PACKAGING / "target/classes", INTEGRATION / "*", INTEGRATION / "lib/*", only("sar-simulator/target/sar-simulator-*.jar")]
    date = time.strftime("%Y-%m-%d", time.gmtime(committed()))
    subprocess.run([java, "-XX:TieredStopAtLevel=1", "-cp", ":".join(map(str, jars)), "org.opendedup.sar.packaging.Manuals", str(folder),
                    str(PROJECT / "scripts/umount-helper"), version(), date], check=True)


def program(folder):
    """Fills a new folder with the installed program, which runs wherever the folder is."""
    if not list(INTEGRATION.glob("sdfs-integration-*.jar")):
        subprocess.run([PROJECT / "scripts/build"], check=True)
    for name in ["bin", "jars", "estimate", "plugin"]:
        (folder / name).mkdir(parents=True)
    for jar in sorted([*INTEGRATION.glob("*.jar"), *INTEGRATION.glob("lib/*.jar")]):
        copy_jar(jar, folder / "jars" / jar.name)
    simulator = only("sar-simulator/target/sar-simulator-*.jar")
    copy_jar(simulator, folder / "estimate" / simulator.name)
    shutil.copyfile(only("sdfs-plugin/target/sdfs-plugin-*.jar"), folder / "plugin/sdfs-plugin.jar")
    for scheme in OPTIONAL:
        shutil.copytree(PROJECT / f"sar-{scheme}/target/optional", folder / "optional" / scheme)
    shutil.copytree(INTEGRATION / "native", folder / "native")
    # Not there if there was no C compiler: then each command runs in a JVM.
    if (INTEGRATION / CLIENT).exists():
        shutil.copyfile(INTEGRATION / CLIENT, folder / CLIENT)
    for name in COMMANDS + PARTS:
        shutil.copyfile(PROJECT / "scripts" / name, folder / "bin" / name)
    manuals(folder / "share")
    for name in NOTICES:
        shutil.copyfile(PROJECT / name, folder / name)
    settle(folder)


def settle(folder):
    """Gives all files the same modes and times on each machine."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            runs = path.is_dir() or path.parent.name == "bin" and path.suffix != ".bash" or path.name in EXECUTABLES
            path.chmod(0o755 if runs else 0o644)
        os.utime(path, (committed(), committed()), follow_symlinks=False)


# --- what is released

def archive(folder, target):
    """Packs a folder: sorted, of root, with the time of the commit."""
    tar = subprocess.run(["tar", "-C", folder.parent, "--sort=name", "--format=gnu", "--owner=0", "--group=0", "--numeric-owner",
                          f"--mtime=@{committed()}", "-cf", "-", folder.name], check=True, stdout=subprocess.PIPE).stdout
    target.write_bytes(gzip.compress(tar, 6, mtime=0))


def link(name, target):
    name.parent.mkdir(parents=True, exist_ok=True)
    name.symlink_to(target)


def put(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def debian_package(installed, sbom, target, work):
    """Makes the package from the program's folder."""
    root = work / "root"
    home = root / "usr/lib/sdfs"
    shutil.copytree(installed, home, ignore=shutil.ignore_patterns("share", *NOTICES))
    shutil.copytree(installed / "share", root / "usr/share")
    for page in sorted((root / "usr/share/man/man8").iterdir()):
        (page.parent / f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=0))
        page.unlink()
    put_notices(root / "usr/share/doc/sdfs", sbom)
    for name in COMMANDS:
        link(root / "usr/bin" / name, f"../lib/sdfs/bin/{name}")
    # mount(8) and umount(8) look in /sbin, which is /usr/sbin since Debian 12.
    for name in ["mount.sdfs", "mount.fuse.sdfs"]:
        link(root / "usr/sbin" / name, "../lib/sdfs/bin/mount-helper")
    for name in ["umount.sdfs", "umount.fuse.sdfs"]:
        link(root / "usr/sbin" / name, "../lib/sdfs/bin/umount-helper")
    files = PACKAGING / "debian"
    put(files / "default", root / "etc/default/sdfs")
    for unit in files.glob("*.service"):
        put(unit, root / "usr/lib/systemd/system" / unit.name)
    put(files / "sdfs-generator", root / "usr/lib/systemd/system-generators/sdfs-generator")
    for name in ["conffiles", "triggers", *SCRIPTS]:
        put(files / name, root / "DEBIAN" / name)
    pack(root, "control", target)


def put_notices(docs, sbom):
    put(PROJECT / "LICENSE", docs / "copyright")
    for file in [PROJECT / "NOTICE", PROJECT / "THIRD-PARTY.md", sbom]:
        put(file, docs / file.name)


def optional_package(scheme, jars, sbom, target, root):
    """Makes the package of the libraries of a scheme from the folder of its jars."""
    shutil.copytree(jars, root / "usr/lib/sdfs/optional" / scheme)
    put_notices(root / f"usr/share/doc/sdfs-{scheme}", sbom)
    (root / "DEBIAN").mkdir()
    pack(root, "control-optional", target, SCHEME=scheme)


def pack(root, control, target, **values):
    """Makes a package of a tree, with a description from a template."""
    kibibytes = sum(path.stat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink()) >> 10
    text = (PACKAGING / "debian" / control).read_text()
    for name, value in {"VERSION": version(), "ARCHITECTURE": architecture(), "SIZE": str(kibibytes), **values}.items():
        text = text.replace(f"@{name}@", value)
    (root / "DEBIAN/control").write_text(text)
    settle(root)
    # One thread: how the bytes are divided among threads would depend on the machine.
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zzstd", "-z10", "--threads-max=1", "--build", str(root), str(target)], check=True,
                   stdout=subprocess.DEVNULL, env=os.environ | {"SOURCE_DATE_EPOCH": str(committed())})
    if target.stat().st_size > PACKAGE_BYTES_MAX:
        sys.exit(f"release: {target.name} has {target.stat().st_size / MEBIBYTE:.0f} MiB, more than {PACKAGE_BYTES_MAX // MEBIBYTE}")


def make(build):
    if build:
        # From nothing: classes of other compilers and of removed sources stay in a folder that is built again.
        subprocess.run([PROJECT / "scripts/build", "clean"], check=True)
    shutil.rmtree(RELEASE, ignore_errors=True)
    RELEASE.mkdir(parents=True)
    name = f"sdfs-{version()}"
    sbom = RELEASE / f"{name}.cdx.json"
    put(PACKAGING / "target/sbom.json", sbom)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        installed = work / name
        program(installed)
        optional = work / "optional"
        (installed / "optional").rename(optional)
        put(sbom, installed / sbom.name)
        archive(installed, RELEASE / f"{name}-linux-{architecture()}.tar.gz")
        (installed / sbom.name).unlink()
        debian_package(installed, sbom, RELEASE / f"sdfs_{version()}_{architecture()}.deb", work)
        for scheme in OPTIONAL:
            jars = optional / scheme
            optional_package(scheme, jars, sbom, RELEASE / f"sdfs-{scheme}_{version()}_all.deb", work / scheme)
            unpacked = work / f"archive-{scheme}" / name
            (unpacked / "optional").mkdir(parents=True)
            jars.rename(unpacked / "optional" / scheme)
            settle(unpacked)
            archive(unpacked, RELEASE / f"{name}-{scheme}.tar.gz")
        put(installed / "plugin/sdfs-plugin.jar", RELEASE / f"sdfs-plugin-{version()}.jar")
    for file in [PACKAGING / "Containerfile", *(PROJECT / notice for notice in NOTICES)]:
        put(file, RELEASE / file.name)
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(RELEASE.iterdir()))
    (RELEASE / "SHA256SUMS").write_text(sums)
    for file in sorted(RELEASE.iterdir()):
        print(f"{file.stat().st_size:>12,}  {file.relative_to(PROJECT)}")


def verify():
    """Returns whether a clone of the last commit makes the same."""
    if output("git", "status", "--porcelain"):
        sys.exit("release: --verify makes the last commit again; commit your changes, or remove them")
    make(build=True)
    with tempfile.TemporaryDirectory() as folder:
        clone = pathlib.Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", str(PROJECT), str(clone)], check=True)
        subprocess.run([clone / "scripts/release"], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"SOURCE_DATE_EPOCH": str(committed())})
        again = (clone / "target/release/SHA256SUMS").read_text().splitlines()
    first = (RELEASE / "SHA256SUMS").read_text().splitlines()
    different = sorted(set(first) ^ set(again))
    print("\n".join(["release: made twice, with differences:", *different] if different else ["release: made twice, with the same bytes"]))
    return not different


def main(arguments):
    if arguments in ([], ["--no-build"]):
        make(build=not arguments)
    elif arguments == ["--verify"]:
        return 0 if verify() else 1
    elif len(arguments) == 1 and arguments[0].startswith("--program="):
        program(pathlib.Path(arguments[0].partition("=")[2]))
    else:
        wrong = arguments not in (["-h"], ["--help"])
        print(__doc__, file=sys.stderr if wrong else sys.stdout)
        return 2 if wrong else 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
