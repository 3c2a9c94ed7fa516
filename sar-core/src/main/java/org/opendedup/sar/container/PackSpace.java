package org.opendedup.sar.container;

import com.carrotsearch.hppc.LongLongHashMap;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileRange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives space of packs back to the file system: the places of containers that were written anew or removed, and all
 * that no container has. Such strays are what a crash leaves: bytes after the last commit, reserved space, packs
 * without a container. Never touches a pack that is written to. For one thread at a time.
 */
final class PackSpace {
    private static final Logger log = LoggerFactory.getLogger(PackSpace.class);

    /**
     * Packs from which a sweep gives back what is between containers: 4 MB of ranges. The next one goes on; a crash
     * leaves few of them.
     */
    private static final int MAX_WITH_STRAYS = 2048;

    /** Bytes by which the allocated size of a file may exceed what is in it: records of the file system. */
    private static final long TOLERATED_BYTES = 64 << 10;

    private final Directory directory;
    private final Packs packs;
    private final ContainerClaims claims;
    private final SealedContainers containers;

    /** Packs whose space stays, because their disk is gone or read-only, and that were not told. */
    private int passedOver;

    private @Nullable IOException whyPassedOver;

    PackSpace(Directory directory, Packs packs, ContainerClaims claims, SealedContainers containers) {
        this.directory = directory;
        this.packs = packs;
        this.claims = claims;
        this.containers = containers;
    }

    /**
     * Returns the numbers of all packs that can be listed, in ascending order: those of a disk that is gone, or whose
     * folder is damaged, keep their space.
     *
     * @throws IOException if there is no other place
     */
    private long[] readable() throws IOException {
        List<long[]> found = new ArrayList<>();
        for (Directory part : directory.parts()) {
            try {
                found.add(PackReader.packs(part));
            } catch (IOException e) {
                if (directory.parts().size() == 1) {
                    throw e;
                }
                log.warn("the packs in {} keep the space of what is garbage, until a later collection: {}", part, e);
            }
        }
        return found.stream().flatMapToLong(LongStream::of).sorted().toArray();
    }

    /** Returns whether {@link #giveBack} can give places back one by one, and not only packs as a whole. */
    boolean givesPlacesBack() throws IOException {
        for (long number : readable()) {
            try {
                return directory.freesRanges(PackFormat.fileName(number));
            } catch (NoSuchFileException e) {
                log.debug("pack {} is gone already", number, e);
            } catch (IOException e) {
                if (!Packs.isOfDisk(e)) {
                    throw e;
                }
                log.debug("pack {} cannot be changed now", number, e);
            }
        }
        return true;
    }

    /** Returns the lengths in bytes of the packs that are not written to and whose disk is there, by pack. */
    Map<Long, Long> packBytes() throws IOException {
        Map<Long, Long> bytes = new HashMap<>();
        long[] numbers = readable();
        // Asked after the files, as for a sweep.
        Set<Long> inUse = packs.inUse();
        for (long number : numbers) {
            try {
                if (!inUse.contains(number)) {
                    bytes.put(number, directory.length(PackFormat.fileName(number)));
                }
            } catch (IOException e) {
                passOver(number, e);
            }
        }
        tellPassedOver();
        return bytes;
    }

    /**
     * Returns the share of a pack that must be dead at least, so that it pays to write the rest anew; above 1 if it
     * does not pay now, or the pack's disk is gone.
     */
    double leastDeadShare(long pack) throws IOException {
        try {
            return directory.leastDeadShare(PackFormat.fileName(pack));
        } catch (IOException e) {
            passOver(pack, e);
            return 2;
        }
    }

    /**
     * Gives back the space of places that no container has any more and no reader uses. The last block of each stays
     * until the next {@link #sweep}: while the pack is written to, nothing after its last byte may be given back. So
     * does the space of packs whose disk is gone, or read-only.
     *
     * @return bytes given back; 0 if the file system cannot free a part of a file
     */
    long giveBack(List<StoredContainer> places) throws IOException {
        Map<Long, List<FileRange>> byPack = new TreeMap<>();
        for (StoredContainer place : places) {
            byPack.computeIfAbsent(place.pack(), pack -> new ArrayList<>())
                    .add(new FileRange(place.offset(), place.bytes()));
        }
        long bytes = 0;
        for (Map.Entry<Long, List<FileRange>> pack : byPack.entrySet()) {
            try {
                if (directory.release(PackFormat.fileName(pack.getKey()), pack.getValue())) {
                    bytes += pack.getValue().stream()
                            .mapToLong(FileRange::length)
                            .sum();
                }
            } catch (IOException e) {
                passOver(pack.getKey(), e);
            }
        }
        tellPassedOver();
        return bytes;
    }

    /**
     * Leaves the space of a pack to a later sweep, unless it is gone: packs on other disks must not wait until this one
     * is back.
     *
     * @throws IOException if the pack and its disk are there, and can be written to
     */
    private void passOver(long pack, IOException why) throws IOException {
        if (why instanceof NoSuchFileException) {
            log.debug("pack {} is gone already", pack, why);
            return;
        }
        if (!Packs.isOfDisk(why)) {
            throw why;
        }
        log.debug("pack {} keeps the space of what is garbage", pack, why);
        passedOver++;
        whyPassedOver = why;
    }

    /** Tells in one line of how many packs the space stays: a disk may have thousands. */
    private void tellPassedOver() {
        if (passedOver > 0) {
            log.warn(
                    "packs that keep the space of what is garbage, until a later collection: {}; {}",
                    passedOver,
                    String.valueOf(whyPassedOver));
        }
        passedOver = 0;
    }

    /**
     * Gives back all space that no container has, and deletes packs without a container. No change of the container
     * table may be waiting for a commit. Packs whose disk is gone, or read-only, stay as they are.
     *
     * @return bytes given back
     */
    long sweep() throws IOException {
        long[] numbers = readable();
        // Asked after the files: a pack that is not in use now had all its containers committed before.
        Set<Long> inUse = packs.inUse();
        LongLongHashMap named = namedBytes();
        List<Long> rest = new ArrayList<>();
        long bytes = 0;
        for (long number : numbers) {
            // The pack with the highest number stays, as the bound of the ids that were used.
            boolean mayGo = number != numbers[numbers.length - 1] && !named.containsKey(number);
            if (inUse.contains(number)) {
                continue;
            }
            if (mayGo) {
                bytes += delete(number);
            } else {
                rest.add(number);
            }
        }
        bytes += sweepStrays(rest.iterator(), named);
        tellPassedOver();
        directory.sync();
        // Lanes that are idle keep theirs otherwise until the volume is closed.
        packs.giveReservedBack();
        return bytes;
    }

    /**
     * Gives back what is between the containers of some packs. If none of these could be changed, goes on with the next
     * ones: the packs of one disk must not take the turn of all others in each sweep.
     *
     * @param named bytes of each pack that containers have
     */
    private long sweepStrays(Iterator<Long> rest, LongLongHashMap named) throws IOException {
        long bytes = 0;
        boolean goesOn = true;
        while (goesOn && rest.hasNext()) {
            List<Long> withStrays = new ArrayList<>();
            while (withStrays.size() < MAX_WITH_STRAYS && rest.hasNext()) {
                long number = rest.next();
                if (hasStrays(number, named.get(number))) {
                    withStrays.add(number);
                }
            }
            int before = passedOver;
            for (Map.Entry<Long, List<FileRange>> pack : rangesIn(withStrays).entrySet()) {
                bytes += giveStraysBack(pack.getKey(), pack.getValue());
            }
            goesOn = passedOver - before == withStrays.size();
        }
        return bytes;
    }

    /** Visits the places of all containers, former ones that are of use included. */
    private void forEachPlace(ContainerClaims.Visitor visitor) throws IOException {
        claims.forEach(visitor);
        claims.forEachFormer(visitor);
    }

    /** Returns a range of whole blocks. */
    private static FileRange range(StoredContainer stored) {
        return new FileRange(stored.offset(), PackFormat.align(stored.offset() + stored.bytes()) - stored.offset());
    }

    /** Returns the bytes of all containers in each pack that has one: 16 MB for 100 TB. */
    private LongLongHashMap namedBytes() throws IOException {
        LongLongHashMap bytes = new LongLongHashMap();
        forEachPlace(
                (container, stored) -> bytes.addTo(stored.pack(), range(stored).length()));
        return bytes;
    }

    /** Returns the places of all containers in some packs, by pack. */
    private Map<Long, List<FileRange>> rangesIn(List<Long> numbers) throws IOException {
        Map<Long, List<FileRange>> ranges = new HashMap<>();
        if (numbers.isEmpty()) {
            return ranges;
        }
        for (long number : numbers) {
            ranges.put(number, new ArrayList<>());
        }
        forEachPlace((container, stored) -> {
            List<FileRange> ofPack = ranges.get(stored.pack());
            if (ofPack != null) {
                ofPack.add(range(stored));
            }
        });
        return ranges;
    }

    private long delete(long pack) throws IOException {
        String name = PackFormat.fileName(pack);
        try {
            long allocated = directory.allocatedBytes(name);
            directory.delete(name);
            // After that nobody opens it again.
            containers.forget(pack);
            log.debug("pack {} is deleted: it has no container", pack);
            return allocated;
        } catch (IOException e) {
            passOver(pack, e);
            return 0;
        }
    }

    /** @param named bytes of the pack that containers have */
    private boolean hasStrays(long pack, long named) throws IOException {
        try {
            return directory.allocatedBytes(PackFormat.fileName(pack))
                    > PackFormat.FIRST_CONTAINER + named + TOLERATED_BYTES;
        } catch (IOException e) {
            passOver(pack, e);
            return false;
        }
    }

    private long giveStraysBack(long pack, List<FileRange> named) throws IOException {
        String name = PackFormat.fileName(pack);
        try {
            long allocated = directory.allocatedBytes(name);
            List<FileRange> strays = gaps(named, PackFormat.align(directory.length(name)));
            if (!strays.isEmpty()) {
                directory.release(name, strays);
            }
            directory.trim(name);
            return Math.max(0, allocated - directory.allocatedBytes(name));
        } catch (IOException e) {
            passOver(pack, e);
            return 0;
        }
    }

    /** Returns what lies between the header of a pack and {@code end} and is in none of the ranges. */
    private static List<FileRange> gaps(List<FileRange> named, long end) {
        List<FileRange> gaps = new ArrayList<>();
        List<FileRange> sorted = new ArrayList<>(named);
        sorted.sort(Comparator.comparingLong(FileRange::offset));
        long at = PackFormat.FIRST_CONTAINER;
        for (FileRange range : sorted) {
            if (range.offset() > at) {
                gaps.add(new FileRange(at, range.offset() - at));
            }
            at = Math.max(at, range.end());
        }
        if (end > at) {
            gaps.add(new FileRange(at, end - at));
        }
        return gaps;
    }
}
