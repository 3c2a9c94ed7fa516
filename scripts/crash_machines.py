"""Shared by scripts/crash-loop: machines in network namespaces, which iptables cuts off from the rest."""

import os
import shutil
import subprocess
import sys

import bench_stores

# Each machine is at the second address of a network, whose first one is that of the object store.
NETWORK = "10.77.{}.{}"
INSIDE = "CRASH_LOOP_NAMESPACE"


def enter():
    """
    Goes on in a network namespace without other machines, in which nothing has to be removed: it is gone with its last process. Returns
    whether there is one: that needs root, ip and iptables.
    """
    if os.environ.pop(INSIDE, None):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return True
    if os.geteuid():
        return False
    try:
        for program, package in ("ip", "iproute2"), ("iptables", "iptables"), ("nsenter", "util-linux"):
            if not shutil.which(program):
                bench_stores.install(package)
    except bench_stores.Unavailable as e:
        print(f"crash-loop: without partitions: {e}", file=sys.stderr)
        return False
    if subprocess.run(["unshare", "--net", "true"], check=False).returncode:
        print("crash-loop: without partitions: no network namespace can be made", file=sys.stderr)
        return False
    sys.stderr.flush()
    os.execvpe("unshare", ["unshare", "--net", sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})


class Machine:
    """A network namespace of its own, which exists as long as a process in it."""

    def __init__(self, number):
        self.gateway, own = (NETWORK.format(number, host) for host in (1, 2))
        # It ends with this process, whose end of the pipe it reads.
        self.process = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True)
        self.process.stdout.readline()
        self.enter = ["nsenter", f"--net=/proc/{self.process.pid}/ns/net"]
        outside, inside = f"out{number}", f"in{number}"
        for words in (["ip", "link", "add", outside, "type", "veth", "peer", "name", inside, "netns", self.process.pid],
                      ["ip", "address", "add", f"{self.gateway}/24", "dev", outside], ["ip", "link", "set", outside, "up"],
                      [*self.enter, "ip", "address", "add", f"{own}/24", "dev", inside], [*self.enter, "ip", "link", "set", "lo", "up"],
                      [*self.enter, "ip", "link", "set", inside, "up"], [*self.enter, "ip", "route", "add", "default", "via", self.gateway]):
            subprocess.run([str(word) for word in words], check=True)
        self.tables = next(program for program in ("iptables", "iptables-legacy")
                           if shutil.which(program) and not subprocess.run([*self.enter, program, "-P", "FORWARD", "DROP"], check=False,
                                                                           stderr=subprocess.DEVNULL).returncode)

    def policy(self, target):
        """The words of a shell that let all packets through (ACCEPT) or none (DROP)."""
        return " && ".join(" ".join([*self.enter, self.tables, "-P", chain, target]) for chain in ("INPUT", "OUTPUT"))

    def stop(self):
        self.process.kill()
        self.process.wait()
