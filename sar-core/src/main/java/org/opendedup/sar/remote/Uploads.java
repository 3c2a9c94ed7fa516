package org.opendedup.sar.remote;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ArrayInputStream;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts packs into the store. A complete one is put by itself, in the background, and again until that succeeds. Of one
 * that is being written, {@link #putTail} puts what is missing. Safe for use by many threads.
 */
final class Uploads implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Uploads.class);
    /** Most packs that are put at the same time: each waits for answers most of the time. */
    static final int LANES = 4;
    /** Packs that are put without a failure before one more is put at the same time. */
    private static final int SUCCESSES = 4;

    private static final int BUFFER_BYTES = 256 << 10;
    /** Time until a put that failed is tried again; doubled with each further failure, up to {@link #MAX_RETRY_MS}. */
    private static final long RETRY_MS = 100;

    private static final long MAX_RETRY_MS = 10_000;

    private final Directory staging;
    private final ObjectStore store;
    private final Runnable whenStored;
    private final Predicate<String> isKeptForReaders;
    private final LongSupplier nanoClock;
    private final Consumer<StagedPack> whenLost;
    private final ScheduledThreadPoolExecutor lanes;
    /** Packs that were put since the last failure, or the last further lane. Guarded by {@link #lanes}. */
    private int successes;
    /** Puts that failed since the last one that succeeded; see {@link #failures()}. Guarded by {@link #lanes}. */
    private int failures;
    /** Why the last put failed; null if it succeeded. */
    private volatile @Nullable IOException failure;

    private volatile boolean closing;
    /** Whether another owner has the volume. */
    private volatile boolean isStopped;

    /**
     * @param whenStored called after each pack that the store has
     * @param isKeptForReaders whether a pack that was deleted here is still to be deleted in the store, by somebody
     *     else
     * @param nanoClock tells how long a local file cannot be read
     * @param whenLost called with a pack whose local file is given up, because it cannot be opened
     */
    Uploads(
            Directory staging,
            ObjectStore store,
            String volume,
            Runnable whenStored,
            Predicate<String> isKeptForReaders,
            LongSupplier nanoClock,
            Consumer<StagedPack> whenLost) {
        this.staging = staging;
        this.store = store;
        this.whenStored = whenStored;
        this.isKeptForReaders = isKeptForReaders;
        this.nanoClock = nanoClock;
        this.whenLost = whenLost;
        lanes = new ScheduledThreadPoolExecutor(LANES, Threads.named(volume + "-upload"));
        lanes.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Returns why the last put failed; null if it succeeded. */
    @Nullable
    IOException failure() {
        return failure;
    }

    /**
     * Returns how many puts of complete packs have failed since the last one that succeeded. Those that had an answer,
     * or whose local file cannot be read, count only if no other was made meanwhile, which may succeed.
     */
    int failures() {
        synchronized (lanes) {
            return failures;
        }
    }

    /** Puts a complete pack soon. */
    void add(StagedPack pack) {
        schedule(pack, 0);
    }

    private void schedule(StagedPack pack, long delayMs) {
        synchronized (pack) {
            if (closing || pack.queued || pack.stored || pack.dropped) {
                return;
            }
            pack.queued = true;
        }
        lanes.schedule(() -> put(pack), delayMs, TimeUnit.MILLISECONDS);
    }

    private void put(StagedPack pack) {
        if (closing) {
            synchronized (pack) {
                pack.queued = false;
            }
            return;
        }
        IOException failed = null;
        try {
            putWhole(pack);
        } catch (IOException e) {
            log.warn("{} is not in {} yet, and is put again: {}", pack.name, store, e.getMessage());
            failed = e;
        } catch (RuntimeException | Error e) {
            // Who waits for this pack waits for the end of a try.
            log.error("{} could not be put into {}, and is put again", pack.name, store, e);
            failed = new IOException(e.toString(), e);
        }
        failure = failed;
        adapt(failed);
        synchronized (pack) {
            pack.queued = false;
            pack.failure = failed;
            pack.failures += failed == null ? 0 : 1;
            pack.notifyAll();
        }
        if (failed == null) {
            whenStored.run();
        } else {
            schedule(pack, Math.min(MAX_RETRY_MS, RETRY_MS << Math.min(pack.failures, 10)));
        }
    }

    /**
     * Puts fewer packs at the same time after one that had no answer, and more again after some that succeeded. Each
     * request has a time limit, and those of a slow line share it: with all lanes, none might ever end in time.
     */
    private void adapt(@Nullable IOException failed) {
        synchronized (lanes) {
            int count = lanes.getCorePoolSize();
            successes = failed == null ? successes + 1 : 0;
            if (failed == null) {
                failures = 0;
            } else if (NoAnswer.is(failed) || lanes.getActiveCount() == 1) {
                failures++;
            }
            if (failed == null && successes >= SUCCESSES && count < LANES) {
                successes = 0;
                lanes.setMaximumPoolSize(count + 1);
                lanes.setCorePoolSize(count + 1);
            } else if (NoAnswer.is(failed) && count > 1) {
                lanes.setCorePoolSize(count - 1);
                // So that a thread ends after its pack, also while others wait.
                lanes.setMaximumPoolSize(count - 1);
            }
        }
    }

    private void putWhole(StagedPack pack) throws IOException {
        synchronized (pack) {
            if (pack.dropped || pack.stored) {
                return;
            }
        }
        String object = PackNames.pack(pack.name);
        if (pack.crc32c == null && !mend(pack)) {
            return;
        }
        try (Input input = open(pack)) {
            if (input == null) {
                return;
            }
            long length = input.length();
            Integer known = pack.crc32c;
            int crc = known == null ? learn(pack, input, length) : known;
            try {
                put(object, length, crc, input, 0);
            } catch (CorruptionException | EOFException e) {
                // Only then: the file is not read at each try while the store does not answer.
                if (known != null && crc32c(input, 0, length) != known) {
                    doubt(pack);
                }
                throw e;
            }
        }
        boolean isDeleted;
        boolean hasTails;
        synchronized (pack) {
            pack.stored = true;
            isDeleted = pack.dropped;
            hasTails = pack.tailsEnd > 0 || pack.mayHaveTails;
            pack.notifyAll();
        }
        boolean isKept = isKeptForReaders.test(pack.name);
        if (isStopped) {
            // The present owner deletes what no reader needs. Looked at last: a stop ends what is kept for readers.
            return;
        }
        // Deleted meanwhile: a reader elsewhere may have metadata that name its tails, and needs this instead of them.
        if (isDeleted && !isKept) {
            store.delete(List.of(object));
        }
        if (hasTails) {
            deleteTails(pack);
        }
    }

    /**
     * Takes bytes of tails for those of the local file that are others: the disk has lost what was durable there. The
     * whole pack takes the place of the tails, which are the only right copy then.
     *
     * @return false if the local file is given up
     */
    private boolean mend(StagedPack pack) throws IOException {
        try (Input input = open(pack)) {
            if (input == null) {
                return false;
            }
            NavigableMap<Long, ObjectPage.Entry> right = rightTails(pack, input);
            if (!right.isEmpty()) {
                log.error("{} is damaged in {}, and is mended by what {} has of it", pack.name, staging, store);
                writeMended(pack, input, right);
            }
            return true;
        }
    }

    /** Returns the tails, by their begin, of which the local file has not the bytes. */
    private NavigableMap<Long, ObjectPage.Entry> rightTails(StagedPack pack, Input input) throws IOException {
        NavigableMap<Long, ObjectPage.Entry> right = new TreeMap<>();
        long length = input.length();
        long end = 0;
        for (ObjectPage.Entry tail : StoredPack.tails(store, pack.name)) {
            long from = PackNames.offsetOf(tail.name());
            if (from < 0) {
                continue; // Somebody else put it.
            }
            if (from != end || end + tail.length() > length) {
                break;
            }
            if (isRight(tail, input, from)) {
                right.put(from, tail);
            }
            end += tail.length();
        }
        return right;
    }

    /** Returns whether the store has what was put of a tail, and the local file has not. */
    private boolean isRight(ObjectPage.Entry tail, Input input, long from) throws IOException {
        try {
            int stated = store.status(tail.name()).crc32c();
            return !isIn(input, from, tail, stated) && isWhole(tail, stated);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            log.warn("{} in {} is of no use: {}", tail.name(), store, e.getMessage());
            return false;
        }
    }

    private boolean isIn(Input input, long from, ObjectPage.Entry tail, int stated) throws IOException {
        try {
            return crc32c(input, from, from + tail.length()) == stated;
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            log.warn("the part of a pack cannot be read that is {} in {}: {}", tail.name(), store, e.getMessage());
            return false;
        }
    }

    /** Returns whether the store has the bytes of a tail that were put. */
    private boolean isWhole(ObjectPage.Entry tail, int stated) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        for (long at = 0; at < tail.length(); at += buffer.limit()) {
            buffer.clear().limit((int) Math.min(BUFFER_BYTES, tail.length() - at));
            store.read(tail.name(), at, buffer);
            crc.update(buffer.flip());
        }
        return (int) crc.getValue() == stated;
    }

    /** Writes a local file with the bytes of tails where it has others, which takes the place of the present one. */
    private void writeMended(StagedPack pack, Input input, NavigableMap<Long, ObjectPage.Entry> right)
            throws IOException {
        String mended = BlockCache.temporary(pack.name);
        if (staging.exists(mended)) {
            staging.delete(mended); // Of a try that failed.
        }
        long length = input.length();
        try (Output output = staging.create(mended)) {
            ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
            for (long at = 0; at < length; at += buffer.limit()) {
                Map.Entry<Long, ObjectPage.Entry> tail = right.floorEntry(at);
                long tailEnd =
                        tail == null ? 0 : tail.getKey() + tail.getValue().length();
                Long next = right.higherKey(at);
                long end = at < tailEnd ? tailEnd : next == null ? length : next;
                buffer.clear().limit((int) Math.min(BUFFER_BYTES, end - at));
                if (tail != null && at < tailEnd) {
                    store.read(tail.getValue().name(), at - tail.getKey(), buffer);
                } else {
                    input.readFully(at, buffer);
                }
                output.append(buffer.flip());
            }
            output.force();
        }
        Map.Entry<Long, ObjectPage.Entry> last = right.lastEntry();
        // Who has the damaged file open reads the store instead.
        pack.distrust(right.firstKey(), last.getKey() + last.getValue().length());
        synchronized (pack) {
            if (pack.dropped) {
                staging.delete(mended);
            } else {
                staging.rename(mended, pack.name);
            }
        }
    }

    /** Returns the checksum of a pack that an opening found, or that is in doubt. Later tries know it. */
    private static int learn(StagedPack pack, Input input, long length) throws IOException {
        int crc = crc32c(input, 0, length);
        synchronized (pack) {
            pack.crc32c = crc;
            pack.mayHaveTails = true;
        }
        return crc;
    }

    /** Opens the local file of a pack; null if it is given up. */
    private @Nullable StagedInput open(StagedPack pack) throws IOException {
        long nowNs = nanoClock.getAsLong();
        try {
            return new StagedInput(staging.open(pack.name), pack, nowNs);
        } catch (IOException e) {
            if (NoAnswer.is(e) || !pack.isGivenUp(nowNs)) {
                throw e;
            }
            log.error(
                    "{} cannot be opened in {}, and {} does not have it whole: its containers are damaged, and a scrub"
                            + " says what is lost. If the file comes back, the next mount puts it into the store",
                    pack.name,
                    staging,
                    store,
                    e);
            whenLost.accept(pack);
            return null;
        }
    }

    /**
     * Has a pack that is damaged in the folder put as it is by the next try: readers find the damage by the checksums
     * of its frames. Else all that is written later would never get into the store.
     */
    private void doubt(StagedPack pack) {
        log.error(
                "{} was damaged in {} before {} had it: it is put with the damage, and a scrub says what is lost",
                pack.name,
                staging,
                store);
        synchronized (pack) {
            pack.crc32c = null;
        }
    }

    /** Deletes what the whole pack replaces, also a tail that is being put. */
    private void deleteTails(StagedPack pack) {
        synchronized (pack.puttingTails) {
            try {
                store.delete(StoredPack.tails(store, pack.name).stream()
                        .map(ObjectPage.Entry::name)
                        .toList());
            } catch (IOException e) {
                log.warn("tails of {} stay in {} until a repair: {}", pack.name, store, e.getMessage());
            }
        }
    }

    /** Puts bytes of a pack as an object; one with the same bytes may be there from before a crash. */
    private void put(String object, long length, int crc32c, Input input, long from) throws IOException {
        try {
            store.put(object, ObjectSource.of(length, crc32c, offset -> new InputBytes(input, from + offset)));
        } catch (FileAlreadyExistsException e) {
            ObjectStatus there = store.status(object);
            if (there.length() != length || there.crc32c() != crc32c) {
                throw new IOException(
                        object + " in " + store + " is not what this volume wrote: another one writes there", e);
            }
        }
    }

    /** Puts what the store does not have of the forced bytes of a pack that is being written. */
    void putTail(StagedPack pack) throws IOException {
        synchronized (pack.puttingTails) {
            long forced;
            synchronized (pack) {
                forced = pack.forced;
            }
            // A tail that had no answer may be there: the same is put again, and then what follows it.
            boolean goesOn = true;
            while (goesOn) {
                goesOn = putNextTail(pack, forced);
            }
        }
    }

    /** Returns false if there is none up to a length. */
    private boolean putNextTail(StagedPack pack, long most) throws IOException {
        long from;
        long end;
        long nowNs = System.nanoTime();
        synchronized (pack) {
            if (pack.complete || pack.dropped || pack.inTails >= most) {
                return false;
            }
            from = pack.inTails;
            end = pack.tailsEnd > from ? pack.tailsEnd : pack.forced;
            pack.tailsEnd = end;
        }
        try (Input input = open(pack)) {
            if (input == null) {
                return false;
            }
            put(PackNames.tail(pack.name, from), end - from, crc32c(input, from, end), input, from);
        }
        pack.noteReadable();
        synchronized (pack) {
            pack.inTails = end;
            pack.missingSinceNs = nowNs;
            pack.notifyAll();
        }
        return true;
    }

    private static int crc32c(Input input, long from, long end) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        for (long at = from; at < end; at += buffer.limit()) {
            buffer.clear().limit((int) Math.min(BUFFER_BYTES, end - at));
            input.readFully(at, buffer);
            crc.update(buffer.flip());
        }
        return (int) crc.getValue();
    }

    boolean isClosing() {
        return closing;
    }

    /** Begins no further upload. */
    void giveUp() {
        closing = true;
    }

    /** Begins no further upload, and deletes nothing after those that run. */
    void stop() {
        isStopped = true;
        closing = true;
    }

    /** Ends the uploads; what is not in the store is put after the next opening. */
    @Override
    public void close() throws IOException {
        closing = true;
        Threads.end(lanes);
    }

    /** The bytes of a file from an offset on. */
    private static final class InputBytes extends ArrayInputStream {
        private final Input input;
        private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).limit(0);
        private long at;

        InputBytes(Input input, long at) {
            this.input = input;
            this.at = at;
        }

        @Override
        public int read(byte[] target, int offset, int count) throws IOException {
            if (!buffer.hasRemaining() && !fill()) {
                return -1;
            }
            int bytes = Math.min(count, buffer.remaining());
            buffer.get(target, offset, bytes);
            return bytes;
        }

        private boolean fill() throws IOException {
            int bytes = (int) Math.min(BUFFER_BYTES, input.length() - at);
            if (bytes <= 0) {
                return false;
            }
            buffer.clear().limit(bytes);
            input.readFully(at, buffer);
            buffer.flip();
            at += bytes;
            return true;
        }
    }
}
