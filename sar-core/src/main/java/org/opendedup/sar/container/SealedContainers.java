package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the sealed containers by the container table, and reads what describes them: frame tables and directories. A
 * container may be written anew while it is read: then what was found in its old place says nothing, and it is looked
 * for in its new one. Safe for use by many threads.
 */
final class SealedContainers implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(SealedContainers.class);

    private static final int SALVAGED_AT_ONCE = 1 << 20;

    /** Packs that are open where they last: they are read one after another. */
    private static final int MOST_LASTING = 2;

    /** The container table, with the changes that are not committed yet. */
    @FunctionalInterface
    interface Entries {
        @Nullable
        StoredContainer entry(long container) throws IOException;
    }

    private final Directory directory;
    private final FrameTableSource tables;
    private final Entries entries;
    private final FrameTableCache tableCache;
    private final InputCache inputs;
    /** Those of which there are copies, where they last. */
    private final InputCache lasting;

    private final ContainerCipher cipher;
    private final ReadStatistics statistics = new ReadStatistics();

    SealedContainers(
            Directory directory,
            FrameTableSource tables,
            Entries entries,
            long tableCacheBytes,
            ContainerCipher cipher) {
        this.cipher = cipher;
        this.directory = directory;
        this.tables = tables;
        this.entries = entries;
        tableCache = new FrameTableCache(tableCacheBytes);
        inputs = new InputCache(ContainerOptions.MOST_CACHED_PACKS, this::open);
        lasting = new InputCache(MOST_LASTING, pack -> directory.openLasting(PackFormat.fileName(pack)));
    }

    private Input open(long pack) throws IOException {
        return directory.open(PackFormat.fileName(pack));
    }

    /** Returns the packs that are open for reading. */
    InputCache inputs() {
        return inputs;
    }

    ReadStatistics statistics() {
        return statistics;
    }

    /**
     * Returns the frame table of a sealed container with its place: from the cache, the source, or the pack.
     *
     * @throws CorruptionException if there is no such container, or other bytes are in its place
     */
    LocatedTable located(long container) throws IOException {
        LocatedTable cached = tableCache.get(container);
        if (cached != null) {
            return cached;
        }
        return read(container, this::loaded);
    }

    private LocatedTable loaded(long container, StoredContainer stored) throws IOException {
        FrameTable table = keptTable(container, stored.writing());
        if (table == null) {
            table = storedTable(container, stored);
        }
        LocatedTable located = new LocatedTable(stored.pack(), stored.offset(), table);
        tableCache.put(container, located);
        return located;
    }

    /** Reads something of a sealed container, as the container table describes it. */
    @FunctionalInterface
    private interface StoredReading<T> {
        T read(long container, StoredContainer stored) throws IOException;
    }

    /**
     * Reads something of a sealed container. The container may be written anew meanwhile, and its old place given back
     * to the file system: then reads it in its new place.
     */
    private <T> T read(long container, StoredReading<T> reading) throws IOException {
        return read(container, false, reading);
    }

    /** @param isLasting whether what is read is no copy: then damage says nothing against copies, which may be right */
    private <T> T read(long container, boolean isLasting, StoredReading<T> reading) throws IOException {
        StoredContainer stored = sealed(container);
        boolean wereCopiesForgotten = isLasting;
        while (true) {
            try {
                return reading.read(container, stored);
            } catch (CorruptionException e) {
                StoredContainer now = entries.entry(container);
                if (now != null && !now.equals(stored)) {
                    stored = now;
                } else if (wereCopiesForgotten || !forgetCopies(stored)) {
                    throw e;
                } else {
                    wereCopiesForgotten = true;
                }
            }
        }
    }

    /** Forgets local copies of a container that a store has; returns whether there were some. */
    private boolean forgetCopies(StoredContainer stored) throws IOException {
        try (InputCache.Lease lease = inputs.acquire(stored.pack())) {
            return lease.input().forgetCopies(stored.offset(), stored.bytes());
        } catch (NoSuchFileException e) {
            log.debug("{} has no copies, because there is no such pack", stored, e);
            return false;
        }
    }

    /**
     * Returns a container's table and place if they are not the given ones any more, because it was written anew;
     * otherwise null. Then what was found in the given place says nothing about the container.
     */
    @Nullable
    LocatedTable moved(long container, LocatedTable from) throws IOException {
        StoredContainer now = entries.entry(container);
        boolean hasMoved = now != null
                && now.state() == StoredContainer.State.SEALED
                && !now.writing().equals(from.table().writing());
        if (!hasMoved) {
            return null;
        }
        tableCache.remove(container, from);
        return located(container);
    }

    private StoredContainer sealed(long container) throws IOException {
        StoredContainer stored = entries.entry(container);
        if (stored == null) {
            throw new CorruptionException("container " + container, -1, "an entry in the container table", "none");
        }
        if (stored.state() != StoredContainer.State.SEALED) {
            throw new CorruptionException(
                    placeOf(container, stored), stored.offset(), "a sealed container", "one that a crash left open");
        }
        return stored;
    }

    private String placeOf(long container, StoredContainer stored) {
        return "container " + container + " (" + directory + "/" + PackFormat.fileName(stored.pack()) + " from byte "
                + stored.offset() + ")";
    }

    @Nullable
    LocatedTable cached(long container) {
        return tableCache.get(container);
    }

    void cache(long container, LocatedTable located) {
        tableCache.put(container, located);
    }

    /**
     * Returns the source's copy of the table of that writing, or null. A damaged copy, or one of another writing, is
     * not a loss: the container has its own table.
     */
    private @Nullable FrameTable keptTable(long container, Writing writing) throws IOException {
        try {
            byte[] bytes = tables.frameTable(container);
            FrameTable kept =
                    bytes == null ? null : FrameTable.decodeWithSalt(bytes, "frame table of container " + container);
            return kept == null || !kept.writing().equals(writing) ? null : kept;
        } catch (IOException unusableCopy) {
            log.warn("{}; taken from container {} itself", unusableCopy.getMessage(), container);
            return null;
        }
    }

    private FrameTable storedTable(long container, StoredContainer stored) throws IOException {
        return reading(container, stored, reader -> checked(container, stored, reader.frameTable()));
    }

    private FrameTable checked(long container, StoredContainer stored, FrameTable table) throws CorruptionException {
        if (!table.writing().equals(stored.writing())) {
            throw new CorruptionException(
                    placeOf(container, stored),
                    stored.offset(),
                    "the container that files refer to (" + stored.writing() + ")",
                    "another of the same id (" + table.writing() + "), from a backup or another history");
        }
        return table;
    }

    /** Reads the directory of a sealed container and checks header and footer as well. */
    SealedContainer directory(long container) throws IOException {
        return read(
                container,
                (id, stored) -> reading(id, stored, reader -> {
                    SealedContainer found = reader.directory();
                    checked(id, stored, found.frameTable());
                    return found;
                }));
    }

    /** As {@link #directory}, where the container lasts: not from a copy that is nearer. */
    SealedContainer lastingDirectory(long container) throws IOException {
        return read(
                container,
                true,
                (id, stored) -> reading(id, stored, lastingOf(stored), reader -> {
                    SealedContainer found = reader.directory();
                    checked(id, stored, found.frameTable());
                    return found;
                }));
    }

    /** Returns whether reads are of a copy of a container that lasts elsewhere. */
    boolean isCopy(StoredContainer stored) throws IOException {
        return directory.isCopy(PackFormat.fileName(stored.pack()));
    }

    private InputCache lastingOf(StoredContainer stored) throws IOException {
        return isCopy(stored) ? lasting : inputs;
    }

    private interface Reading<T> {
        T run(DirectoryReader reader) throws IOException;
    }

    private <T> T reading(long container, StoredContainer stored, Reading<T> reading) throws IOException {
        return reading(container, stored, inputs, reading);
    }

    private <T> T reading(long container, StoredContainer stored, InputCache from, Reading<T> reading)
            throws IOException {
        String place = placeOf(container, stored);
        try (InputCache.Lease lease = from.acquire(stored.pack())) {
            SlicedInput bytes = new SlicedInput(lease.input(), stored.offset(), stored.bytes());
            return reading.run(new DirectoryReader(bytes, container, place, cipher, statistics));
        } catch (NoSuchFileException e) {
            CorruptionException missing = new CorruptionException(place, -1, "a file", "none");
            missing.initCause(e);
            throw missing;
        }
    }

    /**
     * A sealed container in memory.
     *
     * @param bytes the whole container, from its header to its footer; the rest of the array is unused
     * @param isComplete whether the disk returned every block; one that it did not return is zeros
     */
    record Whole(long container, StoredContainer stored, SealedContainer directory, byte[] bytes, boolean isComplete) {
        FrameTable table() {
            return directory.frameTable();
        }

        LocatedTable at() {
            return new LocatedTable(stored.pack(), stored.offset(), table());
        }
    }

    /** Returns a container's entry in the container table; null if it has none. */
    @Nullable
    StoredContainer stored(long container) throws IOException {
        return entries.entry(container);
    }

    /**
     * Reads a sealed container with one request, and checks its directory.
     *
     * @param buffer used if it is long enough
     */
    Whole whole(long container, byte[] buffer) throws IOException {
        return read(container, (id, stored) -> checked(id, stored, allOf(id, stored, buffer), true));
    }

    /** As {@link #whole}, where the container lasts: not from a copy that is nearer, or from the kernel's cache. */
    Whole lastingWhole(long container, byte[] buffer) throws IOException {
        return read(container, true, (id, stored) -> {
            InputCache from = lastingOf(stored);
            if (from == inputs) {
                forgetCached(id);
            }
            return checked(id, stored, allOf(id, stored, buffer, from), true);
        });
    }

    /**
     * As {@link #whole}, of a container of which the disk may not return everything: a block that cannot be read is
     * zeros.
     */
    Whole salvaged(long container, byte[] buffer) throws IOException {
        return read(container, (id, stored) -> checked(id, stored, salvagedOf(id, stored, buffer), false));
    }

    /**
     * As {@link #whole}, or as {@link #salvaged} if that is needed, with a directory made anew from the frames.
     *
     * @param known chunks of frames that do not tell them
     * @throws CorruptionException if the container is missing, or cut short, or the numbers of its frames are not known
     */
    Whole withoutDirectory(long container, KnownChunks known, byte[] buffer) throws IOException {
        forgetCached(container);
        return read(container, (id, stored) -> {
            byte[] bytes;
            boolean isComplete = true;
            try {
                bytes = allOf(id, stored, buffer);
            } catch (CorruptionException e) {
                throw e;
            } catch (IOException badBlock) {
                NoAnswer.rethrow(badBlock);
                isComplete = false;
                bytes = salvagedOf(id, stored, buffer);
            }
            return madeAnew(id, stored, known, bytes, isComplete);
        });
    }

    private Whole madeAnew(long container, StoredContainer stored, KnownChunks known, byte[] bytes, boolean isComplete)
            throws IOException {
        LocatedTable cached = tableCache.get(container);
        FrameTable table = cached == null || !cached.table().writing().equals(stored.writing())
                ? keptTable(container, stored.writing())
                : cached.table();
        SealedContainer made =
                new DirectoryFromFrames(container, stored, bytes, cipher, placeOf(container, stored)).make(table);
        known.addTo(made);
        return new Whole(container, stored, made, bytes, isComplete);
    }

    /**
     * Reads what is left of a container whose pack is missing or cut short; all else is zeros. The directory is made
     * from a copy of its frame table, from the lists of the frames that are left, and from {@code known}; a slot that
     * none of these lists has length 0.
     *
     * @throws CorruptionException if the numbers of its frames are not known
     */
    Whole remains(long container, KnownChunks known, byte[] buffer) throws IOException {
        return read(container, (id, stored) -> madeAnew(id, stored, known, remainsOf(id, stored, buffer), false));
    }

    private byte[] remainsOf(long container, StoredContainer stored, byte[] buffer) throws IOException {
        int length = Math.toIntExact(stored.bytes());
        byte[] bytes = buffer.length >= length ? buffer : new byte[length];
        Arrays.fill(bytes, 0, length, (byte) 0);
        try (InputCache.Lease lease = inputs.acquire(stored.pack())) {
            SlicedInput slice = new SlicedInput(lease.input(), stored.offset(), stored.bytes());
            int present = (int) slice.length();
            SalvagedFile file = new SalvagedFile(slice, placeOf(container, stored), present);
            for (int at = 0; at < present; at += SALVAGED_AT_ONCE) {
                int count = Math.min(SALVAGED_AT_ONCE, present - at);
                if (file.has(at, count)) {
                    System.arraycopy(file.bytes(), file.place(at), bytes, at, count);
                }
            }
            statistics.add(present);
        } catch (NoSuchFileException e) {
            log.debug("of container {} nothing is left", container, e);
        }
        return bytes;
    }

    /**
     * Reads a container in a place that the container table does not name any more; a block that cannot be read is
     * zeros.
     *
     * @throws CorruptionException if it is not there, or the numbers of its frames are not known
     */
    Whole former(long container, StoredContainer place, byte[] buffer) throws IOException {
        try {
            return checked(container, place, allOf(container, place, buffer), true);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            log.debug("the former place of container {} is not whole", container, e);
        }
        byte[] bytes = remainsOf(container, place, buffer);
        try {
            return checked(container, place, bytes, false);
        } catch (CorruptionException noDirectory) {
            FrameTable table = place.state() == StoredContainer.State.OPEN
                    ? UnsealedFrames.table(container, place, bytes, cipher, placeOf(container, place))
                    : null;
            SealedContainer made =
                    new DirectoryFromFrames(container, place, bytes, cipher, placeOf(container, place)).make(table);
            return new Whole(container, place, made, bytes, false);
        }
    }

    private Whole checked(long container, StoredContainer stored, byte[] bytes, boolean isComplete) throws IOException {
        ArrayInput input = new ArrayInput(bytes, stored.bytes());
        String place = placeOf(container, stored);
        SealedContainer directory =
                new DirectoryReader(input, container, place, cipher, new ReadStatistics()).directory();
        checked(container, stored, directory.frameTable());
        return new Whole(container, stored, directory, bytes, isComplete);
    }

    private byte[] allOf(long container, StoredContainer stored, byte[] buffer) throws IOException {
        return allOf(container, stored, buffer, inputs);
    }

    private byte[] allOf(long container, StoredContainer stored, byte[] buffer, InputCache from) throws IOException {
        int length = Math.toIntExact(stored.bytes());
        byte[] bytes = buffer.length >= length ? buffer : new byte[length];
        try (InputCache.Lease lease = from.acquire(stored.pack())) {
            lease.input().readFully(stored.offset(), ByteBuffer.wrap(bytes, 0, length));
            statistics.add(length);
        } catch (EOFException | NoSuchFileException e) {
            throw missing(placeOf(container, stored), e);
        }
        return bytes;
    }

    private byte[] salvagedOf(long container, StoredContainer stored, byte[] buffer) throws IOException {
        int length = Math.toIntExact(stored.bytes());
        byte[] bytes = buffer.length >= length ? buffer : new byte[length];
        String place = placeOf(container, stored);
        try (InputCache.Lease lease = inputs.acquire(stored.pack())) {
            SlicedInput slice = new SlicedInput(lease.input(), stored.offset(), stored.bytes());
            SalvagedFile file = new SalvagedFile(slice, place, length);
            for (int at = 0; at < length; ) {
                int count = Math.min(SALVAGED_AT_ONCE, length - at);
                if (!file.has(at, count)) {
                    throw missing(place, new EOFException("the pack ends within it"));
                }
                System.arraycopy(file.bytes(), file.place(at), bytes, at, count);
                at += count;
            }
            statistics.add(length);
        } catch (NoSuchFileException e) {
            throw missing(place, e);
        }
        return bytes;
    }

    /** Makes the next read of a sealed container show what the disk has, instead of the kernel's cache. */
    void forgetCached(long container) throws IOException {
        StoredContainer stored = entries.entry(container);
        if (stored != null) {
            try (InputCache.Lease lease = inputs.acquire(stored.pack())) {
                lease.input().forgetCached(stored.offset(), stored.bytes());
            } catch (NoSuchFileException e) {
                log.debug("pack {} is missing: who reads it is told", stored.pack(), e);
            }
        }
    }

    private static CorruptionException missing(String place, IOException cause) {
        CorruptionException missing = new CorruptionException(place, -1, "a container", "the end of the file, or none");
        missing.initCause(cause);
        return missing;
    }

    /** Closes the file of a pack that is being deleted, so that its space is free when its last reader is done. */
    void forget(long pack) throws IOException {
        inputs.remove(pack);
        lasting.remove(pack);
    }

    @Override
    public void close() throws IOException {
        lasting.close();
        inputs.close();
    }
}
