package org.opendedup.sar.raw;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.io.RandomFile;

/**
 * Backing files in memory, which knows what of them survives a power cut, and can show any such state: see
 * {@link #crash}. It can also fail, be full, or be gone. Safe for use by many threads.
 *
 * <p>As on ext4 and XFS, bytes that take the place of others may reach the disk before the time of their change does,
 * also by {@link RandomFile#force}; a length that changes, and {@link #sync}, take the time with them.
 */
public final class CrashRawFolder implements RawFolder {
    /** Any moment that is long past: so no file looks as if it had been changed just now. */
    private static final long BEGIN_NS = 1_600_000_000_000_000_000L;

    private final long seed;
    private final boolean forceDoesNothing;
    /** Increases with each change of any file, also after a crash. */
    private final AtomicLong clock;

    // All guarded by this.
    private final TreeMap<Long, Stored> names = new TreeMap<>();
    private TreeMap<Long, Stored> durableNames = new TreeMap<>();
    private final List<NameChange> unsynced = new ArrayList<>();
    private long callsUntilFailure = Long.MAX_VALUE;
    private boolean failsNextSync;
    private boolean full;
    private boolean gone;
    private boolean coarse;
    private long maxFileBytes = Long.MAX_VALUE;
    private int partsMade;
    private @Nullable Epoch epoch;
    /** Files with a sector that cannot be read, and those of which the inode is in one, by their numbers. */
    private final Set<Long> unreadable = new HashSet<>();

    private final Set<Long> unknown = new HashSet<>();

    /** @param seed determines every choice, together with the seed of {@link #crash} */
    public CrashRawFolder(long seed) {
        this(seed, false);
    }

    /** @param forceDoesNothing makes {@code force} and {@code sync} do nothing: the control of every crash test */
    public CrashRawFolder(long seed, boolean forceDoesNothing) {
        this(seed, forceDoesNothing, new AtomicLong(BEGIN_NS));
    }

    private CrashRawFolder(long seed, boolean forceDoesNothing, AtomicLong clock) {
        this.seed = seed;
        this.forceDoesNothing = forceDoesNothing;
        this.clock = clock;
    }

    /** A file: as programs see it, and as the disk has it. */
    private static final class Stored {
        SparseContent now = new SparseContent();
        SparseContent durable = new SparseContent();
        /** The lengths since the last force, the durable one first. */
        final List<Long> sizes = new ArrayList<>(List.of(0L));
        /** The times of changes of which the disk has one. */
        final List<Long> times = new ArrayList<>();

        int openings;
        /** Whether a failed sync made the system take what is not durable for clean, and whether a force told so. */
        boolean isDropped;

        boolean isTold;

        void drop() {
            isDropped |= sizes.size() > 1;
        }

        void force() throws IOException {
            if (isDropped && !isTold) {
                isTold = true;
                throw new IOException("Input/output error");
            }
            settleBytes();
        }

        void settle() {
            if (isDropped) {
                return;
            }
            durable = now.copy();
            sizes.clear();
            sizes.add(durable.size());
            times.clear();
            times.add(durable.status().changedNs());
        }

        void changed(long time) {
            now.changed(time);
            sizes.add(now.size());
            times.add(time);
        }

        /** Makes bytes and length durable, and the time together with another length only, as fdatasync(2) does. */
        void settleBytes() {
            List<Long> before = keepsLength() ? List.copyOf(times) : List.of();
            settle();
            times.addAll(0, before);
        }

        private boolean keepsLength() {
            return sizes.stream().allMatch(size -> size == now.size());
        }

        /** Returns a file as a power cut may leave this one. */
        Stored afterCrash(Random random, long time) {
            Stored left = new Stored();
            left.now = switch (random.nextInt(4)) {
                case 0 -> durable.copy();
                case 1 -> now.copy();
                default -> SparseContent.mixed(durable, now, someSize(random), random, time);
            };
            if (keepsLength() && random.nextBoolean()) {
                left.now.changed(times.get(random.nextInt(times.size())));
            }
            left.settle();
            return left;
        }

        private long someSize(Random random) {
            int i = random.nextInt(sizes.size());
            long size = sizes.get(i);
            long next = sizes.get(Math.min(i + 1, sizes.size() - 1));
            return next > size && random.nextBoolean() ? size + random.nextLong(next - size) : size;
        }
    }

    private record NameChange(long number, Stored file, boolean created) {
        void applyTo(TreeMap<Long, Stored> target) {
            if (created) {
                target.put(number, file);
            } else {
                target.remove(number, file);
            }
        }
    }

    /**
     * Returns a state in which a power cut now could leave the folder, which itself is not changed. What was forced is
     * in it. Each creation and deletion since may or may not have happened; of each file, any blocks that were written
     * since may be as before, or zeros where the file had grown; a truncation may not have happened.
     */
    public synchronized CrashRawFolder crash(long crashSeed) {
        Random random = new Random((seed * 31 + crashSeed) * 0x9E3779B97F4A7C15L);
        TreeMap<Long, Stored> left = new TreeMap<>(durableNames);
        for (NameChange change : unsynced) {
            if (random.nextBoolean()) {
                change.applyTo(left);
            }
        }
        CrashRawFolder after = new CrashRawFolder(random.nextLong(), forceDoesNothing, clock);
        left.forEach((number, file) -> after.names.put(number, file.afterCrash(random, clock.incrementAndGet())));
        after.durableNames = new TreeMap<>(after.names);
        after.epoch = epoch;
        return after;
    }

    /** Lets the call after so many further ones fail once. */
    public synchronized void failAfter(long calls) {
        callsUntilFailure = calls;
    }

    /**
     * Lets the next sync fail as that of Linux does if a disk takes no writes: it tells it once, and takes what was to
     * become durable for clean.
     */
    public synchronized void failNextSync() {
        failsNextSync = true;
    }

    /** Sets whether there is no space for more. */
    public synchronized void setFull(boolean isFull) {
        full = isFull;
    }

    /** Sets whether times of changes are those of a clock in steps of 10 ms, as of a kernel. */
    public synchronized void setCoarse(boolean isCoarse) {
        coarse = isCoarse;
    }

    /** Sets how long a file can be, in bytes. */
    public synchronized void setMaxFileBytes(long bytes) {
        maxFileBytes = bytes;
    }

    /** Damages the bytes of a file, and its inode as well if that is wanted. */
    public synchronized void damage(long number, boolean withInode) {
        unreadable.add(number);
        if (withInode) {
            unknown.add(number);
        }
    }

    private static void needsSector(Set<Long> damaged, long number) throws IOException {
        if (damaged.contains(number)) {
            throw new IOException("Input/output error of " + Long.toHexString(number));
        }
    }

    private void needsLength(long end) throws IOException {
        if (end > maxFileBytes) {
            throw new PosixException(PosixException.Reason.EFBIG, end + " bytes");
        }
    }

    private long time() {
        return coarse ? System.currentTimeMillis() / 10 * 10_000_000 : clock.incrementAndGet();
    }

    /** Sets whether the device is not there, neither for {@link #opener} nor for open files. */
    public synchronized void setGone(boolean isGone) {
        gone = isGone;
    }

    /** Opens this folder for a volume, unless it is gone. */
    public RawFolder.Opener opener() {
        return volume -> {
            call();
            return this;
        };
    }

    /** Returns how many files for changed bytes were made. */
    public synchronized int partsMade() {
        return partsMade;
    }

    /** Returns the numbers of all files. */
    public synchronized List<Long> numbers() {
        return List.copyOf(names.keySet());
    }

    /** Removes everything: the device was exchanged for an empty one. */
    public synchronized void wipe() {
        names.clear();
        durableNames.clear();
        unsynced.clear();
    }

    private void call() throws IOException {
        synchronized (this) {
            if (gone) {
                throw new IOException("the device is gone");
            }
            if (callsUntilFailure != Long.MAX_VALUE && callsUntilFailure-- <= 0) {
                callsUntilFailure = Long.MAX_VALUE;
                throw new IOException("Input/output error");
            }
        }
    }

    private void needsSpace() throws IOException {
        if (full) {
            throw new NoSpaceException("No space left on device");
        }
    }

    private Stored existing(long number) throws IOException {
        Stored file = names.get(number);
        if (file == null) {
            throw new NoSuchFileException(Long.toHexString(number));
        }
        return file;
    }

    @Override
    public synchronized Epoch epoch() throws IOException {
        call();
        return epoch;
    }

    @Override
    public synchronized void setEpoch(Epoch used) throws IOException {
        call();
        epoch = used;
    }

    @Override
    public synchronized RandomFile create(long number) throws IOException {
        call();
        needsSpace();
        if (names.containsKey(number)) {
            throw new FileAlreadyExistsException(Long.toHexString(number));
        }
        Stored made = new Stored();
        made.changed(time());
        names.put(number, made);
        partsMade += RawNumbers.isPart(number) ? 1 : 0;
        unsynced.add(new NameChange(number, made, true));
        return new Opening(number, made);
    }

    @Override
    public synchronized RandomFile open(long number) throws IOException {
        call();
        needsSector(unknown, number);
        return new Opening(number, existing(number));
    }

    @Override
    public synchronized RandomFile.Status status(long number) throws IOException {
        call();
        needsSector(unknown, number);
        Stored file = names.get(number);
        return file == null ? null : file.now.status();
    }

    @Override
    public synchronized void delete(long number) throws IOException {
        call();
        Stored file = names.remove(number);
        if (file != null) {
            unsynced.add(new NameChange(number, file, false));
        }
    }

    @Override
    public synchronized boolean isAtRest(long number) throws IOException {
        call();
        needsSector(unknown, number);
        return existing(number).openings == 0;
    }

    @Override
    public boolean isUnused(long number) throws IOException {
        return isAtRest(number);
    }

    @Override
    public synchronized void sync() throws IOException {
        call();
        if (failsNextSync) {
            failsNextSync = false;
            names.values().forEach(Stored::drop);
            throw new IOException("Input/output error");
        }
        if (!forceDoesNothing) {
            names.values().forEach(Stored::settle);
            durableNames = new TreeMap<>(names);
            unsynced.clear();
        }
    }

    @Override
    public synchronized void forEach(LongConsumer visitor) throws IOException {
        call();
        numbers().forEach(visitor::accept);
    }

    @Override
    public synchronized long usableBytes() throws IOException {
        call();
        return full ? 0 : 1L << 40;
    }

    @Override
    public void close() {
        // What is in it is needed for the next opening.
    }

    /** A descriptor. Everything is guarded by the folder. */
    private final class Opening implements RandomFile {
        private final long number;
        private final Stored file;

        Opening(long number, Stored file) {
            this.number = number;
            this.file = file;
            file.openings++;
        }

        /** A change of the file's bytes or length. */
        private void change(Runnable how) throws IOException {
            synchronized (CrashRawFolder.this) {
                call();
                how.run();
                file.changed(time());
            }
        }

        @Override
        public int descriptor() {
            return -1;
        }

        @Override
        public int read(long offset, ByteBuffer target) throws IOException {
            synchronized (CrashRawFolder.this) {
                call();
                needsSector(unreadable, number);
                return file.now.read(offset, target);
            }
        }

        @Override
        public void write(long offset, ByteBuffer source) throws IOException {
            synchronized (CrashRawFolder.this) {
                needsSpace();
                needsLength(offset + source.remaining());
                change(() -> file.now.write(offset, source));
            }
        }

        @Override
        public void truncate(long size) throws IOException {
            synchronized (CrashRawFolder.this) {
                needsLength(size);
                change(() -> file.now.truncate(size));
            }
        }

        @Override
        public void allocate(long offset, long length, boolean keepSize) throws IOException {
            synchronized (CrashRawFolder.this) {
                needsSpace();
                needsLength(offset + length);
                change(() -> file.now.extend(keepSize ? 0 : offset + length));
            }
        }

        @Override
        public void zero(long offset, long length, boolean keepSize) throws IOException {
            change(() -> {
                file.now.zero(offset, offset + length);
                file.now.extend(keepSize ? 0 : offset + length);
            });
        }

        @Override
        public long seekData(long offset) throws IOException {
            synchronized (CrashRawFolder.this) {
                call();
                return file.now.seekData(offset);
            }
        }

        @Override
        public long seekHole(long offset) throws IOException {
            synchronized (CrashRawFolder.this) {
                call();
                return file.now.seekHole(offset);
            }
        }

        @Override
        public void force() throws IOException {
            synchronized (CrashRawFolder.this) {
                call();
                if (forceDoesNothing) {
                    return;
                }
                file.force();
                if (names.get(number) == file) {
                    durableNames.put(number, file);
                    unsynced.removeIf(change -> change.number == number);
                }
            }
        }

        @Override
        public void setModified(long ns) throws IOException {
            synchronized (CrashRawFolder.this) {
                call();
                file.now.setModified(ns, time());
            }
        }

        @Override
        public Status status() throws IOException {
            synchronized (CrashRawFolder.this) {
                call();
                needsSector(unknown, number);
                return file.now.status();
            }
        }

        @Override
        public void close() {
            synchronized (CrashRawFolder.this) {
                file.openings--;
            }
        }
    }
}
