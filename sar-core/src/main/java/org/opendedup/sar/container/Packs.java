package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.SystemError;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the packs that are written to, and closes those that are left. Safe for use by many threads. */
final class Packs implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Packs.class);

    private final Directory directory;
    private final ContainerIds ids;
    private final Set<Pack> open = ConcurrentHashMap.newKeySet();
    private final Set<Long> beingCreated = ConcurrentHashMap.newKeySet();

    Packs(Directory directory, ContainerIds ids) {
        this.directory = directory;
        this.ids = ids;
    }

    /**
     * Returns the pack for a new container of a stream: the one that the stream writes to, or a new one.
     *
     * @param present the pack of the stream's last container, or null
     */
    Pack forContainer(long container, @Nullable Pack present) throws IOException {
        if (present != null && takes(present, container)) {
            return present;
        }
        Pack created;
        try {
            // A pack of 256 MiB has about 70 containers; other streams use ids in between. No other pack has this
            // number: those for rewriting have an id that was used.
            created = create(container + ChunkId.MOST_PACK_AHEAD, Pack::createFresh);
        } catch (NoSpaceException | FileAlreadyExistsException e) {
            throw e;
        } catch (IOException e) {
            throw new WriteFailedException(
                    "a pack for container " + container + " could not be begun: " + e.getMessage(), e);
        }
        if (present != null) {
            present.retire();
        }
        return created;
    }

    /** Returns whether a container may be written to a pack that others were written to. */
    boolean takes(Pack present, long container) {
        return present.accepts(container) && takesMore(present);
    }

    /** Returns whether a pack should get more where it is; see {@link Directory#takesMore}. */
    boolean takesMore(Pack pack) {
        return directory.takesMore(PackFormat.fileName(pack.number()));
    }

    /**
     * Returns a new pack for containers that were written before, and so have lower ids. While a disk is away that may
     * have a pack of the next number, its number is one {@link #aboveAll}.
     */
    Pack forRewriting() throws IOException {
        try {
            return createNext(0, Pack::create);
        } catch (IOException e) {
            if (!SystemError.NO_DEVICE.isIn(e.getMessage())) {
                throw e;
            }
            log.debug("whether there is a pack of the next number is not known", e);
            return aboveAll();
        }
    }

    /**
     * Returns a new pack whose number is above that of every other one. That of a pack for rewriting is not: packs of
     * younger containers have numbers far above the ids that were used.
     */
    Pack aboveAll() throws IOException {
        return createNext(ChunkId.MOST_PACK_AHEAD, Pack::createFresh);
    }

    private Pack createNext(int distance, Creation creation) throws IOException {
        while (true) {
            try {
                return create(ids.next() + distance, creation);
            } catch (FileAlreadyExistsException e) {
                // The pack of a container with a lower id has this number.
                log.debug("the number of an existing pack is skipped", e);
            }
        }
    }

    /** Makes a pack of a number. */
    @FunctionalInterface
    private interface Creation {
        Pack create(Directory directory, long number) throws IOException;
    }

    private Pack create(long number, Creation creation) throws IOException {
        open.removeIf(Pack::isClosed);
        beingCreated.add(number);
        try {
            Pack created = creation.create(directory, number);
            open.add(created);
            return created;
        } finally {
            beingCreated.remove(number);
        }
    }

    /**
     * Returns the numbers of the packs that are created, or may be written to. All containers of other packs that exist
     * are committed.
     */
    Set<Long> inUse() {
        // In this order: a pack that is not created any more is open by then.
        Set<Long> inUse = new HashSet<>(beingCreated);
        open.stream().filter(pack -> !pack.isClosed()).forEach(pack -> inUse.add(pack.number()));
        return inUse;
    }

    /**
     * Gives the space back that is reserved ahead in packs that may be written to. It stays where that fails: a lane
     * that is idle has its pack open, also on a disk that is gone.
     */
    void giveReservedBack() {
        for (Pack pack : open) {
            try {
                pack.giveReservedBack();
            } catch (IOException e) {
                log.debug("{} keeps what is reserved", pack, e);
            }
        }
    }

    /** Returns whether a change of a pack failed because its disk is not there, or read-only. */
    static boolean isOfDisk(IOException failure) {
        return SystemError.NO_DEVICE.isIn(failure.getMessage()) || SystemError.READ_ONLY.isIn(failure.getMessage());
    }

    /** Returns the numbers of all packs, in ascending order. */
    long[] numbers() throws IOException {
        return PackReader.packs(directory);
    }

    /**
     * Returns the packs that the container table names, or a former place that is of use, and that are missing, each
     * with the number of its containers. Lists the folder once and reads the whole table; once more if a pack is
     * missing, because a collection may have moved its containers and deleted it meanwhile: that no entry names any
     * more.
     */
    SortedMap<Long, Long> missing(ContainerClaims claims) throws IOException {
        Set<Long> present = new HashSet<>();
        for (long pack : numbers()) {
            present.add(pack);
        }
        Set<Long> missing = new HashSet<>();
        ContainerClaims.Visitor note = (container, stored) -> {
            if (!present.contains(stored.pack())) {
                missing.add(stored.pack());
            }
        };
        claims.forEach(note);
        claims.forEachFormer(note);
        for (long pack : List.copyOf(missing)) {
            if (exists(pack)) {
                missing.remove(pack); // Created after the list.
            }
        }
        SortedMap<Long, Long> named = new TreeMap<>();
        if (!missing.isEmpty()) {
            ContainerClaims.Visitor count = (container, stored) -> {
                if (missing.contains(stored.pack())) {
                    named.merge(stored.pack(), 1L, Long::sum);
                }
            };
            claims.forEach(count);
            claims.forEachFormer(count);
        }
        return named;
    }

    boolean exists(long pack) throws IOException {
        return directory.exists(PackFormat.fileName(pack));
    }

    /**
     * Checks the header of a pack and returns the length of its file in bytes.
     *
     * @throws java.nio.file.NoSuchFileException if it is missing
     */
    long checkedLength(long pack) throws IOException {
        try (Input input = directory.open(PackFormat.fileName(pack))) {
            ByteBuffer header = ByteBuffer.allocate(PackFormat.FIRST_CONTAINER);
            input.readFully(0, header);
            PackFormat.checkHeader(header.array(), pack);
            return input.length();
        }
    }

    /** Removes a pack without containers. */
    void delete(Pack pack) throws IOException {
        pack.close();
        directory.delete(PackFormat.fileName(pack.number()));
    }

    /**
     * Returns a bound on the container ids that were ever used in the directory: the highest number of a pack; 0 if
     * there is none.
     *
     * @param from only packs from this number on are looked at
     */
    long highest(long from) throws IOException {
        long highest = 0;
        for (String name : directory.listFrom(PackFormat.fileName(Math.max(from, 1)))) {
            highest = Math.max(highest, PackFormat.numberOf(name).orElse(0));
        }
        return highest;
    }

    /** Closes all packs without forcing them. */
    @Override
    public void close() {
        open.forEach(Pack::close);
    }
}
