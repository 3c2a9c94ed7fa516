"""Boot storms: machines of a fleet (bench_fleet) start at once, or one alone, from images in a volume on a slow disk, after a mount with empty caches.

The first storm finds on the SSD what was promoted while the images were stored; the next ones also what earlier storms read. An LRU block cache of the
SSD's size before the disk keeps its contents from storm to storm too. In a storm the volume's memory serves what several machines want, so the
disk reads each frame about once; a machine that starts alone waits for the disk for everything.
"""

import shutil
import threading

import bench_fleet
from bench_volume import say


def storm(system, images, folder, numbers=None):
    """Starts all machines, or those of these numbers, at the same time, cold; returns the figures."""
    system.forget()
    numbers = range(len(images)) if numbers is None else numbers
    before, seconds = system.disk.counters(), []

    def start(number):
        seconds.append(bench_fleet.boot(system.path(images[number]), number, folder / f"boot-{number}"))

    machines = [threading.Thread(target=start, args=(number,)) for number in numbers]
    try:
        for machine in machines:
            machine.start()
    finally:
        for machine in machines:
            machine.join()
        for number in numbers:
            shutil.rmtree(folder / f"boot-{number}", ignore_errors=True)
    did = system.disk.since(before)
    reads = system.volume.figures()["sar"]
    row = {"system": system.name, "machines": len(seconds), "meanSeconds": sum(seconds) / len(seconds), "lastSeconds": max(seconds),
           "diskRequests": int(did["reads"]), "diskSeeks": int(did["seeks"]), "diskMb": did["read_mb"], "diskBusySeconds": did["busy_s"],
           "cacheHitMb": did["cache_hit_mb"], "chunks": reads["readChunks"], "memoryHits": reads["memoryHits"], "ssdHits": reads["ssdHits"]}
    say(f"  {system.name}: {len(seconds)} machines, mean {row['meanSeconds']:.2f} s, last {row['lastSeconds']:.2f} s, {row['diskRequests']} requests, "
        f"{row['ssdHits']} of {row['chunks']} chunks from the SSD, disk {row['diskBusySeconds']:.1f} s")
    return row
