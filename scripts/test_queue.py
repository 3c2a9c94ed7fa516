"""A queue of test classes and programs that some workers empty, longest first. A worker runs classes one after the other in a JVM that it
keeps (TestWorker in sar-core's tests), so that the JVM starts once and its compiled code serves all of them. Used by scripts/test and
scripts/soak."""

import collections
import functools
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

PROJECT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {
    "sar-core": "sar-core/src/test/java",
    "sar-s3": "sar-s3/src/test/java",
    "sar-hdfs": "sar-hdfs/src/test/java",
    "sdfs-care": "sdfs-care/src/test/java",
    "sdfs-integration": "sdfs-integration/src/test/java",
    "sar-simulator": "sar-simulator/src/test/java",
    "sdfs-plugin": "sdfs-plugin/src/test/java",
    "src/test": "src/test/java",
}
# Modules whose tests run in JVMs with a class path of their own.
OWN_PATHS = ("sdfs-plugin", "sar-hdfs")
# Seconds that a class took when all ran: the longest begin first. The second file is of the last run here.
EXPECTED = PROJECT / "src/test/seconds"
UNKNOWN_SECONDS = 5

# Of scripts/test --fast: three minutes of two workers, of which a third is for JVMs that start cold.
FAST_SECONDS = 210
BUDGET_SECONDS = 120
# No class takes this long: after it the threads are printed and the worker is killed.
HANG_SECONDS = 600
# A program may first have to install what it needs, and compile it.
PROGRAM_SECONDS = 2400
LINES_OF_A_FAILURE = 20
# Daemons, mounts and loop devices of a test end by themselves within this time.
LEFTOVER_SECONDS = 10
# A file system in memory, and the room that it must have to be used.
MEMORY = "/dev/shm"
MEMORY_BYTES = 4 << 30

# C2 later than by default: most methods of a test run seldom, and compiling took a third of the time.
JVM_OPTIONS = ["-Xmx2g", "-XX:+UseParallelGC", "-XX:+EnableDynamicAgentLoading", "-XX:Tier4InvocationThreshold=25000",
               "-XX:Tier4MinInvocationThreshold=3000", "-XX:Tier4CompileThreshold=75000", "-XX:Tier4BackEdgeThreshold=200000"]


class Entry:
    """What a worker runs at once: a test class, one method of it, or a program."""

    def __init__(self, name, module=None, method="", command=None, properties=()):
        self.name = name
        self.module = module
        self.method = method
        self.command = command
        self.properties = tuple(properties)

    def label(self):
        return self.name.rpartition(".")[2] + ("#" + self.method if self.method else "")


class Result:
    """What came of an entry. Tests are pairs: name and reason."""

    def __init__(self, entry, logs):
        self.entry = entry
        self.seconds = 0.0
        self.passed = 0
        self.failed = []
        self.skipped = []
        self.log = logs / (entry.name + ("." + entry.method if entry.method else "") + ".log")


def test_classes(module):
    """All test classes of a module, by full name."""
    folder = PROJECT / SOURCES[module]
    return sorted(".".join(path.relative_to(folder).with_suffix("").parts) for path in folder.rglob("*Test.java"))


def read_seconds(*files):
    seconds = {}
    for file in files:
        if file.exists():
            for line in file.read_text().splitlines():
                value, _, name = line.partition(" ")
                seconds[name] = float(value)
    return seconds


def write_seconds(file, results):
    seconds = read_seconds(file) | {r.entry.name: r.seconds for r in results if not r.entry.method}
    file.write_text("".join(f"{value:.1f} {name}\n" for name, value in sorted(seconds.items(), key=lambda e: (-e[1], e[0]))))


def class_path(module):
    """The plugin's tests have a path of their own: only there is java.util.logging behind slf4j. So have those of HDFS: Hadoop's client
    brings parsers of XML that all code of a JVM would use."""
    def classes(name):
        return [str(PROJECT / name / "target" / kind) for kind in ("test-classes", "classes")]

    if module == "sdfs-plugin":
        main = [classes(name)[1] for name in ("sdfs-care", "sdfs-integration", "sdfs-api")]
        return classes("sdfs-plugin") + classes("sar-core") + main + [str(PROJECT / "sdfs-plugin/target/tests/*")]
    if module == "sar-hdfs":
        return classes("sar-hdfs") + classes("sar-core") + [str(PROJECT / "sar-hdfs/target/tests/*")]
    modules = ("src/test", "sar-core", "sar-s3", "sar-hdfs", "sdfs-care", "sdfs-integration", "sar-simulator", "sdfs-plugin")
    folders = [path for name in modules for path in classes(name)]
    for name in OWN_PATHS:
        folders.remove(str(PROJECT / name / "target/test-classes"))
    libraries = ("src/test/target/tests/*", "sar-simulator/target/bench/*")
    return folders + [str(PROJECT / path) for path in libraries]


def path_of(module):
    """Names the class path of a module's tests."""
    return module if module in OWN_PATHS else ""


def find_java():
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/java" if home and os.access(f"{home}/bin/java", os.X_OK) else shutil.which("java")


class WorkerEnded(Exception):
    """The JVM of a worker ended within a class, or was killed because the class took too long."""


class Jvm:
    """A JVM that runs test classes. What it prints itself goes to a log of its own."""

    def __init__(self, module, properties, folder, options, logs):
        work = PROJECT / "target/test-work" / folder.name
        work.mkdir(parents=True, exist_ok=True)
        jar = next(iter((PROJECT / "sdfs-plugin/target").glob("sdfs-plugin-*T.jar")), "")
        command = [find_java(), *options, f"-Djava.io.tmpdir={folder}", f"-Dplugin.jar={jar}",
                   f"-Dplugin.host={PROJECT}/sdfs-plugin/target/host", *properties,
                   "-cp", ":".join(class_path(module)), "org.opendedup.sar.TestWorker"]
        with open(logs / f"worker-{folder.name}.log", "ab") as log:
            self.process = subprocess.Popen(command, cwd=work, env=os.environ | {"TMPDIR": str(folder)}, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log, text=True, errors="replace", start_new_session=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        if self.lines.get() != "ready":
            raise WorkerEnded(f"its JVM did not start; see {log.name}")

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def run(self, result):
        """Runs a class and adds its tests to the result."""
        entry = result.entry
        deadline = time.monotonic() + HANG_SECONDS
        try:
            self.process.stdin.write(f"{entry.name}\t{entry.method}\t{result.log}\n")
            self.process.stdin.flush()
            while (line := self.lines.get(timeout=max(0.1, deadline - time.monotonic()))) != "end":
                if line is None:
                    raise WorkerEnded(f"its JVM ended with exit code {self.process.wait()}")
                kind, _, rest = line.partition("\t")
                if kind == "passed":
                    result.passed += 1
                elif kind in ("failed", "skipped"):
                    getattr(result, kind).append(tuple(rest.split("\t", 1)))
                else:
                    with open(result.log, "a") as log:
                        print(line, file=log)
        except queue.Empty:
            with open(result.log, "ab") as log:
                subprocess.run(["timeout", "60", os.path.join(os.path.dirname(os.path.realpath(find_java())), "jcmd"),
                                str(self.process.pid), "Thread.print"], stdout=log, stderr=log, check=False)
            raise WorkerEnded(f"it did not end within {HANG_SECONDS} s; its threads are in {result.log}") from None
        except BrokenPipeError:
            raise WorkerEnded("its JVM had ended before") from None

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def mounts_below(folder):
    lines = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    places = [line.split()[4].replace("\\040", " ") for line in lines]
    return [place for place in reversed(places) if place.startswith(f"{folder}/")]


def loops_below(folder):
    """Loop devices on files of the folder, also on deleted ones."""
    found = []
    for file in pathlib.Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            if file.read_text().startswith(f"{folder}/"):
                found.append(f"/dev/{file.parent.parent.name}")
        except OSError:
            pass  # It was detached meanwhile.
    return found


def processes_below(folder, ours):
    """Processes, other than the worker's JVMs, whose command line names the folder."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        pid = int(file.parent.name)
        try:
            if f"{folder}/".encode() in file.read_bytes() and pid not in ours and pid != os.getpid():
                found.append(pid)
        except OSError:
            pass  # It ended meanwhile.
    return found


class Worker(threading.Thread):
    def __init__(self, number, run):
        super().__init__(daemon=True)
        self.run_of_queue = run
        self.folder = run.folder / str(number)
        self.folder.mkdir()
        self.jvms = {}
        self.program = None

    def run(self):
        while (entry := self.run_of_queue.take()) is not None:
            result = Result(entry, self.run_of_queue.logs)
            result.log.unlink(missing_ok=True)
            start = time.monotonic()
            try:
                self._run_command(result) if entry.command else self._run_class(result)
                left = self._leftovers()
                if left:
                    result.failed.append(("", f"left {left}"))
            except WorkerEnded as e:
                self._kill_jvm(entry)
                self._leftovers(patience=0)
                result.failed.append(("", str(e)))
            except Exception as e:  # Of the queue itself: it must be seen, and the other worker goes on.
                result.failed.append(("", f"the queue failed: {e!r}"))
            result.seconds = time.monotonic() - start
            self.run_of_queue.ended(result)
        for jvm in self.jvms.values():
            jvm.close()

    def _run_command(self, result):
        with open(result.log, "wb") as log:
            self.program = subprocess.Popen(result.entry.command, cwd=PROJECT, env=os.environ | {"TMPDIR": str(self.folder)},
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            try:
                code = self.program.wait(PROGRAM_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self.program.pid, signal.SIGKILL)
                raise WorkerEnded(f"it did not end within {PROGRAM_SECONDS} s") from None
        if code == 0:
            result.passed += 1
        else:
            result.failed.append(("", f"exit code {code}"))
            for line in result.log.read_text(errors="replace").splitlines()[-LINES_OF_A_FAILURE:]:
                self.run_of_queue.progress(f"  {line}")

    def _run_class(self, result):
        entry = result.entry
        key = (path_of(entry.module), entry.properties)
        for other in [k for k in self.jvms if k[1] != entry.properties]:
            self.jvms.pop(other).close()
        if key not in self.jvms:
            self.jvms[key] = Jvm(entry.module, entry.properties, self.folder, self.run_of_queue.jvm_options, self.run_of_queue.logs)
        self.jvms[key].run(result)

    def end(self):
        """Ends what runs, a program in order: it may have mounts."""
        if self.program and self.program.poll() is None:
            os.killpg(self.program.pid, signal.SIGTERM)
            try:
                self.program.wait(HANG_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self.program.pid, signal.SIGKILL)
        for jvm in self.jvms.values():
            jvm.kill()
        self._leftovers(patience=0)

    def _kill_jvm(self, entry):
        jvm = self.jvms.pop((path_of(entry.module), entry.properties), None)
        if jvm:
            jvm.kill()

    def _leftovers(self, patience=LEFTOVER_SECONDS):
        """Removes what the entry left, and names it."""
        ours = [jvm.process.pid for jvm in self.jvms.values()]
        deadline = time.monotonic() + patience
        while True:
            mounts, processes = mounts_below(self.folder), processes_below(self.folder, ours)
            loops = loops_below(self.folder)
            if not (mounts or loops or processes) or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        for pid in processes:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for mount in mounts:
            subprocess.run(["umount", "-l", mount], check=False, stderr=subprocess.DEVNULL)
        for loop in loops:
            subprocess.run(["losetup", "-d", loop], check=False, stderr=subprocess.DEVNULL)
        for path in self.folder.iterdir():
            # The JVM keeps the native libraries that it unpacked there.
            if path.is_dir() and not path.is_symlink() and path.name.startswith("junit"):
                shutil.rmtree(path, ignore_errors=True)
        return ", ".join(mounts + loops + [f"process {pid}" for pid in processes])


class Run:
    """One run of a queue. Logs and seconds go to the folder `target`."""

    def __init__(self, entries, jobs=2, jvm_options=JVM_OPTIONS, target=PROJECT / "target",
                 progress=functools.partial(print, flush=True)):
        self.logs = target / "test-logs"
        self.measured = target / "test-seconds"
        expected = read_seconds(EXPECTED, self.measured)
        self.entries = sorted(entries, key=lambda e: -expected.get(e.name, UNKNOWN_SECONDS))
        self.count = len(self.entries)
        self.jobs = jobs
        self.jvm_options = list(jvm_options)
        self.progress = progress
        self.results = []
        self.lock = threading.Lock()

    def take(self):
        with self.lock:
            return self.entries.pop(0) if self.entries else None

    def ended(self, result):
        with self.lock:
            self.results.append(result)
            skipped = f", {len(result.skipped)} skipped" if result.skipped else ""
            over = ", over its budget" if result.seconds > BUDGET_SECONDS else ""
            self.progress(f"[{len(self.results)}/{self.count}] {result.entry.label()}: {result.passed} passed{skipped}, "
                          f"{result.seconds:.1f} s{over}")
            for name, reason in result.failed:
                self.progress(f"  FAILED {name or result.entry.label()}: {reason}")

    def run(self):
        """Runs all entries and returns their results. Nothing of them stays, also after an interruption."""
        self.logs.mkdir(parents=True, exist_ok=True)
        for old in self.logs.glob("worker-*.log"):
            old.unlink()
        # Short: a socket's path has at most 107 bytes.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="t.", dir="/tmp"))
        self.folder.chmod(0o755)
        # Where tests put folders to which no disk matters: see MemoryFolder.
        memory = self.folder
        if os.path.isdir(MEMORY) and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES:
            memory = tempfile.mkdtemp(prefix="sar-tests.", dir=MEMORY)
        self.jvm_options = [*self.jvm_options, f"-Dsar.memory={memory}"]
        workers = [Worker(number, self) for number in range(self.jobs)]
        try:
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        finally:
            for worker in workers:
                worker.end()
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(memory, ignore_errors=True)
        write_seconds(self.measured, self.results)
        return self.results


# --- scripts/test

def choose(arguments, properties):
    """The entries that the arguments name: modules, classes or methods. Exits with 2 for one that names nothing."""
    everything = {module: test_classes(module) for module in SOURCES}
    chosen = []
    for argument in arguments:
        name, _, method = argument.partition("#")
        found = [(module, cls) for module, classes in everything.items() for cls in classes
                 if module == name or f".{cls}".endswith(f".{name}")]
        if not found:
            wrong_usage(f"no module and no test class {name}")
        if len(found) > 1 and name not in everything:
            wrong_usage(f"{name} is the name of several: {' '.join(cls for _, cls in found)}")
        chosen += [Entry(cls, module, method, properties=properties) for module, cls in found]
    return chosen


def quickest(entries):
    """As many entries as possible that together take FAST_SECONDS of the workers."""
    seconds = read_seconds(EXPECTED)
    chosen = []
    left = FAST_SECONDS
    for entry in sorted(entries, key=lambda e: seconds.get(e.name, UNKNOWN_SECONDS)):
        left -= seconds.get(entry.name, UNKNOWN_SECONDS)
        if left < 0:
            break
        chosen.append(entry)
    return chosen


def wrong_usage(message):
    print(f"test: {message}. Try 'scripts/test --help'.", file=sys.stderr)
    sys.exit(2)


def print_summary(results, seconds):
    """Returns whether all passed. The last line counts the tests."""
    slowest = sorted(results, key=lambda r: -r.seconds)[:5]
    print(f"\n{len(results)} classes and programs in {seconds / 60:.1f} min. The slowest: "
          + ", ".join(f"{r.entry.label()} {r.seconds:.0f} s" for r in slowest))
    for r in sorted(results, key=lambda r: r.entry.name):
        if r.seconds > BUDGET_SECONDS:
            print(f"Over the budget of {BUDGET_SECONDS} s: {r.entry.label()}, {r.seconds:.0f} s")
    reasons = collections.Counter(reason for r in results for _, reason in r.skipped)
    for reason, count in reasons.most_common():
        print(f"Skipped {count}: {reason}")
    failed = [(r, name, reason) for r in results for name, reason in r.failed]
    for r, name, reason in failed:
        print(f"Failed: {r.entry.name}{'#' + name if name else ''}: {reason}; see {os.path.relpath(r.log, PROJECT)}")
    print(f"{sum(r.passed for r in results)} passed, {len(failed)} failed, {sum(len(r.skipped) for r in results)} skipped", flush=True)
    return not failed


def remove_what_runs_when_interrupted(first=lambda: None):
    """Also if the shell that started this ignores interruptions. A second signal does not disturb the removal."""
    def interrupted(*_):
        for number in signals:
            signal.signal(number, signal.SIG_IGN)
        first()
        raise KeyboardInterrupt

    signals = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    for number in signals:
        signal.signal(number, interrupted)


def main(arguments):
    properties = [a for a in arguments if a.startswith("-D")]
    jobs = 2
    fast = False
    names = []
    # Only checks the arguments: scripts/test asks before it builds.
    check = "--check" in arguments
    for argument in arguments:
        if argument == "--fast":
            fast = True
        elif re.fullmatch(r"--jobs=[1-9]\d*", argument):
            jobs = int(argument.partition("=")[2])
        elif argument.startswith("-") and not re.match(r"-D\w", argument) and argument != "--check":
            wrong_usage(f"no option {argument}")
        elif not argument.startswith("-"):
            names.append(argument)
    if fast and names:
        wrong_usage("--fast cannot be combined with a module or a class")
    entries = choose(names or list(SOURCES), properties)
    if check:
        return
    if not names and not fast:
        entries.append(Entry("analyse", command=["scripts/analyse"]))
        if os.geteuid() == 0:
            entries.append(Entry("posix-suite", command=["env", "POSIX_SUITE_SEED=1", "scripts/posix-suite", "--quick"]))
            entries.append(Entry("try-packages", command=["scripts/try-packages"]))
    start = time.monotonic()
    results = Run(quickest(entries) if fast else entries, jobs).run()
    if names and not any(r.passed or r.failed or r.skipped for r in results):
        print(f"No test was run: is there such a method? {' '.join(names)}", file=sys.stderr)
        sys.exit(1)
    if not names and not fast and os.geteuid() != 0:
        print("scripts/posix-suite --quick and scripts/try-packages did not run: they need root")
    sys.exit(0 if print_summary(results, time.monotonic() - start) else 1)


if __name__ == "__main__":
    remove_what_runs_when_interrupted()
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("interrupted")
