"""Boot storms: a fleet of machines (bench_fleet) starts at once from images in a volume on a slow disk, after each mount with empty caches.

The first storm finds on the SSD what was promoted while the images were stored; the next ones also what earlier storms read. An LRU block cache of the
SSD's size before the disk keeps its contents from storm to storm too.
"""

import shutil
import threading

import bench_fleet
from bench_volume import say


def storm(system, images, folder):
    """Starts all machines at the same time, cold; returns the figures."""
    system.forget()
    before, seconds = system.disk.counters(), [0.0] * len(images)

    def start(number):
        seconds[number] = bench_fleet.boot(system.path(images[number]), number, folder / f"boot-{number}")

    machines = [threading.Thread(target=start, args=(number,)) for number in range(len(images))]
    try:
        for machine in machines:
            machine.start()
    finally:
        for machine in machines:
            machine.join()
        for number in range(len(images)):
            shutil.rmtree(folder / f"boot-{number}", ignore_errors=True)
    did = system.disk.since(before)
    reads = system.volume.figures()["sar"]
    row = {"system": system.name, "meanSeconds": sum(seconds) / len(seconds), "lastSeconds": max(seconds),
           "diskRequests": int(did["reads"]), "diskSeeks": int(did["seeks"]), "diskMb": did["read_mb"], "diskBusySeconds": did["busy_s"],
           "cacheHitMb": did["cache_hit_mb"], "chunks": reads["readChunks"], "memoryHits": reads["memoryHits"], "ssdHits": reads["ssdHits"]}
    say(f"  {system.name}: mean {row['meanSeconds']:.2f} s, last {row['lastSeconds']:.2f} s, {row['diskRequests']} requests, "
        f"{row['ssdHits']} of {row['chunks']} chunks from the SSD")
    return row
