package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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

    /** Packs whose containers are looked for in one scan of the container table: a few MB of ranges. */
    private static final int PACKS_AT_ONCE = 512;

    /** Bytes by which the allocated size of a file may exceed what is in it: records of the file system. */
    private static final long TOLERATED_BYTES = 64 << 10;

    private final Directory directory;
    private final Packs packs;
    private final ContainerClaims claims;
    private final SealedContainers containers;

    PackSpace(Directory directory, Packs packs, ContainerClaims claims, SealedContainers containers) {
        this.directory = directory;
        this.packs = packs;
        this.claims = claims;
        this.containers = containers;
    }

    /** Returns whether {@link #giveBack} can give places back one by one, and not only packs as a whole. */
    boolean givesPlacesBack() throws IOException {
        for (long number : packs.numbers()) {
            try {
                return directory.freesRanges(PackFormat.fileName(number));
            } catch (NoSuchFileException e) {
                log.debug("pack {} is gone already", number, e);
            }
        }
        return true;
    }

    /** Returns the lengths in bytes of the packs that are not written to, by pack. */
    Map<Long, Long> packBytes() throws IOException {
        Map<Long, Long> bytes = new HashMap<>();
        long[] numbers = packs.numbers();
        // Asked after the files, as for a sweep.
        Set<Long> inUse = packs.inUse();
        for (long number : numbers) {
            try {
                if (!inUse.contains(number)) {
                    bytes.put(number, directory.length(PackFormat.fileName(number)));
                }
            } catch (NoSuchFileException e) {
                log.debug("pack {} is gone already", number, e);
            }
        }
        return bytes;
    }

    /**
     * Gives back the space of places that no container has any more and no reader uses. The last block of each stays
     * until the next {@link #sweep}: while the pack is written to, nothing after its last byte may be given back.
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
            } catch (NoSuchFileException e) {
                log.debug("pack {} is gone already", pack.getKey(), e);
            }
        }
        return bytes;
    }

    /**
     * Gives back all space that no container has, and deletes packs without a container. No change of the container
     * table may be waiting for a commit.
     *
     * @return bytes given back
     */
    long sweep() throws IOException {
        long[] numbers = packs.numbers();
        // Asked after the files: a pack that is not in use now had all its containers committed before.
        Set<Long> inUse = packs.inUse();
        long bytes = 0;
        for (int from = 0; from < numbers.length; from += PACKS_AT_ONCE) {
            long[] some = Arrays.copyOfRange(numbers, from, Math.min(numbers.length, from + PACKS_AT_ONCE));
            for (Map.Entry<Long, List<FileRange>> pack : rangesIn(some).entrySet()) {
                if (!inUse.contains(pack.getKey())) {
                    boolean isLast = pack.getKey() == numbers[numbers.length - 1];
                    bytes += sweep(pack.getKey(), pack.getValue(), isLast);
                }
            }
        }
        directory.sync();
        // Lanes that are idle keep theirs otherwise until the volume is closed.
        packs.giveReservedBack();
        return bytes;
    }

    /** Returns the places of all containers in some packs, former ones that are of use included, by pack. */
    private Map<Long, List<FileRange>> rangesIn(long[] numbers) throws IOException {
        Map<Long, List<FileRange>> ranges = new HashMap<>();
        for (long number : numbers) {
            ranges.put(number, new ArrayList<>());
        }
        ContainerClaims.Visitor visitor = (container, stored) -> {
            List<FileRange> ofPack = ranges.get(stored.pack());
            if (ofPack != null) {
                long end = PackFormat.align(stored.offset() + stored.bytes());
                ofPack.add(new FileRange(stored.offset(), end - stored.offset()));
            }
        };
        claims.forEach(visitor);
        claims.forEachFormer(visitor);
        return ranges;
    }

    /** @param isLast whether the pack has the highest number: it stays, as the bound of the ids that were used */
    private long sweep(long pack, List<FileRange> named, boolean isLast) throws IOException {
        String name = PackFormat.fileName(pack);
        try {
            long allocated = directory.allocatedBytes(name);
            if (named.isEmpty() && !isLast) {
                directory.delete(name);
                // After that nobody opens it again.
                containers.forget(pack);
                log.debug("pack {} is deleted: it has no container", pack);
                return allocated;
            }
            long wanted = PackFormat.FIRST_CONTAINER
                    + named.stream().mapToLong(FileRange::length).sum();
            if (allocated <= wanted + TOLERATED_BYTES) {
                return 0;
            }
            List<FileRange> strays = gaps(named, PackFormat.align(directory.length(name)));
            if (!strays.isEmpty()) {
                directory.release(name, strays);
            }
            directory.trim(name);
            return Math.max(0, allocated - directory.allocatedBytes(name));
        } catch (NoSuchFileException e) {
            log.debug("pack {} is gone already", pack, e);
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
