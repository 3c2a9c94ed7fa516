"""Object stores that run on this machine, shared by the benchmark of volumes in them and by the crash loop: servers of S3 and HDFS, each of
processes that can be killed and started again in their place."""

import contextlib
import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import time
import uuid
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
PROJECT = SCRIPTS.parent
START_SECONDS = 120


class Unavailable(Exception):
    """A store cannot be had on this machine; says why."""


def free_ports(count):
    """Ports that nothing listens at, below those that the kernel gives to clients."""
    found = []
    while len(found) < count:
        port = random.SystemRandom().randrange(20000, 32000)
        with contextlib.closing(socket.socket()) as probe:
            if port not in found and probe.connect_ex(("127.0.0.1", port)):
                found.append(port)
    return found


def install(*packages):
    """Installs packages of Debian, as root."""
    if os.geteuid() or not shutil.which("apt-get"):
        raise Unavailable(f"needs the packages {', '.join(packages)}")
    done = subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages], text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise Unavailable(f"{', '.join(packages)} could not be installed: {done.stdout.strip().splitlines()[-1]}")


class Server:
    """Processes in a folder, each with a name."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = {}
        self.words = {}
        self.env = dict(os.environ)

    @classmethod
    def prepare(cls):
        """Fetches what it needs and is missing, while there is a network."""

    def spawn(self, part, *words, until=None):
        """Starts a process, and waits until it listens at a port."""
        self.words[part] = (words, until)
        with open(self.folder / f"{part}.log", "ab") as log:
            process = subprocess.Popen([str(word) for word in words], env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, start_new_session=True)
        self.processes[part] = process
        deadline = time.monotonic() + START_SECONDS
        while until and not listens(until):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Unavailable(f"{words[0]} does not start; see {self.folder / f'{part}.log'}")
            time.sleep(0.05)

    def parts(self):
        """Names of the processes that can be killed."""
        return list(self.processes)

    def kill(self, part):
        """Kills a process at once (SIGKILL)."""
        self.processes[part].kill()
        self.processes[part].wait()

    def restart(self, part):
        """Starts a process that was killed, in its place."""
        words, until = self.words[part]
        self.spawn(part, *words, until=until)

    def stop(self):
        """Ends all processes, the last one first, and removes the folder."""
        for process in reversed(self.processes.values()):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def listens(port):
    with contextlib.closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class S3(Server):
    """A server of S3: endpoint, a bucket, and credentials in the environment."""

    bucket = "bucket"

    def __init__(self, folder):
        super().__init__(folder)
        self.endpoint = None
        self.env |= {"AWS_ACCESS_KEY_ID": "gateway", "AWS_SECRET_ACCESS_KEY": uuid.uuid4().hex, "AWS_REGION": "us-east-1",
                     # Else clients ask for the role of a machine in a cloud.
                     "AWS_EC2_METADATA_DISABLED": "true"}

    def address(self, prefix):
        return f"s3://{self.bucket}/{prefix}?endpoint={self.endpoint}"

    def tool(self):
        return Rclone(self)


class Versity(S3):
    """versitygw over a folder, as scripts/s3-gateway starts it."""

    name = "versitygw"

    @classmethod
    def prepare(cls):
        done = subprocess.run([SCRIPTS / "s3-gateway", "--build"], text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode:
            raise Unavailable(done.stderr.strip())

    def start(self):
        self.run()
        return self

    def run(self, *options):
        done = subprocess.run([SCRIPTS / "s3-gateway", f"--with={os.getpid()}", *options, self.folder], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise Unavailable(done.stderr.strip())
        self.env |= dict(pair.split("=", 1) for line in done.stdout.splitlines() for pair in shlex.split(line.removeprefix("export ")))
        self.endpoint = self.env["S3_GATEWAY"].partition("endpoint=")[2]

    def parts(self):
        return ["gateway"]

    def kill(self, part):
        os.kill(int(self.env["S3_GATEWAY_PID"]), signal.SIGKILL)

    def restart(self, part):
        self.run(f"--port={self.endpoint.rpartition(':')[2]}")

    def forget(self, prefix, since):
        """Removes the objects that were put since a time (time.time()), as if the server had answered without storing them."""
        # Not what the volume replaces, beside its folders: the lease and the volume file.
        for file in (self.folder / "objects" / self.bucket / prefix).rglob("*/*"):
            if file.is_file() and file.stat().st_mtime > since:
                file.unlink()

    def stop(self):
        if "S3_GATEWAY_PID" in self.env:
            with contextlib.suppress(ProcessLookupError):
                self.kill("gateway")
        shutil.rmtree(self.folder, ignore_errors=True)


class Ceph(S3):
    """A monitor, an OSD with BlueStore in a file of the folder, and the gateway (RGW)."""

    name = "ceph"
    gigabytes = 8

    @classmethod
    def prepare(cls):
        if not all(shutil.which(program) for program in ("ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "rclone")):
            install("ceph-mon", "ceph-osd", "radosgw", "rclone")

    def start(self):
        self.prepare()
        self.folder.mkdir(parents=True)
        monitor, first, gateway = free_ports(3)
        conf = self.folder / "ceph.conf"
        cluster = uuid.uuid4()
        lines = [
            "[global]", f"fsid = {cluster}", f"mon host = [v2:127.0.0.1:{monitor},v1:127.0.0.1:{first}]",
            "auth allow insecure global id reclaim = false", f"run dir = {self.folder}", f"admin socket = {self.folder}/$name.asok",
            f"log file = {self.folder}/$name.log", "pid file =", f"mon data = {self.folder}/mon", f"osd data = {self.folder}/osd",
            "osd pool default size = 1", "osd pool default min size = 1", "osd pool default pg num = 8", "mon allow pool size one = true",
            "osd crush chooseleaf type = 0", "osd pool default pg autoscale mode = off", "mon max pg per osd = 1000",
            "bluestore block create = true", f"bluestore block size = {self.gigabytes << 30}", "osd memory target = 1073741824",
            "mon data avail warn = 1", "mon data avail crit = 1", "osd class load list = *", "osd class default list = *",
            f"rgw frontends = beast endpoint=127.0.0.1:{gateway}", "rgw enable usage log = false", "rgw enable ops log = false", f"keyring = {self.folder}/keyring",
            ""]
        conf.write_text("\n".join(lines))
        self.conf = conf
        for folder in ("mon", "osd"):
            (self.folder / folder).mkdir()
        # The monitor takes the keys of all from this file when it is made.
        keys = {"mon.": "m", "client.admin": "mop", "osd.0": "mo", "client.rgw": "mo"}
        for name, rights in keys.items():
            caps = [word for letter in rights for word in ("--cap", {"m": "mon", "o": "osd", "p": "mgr"}[letter], "allow *")]
            self.must("ceph-authtool", self.folder / "keyring", *["--create-keyring"][: name == "mon."], "--gen-key", "-n", name, *caps)
        self.must("monmaptool", "--create", "--clobber", "--fsid", str(cluster), "--addv", "a", f"[v2:127.0.0.1:{monitor},v1:127.0.0.1:{first}]",
                  self.folder / "monmap")
        self.must("ceph-mon", "--mkfs", "-c", conf, "-i", "a", "--monmap", self.folder / "monmap", "--keyring", self.folder / "keyring")
        self.spawn("monitor", "ceph-mon", "-f", "-c", conf, "-i", "a", until=monitor)
        osd = uuid.uuid4()
        self.must("ceph", "-c", conf, "--connect-timeout", "60", "osd", "new", str(osd), "0")
        self.must("ceph-osd", "-c", conf, "-i", "0", "--mkfs", "--osd-uuid", str(osd))
        self.must("ceph", "-c", conf, "osd", "crush", "add", "osd.0", "1.0", "root=default", "host=here")
        self.spawn("osd", "ceph-osd", "-f", "-c", conf, "-i", "0")
        self.spawn("gateway", "radosgw", "-f", "-c", conf, "-n", "client.rgw", until=gateway)
        self.must("radosgw-admin", "-c", conf, "user", "create", "--uid=bench", "--display-name=bench",
                  f"--access-key={self.env['AWS_ACCESS_KEY_ID']}", f"--secret-key={self.env['AWS_SECRET_ACCESS_KEY']}")
        self.endpoint = f"http://127.0.0.1:{gateway}"
        Rclone(self).run("mkdir", f"store:{self.bucket}")
        return self

    def parts(self):
        return ["osd", "gateway"]

    def must(self, *words):
        done = subprocess.run([str(word) for word in words], text=True, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=START_SECONDS)
        if done.returncode:
            raise Unavailable(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout.strip()[-500:]}")


class Hdfs(Server):
    """A NameNode and three DataNodes, each in a JVM of its own, from the jars of the tests of sar-hdfs."""

    name = "hdfs"
    nodes = 3

    def start(self):
        jars = PROJECT / "sar-hdfs/target/tests"
        if not list(jars.glob("hadoop-client-minicluster-*.jar")):
            raise Unavailable(f"needs the jars of {jars}: scripts/build -Ptests")
        self.folder.mkdir(parents=True)
        self.port, web, *ports = free_ports(2 + 3 * self.nodes)
        values = {"fs.defaultFS": f"hdfs://localhost:{self.port}", "dfs.replication": "3", "dfs.namenode.name.dir": f"{self.folder}/name",
                  "dfs.namenode.http-address": f"127.0.0.1:{web}", "dfs.blocksize": str(128 << 20),
                  "dfs.namenode.safemode.extension": "0", "dfs.permissions.enabled": "false",
                  # A node that is killed is known after 15 s instead of ten minutes.
                  "dfs.heartbeat.interval": "1", "dfs.namenode.heartbeat.recheck-interval": "2500",
                  # With three nodes there is none to take the place of a lost one.
                  "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER"}
        self.configure(self.folder / "conf", values)
        self.java = ["java", "-Xmx384m", "-XX:+UseSerialGC", f"-Djava.io.tmpdir={self.folder}", "-cp", f"{self.folder / 'conf'}:{jars}/*"]
        self.run("org.apache.hadoop.hdfs.server.namenode.NameNode", "-format", "-force")
        self.spawn("namenode", *self.java, "org.apache.hadoop.hdfs.server.namenode.NameNode", until=self.port)
        for node in range(self.nodes):
            data, ipc, http = ports[3 * node : 3 * node + 3]
            conf = self.folder / f"conf-{node}"
            self.configure(conf, values | {"dfs.datanode.data.dir": f"{self.folder}/data-{node}", "dfs.datanode.address": f"127.0.0.1:{data}",
                                           "dfs.datanode.ipc.address": f"127.0.0.1:{ipc}", "dfs.datanode.http.address": f"127.0.0.1:{http}"})
            self.spawn(f"datanode-{node}", *self.java[:-1], f"{conf}:{jars}/*", "org.apache.hadoop.hdfs.server.datanode.DataNode", until=data)
        # A put needs all of them.
        deadline = time.monotonic() + START_SECONDS
        while self.run("org.apache.hadoop.hdfs.tools.DFSAdmin", "-report").count("Decommission Status") < self.nodes:
            if time.monotonic() > deadline:
                raise Unavailable("the DataNodes do not report to the NameNode")
        self.run("org.apache.hadoop.fs.FsShell", "-mkdir", "-p", "/own")
        self.env["HADOOP_CONF_DIR"] = str(self.folder / "conf")
        return self

    def configure(self, folder, values):
        folder.mkdir()
        properties = "".join(f"<property><name>{name}</name><value>{value}</value></property>\n" for name, value in values.items())
        for name in ("core-site.xml", "hdfs-site.xml"):
            (folder / name).write_text(f"<configuration>\n{properties}</configuration>\n")

    def run(self, *words):
        done = subprocess.run([*self.java, *map(str, words)], text=True, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            raise Unavailable(f"{words[0]} ended with {done.returncode}: {done.stdout.strip()[-500:]}")
        return done.stdout

    def parts(self):
        return [f"datanode-{node}" for node in range(self.nodes)]

    def address(self, prefix):
        self.run("org.apache.hadoop.fs.FsShell", "-mkdir", "-p", f"/{prefix}")
        return f"hdfs://localhost:{self.port}/{prefix}"

    def tool(self):
        return FsShell(self)


class FaultyProxy:
    """Breaks a share of the requests on their way to a server of S3: the proxy of the tests of sar-s3, in a process that ends with this one."""

    def __init__(self, endpoint, share, seed, address="127.0.0.1"):
        """
        address: where it listens
        """
        classes = PROJECT / "sar-s3/target/test-classes"
        words = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-cp", str(classes), "org.opendedup.sar.s3.FaultyProxy", endpoint.rpartition(":")[2],
                 str(share), str(seed), address]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        port = self.process.stdout.readline().strip()
        if not port:
            raise Unavailable(f"needs the classes of {classes}: scripts/build -Ptests")
        self.endpoint = f"http://{address}:{port}"

    def stop(self):
        self.process.kill()
        self.process.wait()


class Rclone:
    """rclone, with eight files at once and parts of 16 MiB."""

    name = "rclone"

    def __init__(self, server):
        if not shutil.which("rclone"):
            install("rclone")
        self.server = server
        # A bundle of certificates makes this release end, also over plain HTTP.
        self.env = {name: value for name, value in server.env.items() if name != "AWS_CA_BUNDLE"}
        self.env |= {"RCLONE_CONFIG": "/dev/null", "RCLONE_CONFIG_STORE_TYPE": "s3", "RCLONE_CONFIG_STORE_PROVIDER": "Other",
                                 "RCLONE_CONFIG_STORE_ENV_AUTH": "true", "RCLONE_CONFIG_STORE_ENDPOINT": server.endpoint,
                                 "RCLONE_CONFIG_STORE_FORCE_PATH_STYLE": "true"}

    def run(self, *words):
        """Returns the seconds."""
        begin = time.monotonic()
        done = subprocess.run(["rclone", "--retries=1", *map(str, words)], env=self.env, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode:
            raise RuntimeError(f"rclone {words[0]} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        return time.monotonic() - begin

    def put(self, folder, name):
        return self.run("copy", "--transfers=8", "--s3-chunk-size=16M", "--s3-upload-cutoff=64M", "--s3-no-check-bucket", folder,
                 f"store:{self.server.bucket}/own/{name}")

    def get(self, name, folder):
        return self.run("copy", "--transfers=8", f"store:{self.server.bucket}/own/{name}", folder)

    def read(self, name):
        """Reads all files, one after the other, and keeps nothing."""
        return self.run("cat", f"store:{self.server.bucket}/own/{name}")


class FsShell:
    """hdfs dfs, with eight files at once; its seconds are without the start of its JVM."""

    name = "hdfs dfs"

    def __init__(self, server):
        self.server = server

    def run(self, *words):
        """Returns the seconds."""
        classes = PROJECT / "sar-hdfs/target/test-classes"
        *java, path = self.server.java
        words = [*java, f"{path}:{classes}", "org.opendedup.sar.hdfs.TimedShell", *map(str, words)]
        done = subprocess.run(words, text=True, cwd=self.server.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise RuntimeError(f"hdfs dfs {words[-1]} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        return int(done.stdout) / 1e9

    def put(self, folder, name):
        return self.run("-put", "-t", "8", folder, f"/own/{name}")

    def get(self, name, folder):
        return self.run("-get", "-t", "8", f"/own/{name}", folder)

    def read(self, name):
        return self.run("-cat", f"/own/{name}/*")


STORES = {store.name: store for store in (Versity, Ceph, Hdfs)}
