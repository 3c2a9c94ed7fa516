package org.opendedup.sar.io;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.opendedup.sar.common.NoSpaceException;

/**
 * A directory in memory that knows which of its bytes and names survive a power cut, and can show any such state: see
 * {@link #crash}. A folder is only a part of names here; one possible state is that a folder is lost with all its
 * files. It can also fail on demand. Safe for use by many threads.
 */
public final class CrashDirectory implements Directory {
    /** Size of the blocks in which unforced bytes reach the disk in any order. */
    private static final int BLOCK_BYTES = 512;

    /** Size of the blocks in which space is given back. */
    private static final int SPACE_BYTES = 4096;

    private final long seed;
    private volatile boolean forceDoesNothing;

    // All guarded by this.
    private final TreeMap<String, StoredFile> names = new TreeMap<>();
    private TreeMap<String, StoredFile> syncedNames = new TreeMap<>();
    private final List<NameChange> unsyncedChanges = new ArrayList<>();
    private long freeBytes = Long.MAX_VALUE;
    private int refusedAppends;
    private long appendsUntilFailure = Long.MAX_VALUE;
    private long forcesUntilFailure = Long.MAX_VALUE;
    private long releasesUntilFailure = Long.MAX_VALUE;
    private boolean refusesReleases;
    private Runnable duringReleases = () -> {};
    private final Random losses;

    /** @param seed determines every choice, together with the seed of {@link #crash} */
    public CrashDirectory(long seed) {
        this(seed, false);
    }

    /** @param forceDoesNothing makes {@code force} and {@code sync} do nothing: the control of every crash test */
    public CrashDirectory(long seed, boolean forceDoesNothing) {
        this.seed = seed;
        this.forceDoesNothing = forceDoesNothing;
        this.losses = new Random(seed);
    }

    /**
     * From now on {@code force} and {@code sync} do nothing: the control of what a volume does after its creation.
     * {@code -Dsar.defect=force} plants that in every test that calls this: the control of {@code scripts/soak}.
     */
    public void setForceDoesNothing(boolean does) {
        forceDoesNothing = does || "force".equals(System.getProperty("sar.defect"));
    }

    private static final class StoredFile {
        byte[] bytes = new byte[256];
        int length;
        int forcedLength;
        /** Bytes that the disk no longer returns, {@code unreadableEnd} exclusive. */
        int unreadableFrom;

        int unreadableEnd;
        /**
         * Bytes that an append wrote from {@code takenBackAt} on and truncated again because the disk was full. Until
         * the next force, a crash may restore them, also in place of bytes that were appended later.
         */
        byte[] takenBack = {};

        int takenBackAt;
        /**
         * End of the reserved space, and of space that was given back since the last force, in bytes from the start.
         */
        long reservedEnd;

        long trimmedEnd;
        /** Whether a force of the file has failed. */
        boolean forcesInVain;
        /** Whether its output is open. */
        boolean grows;
        /** Pieces that a release made zeros and that may be the old bytes after a crash. */
        final List<Released> unsettled = new ArrayList<>();
        /** Blocks of {@link #SPACE_BYTES} whose space was given back. */
        final BitSet holes = new BitSet();

        /** Space reserved after the end, in bytes. */
        long reserved() {
            return Math.max(0, reservedEnd - length);
        }

        long allocatedBytes() {
            return length - (long) holes.cardinality() * SPACE_BYTES + reserved();
        }

        void append(ByteBuffer source, int count) {
            if (bytes.length - length < count) {
                bytes = Arrays.copyOf(bytes, Math.max(length + count, bytes.length * 2));
            }
            source.get(bytes, length, count);
            length += count;
        }
    }

    /** Bytes of a piece of a file, from an offset on, before they became zeros. */
    private record Released(int offset, byte[] old) {}

    /** A creation ({@code from} null), deletion ({@code to} null) or renaming. */
    private record NameChange(String from, String to, StoredFile file) {
        void applyTo(TreeMap<String, StoredFile> target) {
            if (from == null) {
                target.put(to, file);
            } else {
                StoredFile moved = target.remove(from);
                if (to != null && moved != null) {
                    target.put(to, moved);
                }
            }
        }
    }

    /**
     * Returns a state in which a power cut now could leave the directory, which itself is not changed. Forced bytes and
     * synced names are in it. Each unsynced creation, renaming and deletion may or may not have happened. Unforced
     * bytes may be lost from any byte on; any block of the remaining ones may be zeros, and so may a long run of them,
     * before others that are whole. Reserved space may be free, and space given back since the last force may be
     * reserved. Each block of a range whose release has not returned, or has failed, may be the old bytes or zeros.
     */
    public synchronized CrashDirectory crash(long crashSeed) {
        // The first values of Random hardly differ for neighbouring seeds: spread the seeds over all bits.
        Random random = new Random((seed * 31 + crashSeed) * 0x9E3779B97F4A7C15L);
        TreeMap<String, StoredFile> left = new TreeMap<>(syncedNames);
        for (NameChange change : unsyncedChanges) {
            if (random.nextBoolean()) {
                change.applyTo(left);
            }
        }
        CrashDirectory after = new CrashDirectory(random.nextLong());
        left.forEach((name, file) -> after.names.put(name, afterCrash(file, random)));
        after.refusesReleases = refusesReleases;
        after.syncedNames = new TreeMap<>(after.names);
        return after;
    }

    private static StoredFile afterCrash(StoredFile file, Random random) {
        StoredFile left = new StoredFile();
        int unforced = file.length - file.forcedLength;
        int kept = switch (random.nextInt(3)) {
            case 0 -> 0;
            case 1 -> unforced;
            default -> random.nextInt(unforced + 1);
        };
        left.length = file.forcedLength + kept;
        left.bytes = Arrays.copyOf(file.bytes, left.length);
        if (file.takenBack.length > 0 && left.length >= file.takenBackAt && random.nextBoolean()) {
            left.length = file.takenBackAt;
            left.append(ByteBuffer.wrap(file.takenBack), 1 + random.nextInt(file.takenBack.length));
        }
        switch (random.nextInt(3)) {
            case 0 -> loseBlocks(left, file.forcedLength, random);
            case 1 -> loseRun(left, file.forcedLength, random);
            default -> {}
        }
        left.holes.or(file.holes);
        for (Released piece : file.unsettled) {
            if (random.nextBoolean()) {
                restore(left, piece);
            }
        }
        left.holes.clear(left.length / SPACE_BYTES, Math.max(left.length / SPACE_BYTES, left.holes.length()));
        left.forcedLength = left.length;
        long[] reservedEnds = {0, file.reservedEnd, Math.max(file.reservedEnd, file.trimmedEnd)};
        left.reservedEnd = reservedEnds[random.nextInt(reservedEnds.length)];
        return left;
    }

    private static void restore(StoredFile left, Released piece) {
        int count = Math.min(piece.old.length, left.length - piece.offset);
        if (count > 0) {
            System.arraycopy(piece.old, 0, left.bytes, piece.offset, count);
            left.holes.clear(piece.offset / SPACE_BYTES);
        }
    }

    /** Makes any of the blocks from {@code from} to the end of the file zeros. */
    private static void loseBlocks(StoredFile file, int from, Random random) {
        int block = from;
        while (block < file.length) {
            int end = Math.min(file.length, blockBorderAfter(block));
            if (random.nextInt(4) == 0) {
                Arrays.fill(file.bytes, block, end, (byte) 0);
            }
            block = end;
        }
    }

    /**
     * Makes a run of blocks between {@code from} and the end of the file zeros, often from the first or to the last:
     * file systems write large pieces of a file in any order.
     */
    private static void loseRun(StoredFile file, int from, Random random) {
        int first = random.nextBoolean() ? from : anyBorder(from, file.length, random);
        int end = random.nextBoolean() ? file.length : anyBorder(first, file.length, random);
        Arrays.fill(file.bytes, first, end, (byte) 0);
    }

    /** Returns a border of blocks between two offsets, or one of the two. */
    private static int anyBorder(int from, int end, Random random) {
        return Math.min(end, blockBorderAfter(from + random.nextInt(end - from + 1)));
    }

    private static int blockBorderAfter(int offset) {
        return (offset / BLOCK_BYTES + 1) * BLOCK_BYTES;
    }

    /** The n-th append from now on, 1 being the next, writes half of its bytes and fails. */
    public synchronized void failAppend(long n) {
        appendsUntilFailure = n;
    }

    /**
     * The n-th force of a file from now on fails. The bytes it should have made durable are not durable, even if later
     * forces of that file succeed, and any block of them reads as zeros from now on.
     */
    public synchronized void failForce(long n) {
        forcesUntilFailure = n;
    }

    /**
     * The n-th release from now on fails: any block of its ranges reads as zeros from now on. In a crash these may be
     * the old bytes again, until another release of them succeeds.
     */
    public synchronized void failRelease(long n) {
        releasesUntilFailure = n;
    }

    /** The file system cannot give back ranges. */
    public synchronized void refuseReleases() {
        refusesReleases = true;
    }

    /**
     * Runs an action in the middle of each release. Its ranges read as zeros, none of which is durable: the action can
     * take a {@link #crash}.
     */
    public synchronized void duringReleases(Runnable action) {
        duringReleases = action;
    }

    /**
     * Appends fail, as on a full disk, after this number of further bytes. Bytes that are already reserved for a file
     * are not among them.
     */
    public synchronized void noSpaceAfter(long bytes) {
        freeBytes = bytes;
    }

    /** Number of appends that found no space. */
    public synchronized int refusedAppends() {
        return refusedAppends;
    }

    /** Returns the bytes that are reserved after the end of a file. */
    public synchronized long reservedBytes(String name) throws IOException {
        return existing(name).reserved();
    }

    /** Takes space for an append: first what is reserved for the file. */
    private void takeSpace(StoredFile file, int bytes) {
        freeBytes = Math.max(0, freeBytes - bytes + Math.min(bytes, file.reserved()));
    }

    private void giveBackReserved(StoredFile file) {
        freeBytes += Math.min(file.reserved(), Long.MAX_VALUE - freeBytes);
        file.trimmedEnd = Math.max(file.trimmedEnd, file.reservedEnd);
        file.reservedEnd = 0;
    }

    /** Reads of these bytes of a file fail from now on, as with bad sectors; {@code end} is exclusive. */
    public synchronized void failReads(String name, int from, int end) throws IOException {
        StoredFile file = existing(name);
        file.unreadableFrom = from;
        file.unreadableEnd = end;
    }

    /** A copy of a file's bytes. */
    public synchronized byte[] contents(String name) throws IOException {
        StoredFile file = existing(name);
        return Arrays.copyOf(file.bytes, file.length);
    }

    /** Makes or replaces a file, durably. */
    public synchronized void put(String name, byte[] contents) {
        StoredFile file = new StoredFile();
        file.bytes = contents.clone();
        file.length = contents.length;
        file.forcedLength = contents.length;
        names.put(name, file);
        syncedNames.put(name, file);
    }

    private StoredFile existing(String name) throws NoSuchFileException {
        StoredFile file = names.get(name);
        if (file == null) {
            throw new NoSuchFileException(name);
        }
        return file;
    }

    @Override
    public synchronized Output create(String name) throws IOException {
        if (names.containsKey(name)) {
            throw new FileAlreadyExistsException(name);
        }
        StoredFile file = new StoredFile();
        change(new NameChange(null, name, file));
        file.grows = true;
        return new CrashOutput(file);
    }

    private void change(NameChange change) {
        change.applyTo(names);
        unsyncedChanges.add(change);
    }

    @Override
    public synchronized Input open(String name) throws IOException {
        return new CrashInput(name, existing(name));
    }

    @Override
    public synchronized boolean exists(String name) {
        return names.containsKey(name);
    }

    @Override
    public synchronized long length(String name) throws IOException {
        return existing(name).length;
    }

    @Override
    public synchronized void rename(String from, String to) throws IOException {
        StoredFile replaced = names.get(to);
        if (replaced != null && !from.equals(to)) {
            giveBackReserved(replaced);
        }
        change(new NameChange(from, to, existing(from)));
    }

    @Override
    public synchronized void delete(String name) throws IOException {
        StoredFile file = existing(name);
        giveBackReserved(file);
        freeBytes += Math.min(file.allocatedBytes(), Long.MAX_VALUE - freeBytes);
        change(new NameChange(name, null, file));
    }

    @Override
    public synchronized void link(String name, String further) throws IOException {
        if (names.containsKey(further)) {
            throw new FileAlreadyExistsException(further);
        }
        change(new NameChange(null, further, existing(name)));
    }

    @Override
    public synchronized List<String> list() {
        return List.copyOf(names.keySet());
    }

    @Override
    public synchronized void trim(String name) throws IOException {
        giveBackReserved(existing(name));
    }

    @Override
    public boolean release(String name, List<FileRange> ranges) throws IOException {
        StoredFile file;
        Runnable action;
        synchronized (this) {
            file = existing(name);
            if (refusesReleases) {
                return false;
            }
            for (FileRange range : ranges) {
                if (file.grows && range.end() > file.length) {
                    throw new IllegalArgumentException(range + " is not before the position " + file.length);
                }
            }
            boolean fails = --releasesUntilFailure == 0;
            for (FileRange range : ranges) {
                makeZeros(file, range, fails);
            }
            if (fails) {
                throw new IOException(name + ": Input/output error");
            }
            action = duringReleases;
        }
        action.run();
        synchronized (this) {
            for (FileRange range : ranges) {
                settle(file, range);
            }
        }
        return true;
    }

    @Override
    public synchronized boolean freesRanges(String name) throws IOException {
        return existing(name) != null && !refusesReleases;
    }

    /** @param anyOnly makes any of the blocks zeros, not all */
    private void makeZeros(StoredFile file, FileRange range, boolean anyOnly) {
        int end = (int) Math.min(file.length, range.end());
        int at = (int) Math.min(end, range.offset());
        while (at < end) {
            int pieceEnd = Math.min(end, (at / SPACE_BYTES + 1) * SPACE_BYTES);
            if (!anyOnly || losses.nextBoolean()) {
                file.unsettled.add(new Released(at, Arrays.copyOfRange(file.bytes, at, pieceEnd)));
                Arrays.fill(file.bytes, at, pieceEnd, (byte) 0);
            }
            at = pieceEnd;
        }
    }

    /** Makes the zeros of a range durable, and gives the space of its whole blocks back. */
    private void settle(StoredFile file, FileRange range) {
        if (!forceDoesNothing) {
            fillZeros(file.takenBack, file.takenBackAt, range);
            file.unsettled.forEach(piece -> fillZeros(piece.old, piece.offset, range));
            file.unsettled.removeIf(piece -> isZeros(piece.old));
        }
        int end = (int) Math.min(file.length, range.end()) / SPACE_BYTES;
        for (int block = (int) Math.min(end, (range.offset() + SPACE_BYTES - 1) / SPACE_BYTES); block < end; block++) {
            if (!file.holes.get(block)) {
                file.holes.set(block);
                freeBytes += Math.min(SPACE_BYTES, Long.MAX_VALUE - freeBytes);
            }
        }
    }

    /** Makes those of {@code bytes}, which lie in a file from {@code offset} on, zeros that are in a range. */
    private static void fillZeros(byte[] bytes, int offset, FileRange range) {
        long from = Math.max(0, range.offset() - offset);
        long end = Math.min(bytes.length, range.end() - offset);
        if (from < end) {
            Arrays.fill(bytes, (int) from, (int) end, (byte) 0);
        }
    }

    private static boolean isZeros(byte[] bytes) {
        for (byte b : bytes) {
            if (b != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public synchronized long allocatedBytes(String name) throws IOException {
        return existing(name).allocatedBytes();
    }

    @Override
    public synchronized void sync() {
        if (!forceDoesNothing) {
            syncedNames = new TreeMap<>(names);
            unsyncedChanges.clear();
        }
    }

    @Override
    public synchronized long usableBytes() {
        return freeBytes;
    }

    @Override
    public String toString() {
        return "memory";
    }

    private final class CrashOutput implements Output {
        private final StoredFile file;
        private boolean closed;

        CrashOutput(StoredFile file) {
            this.file = file;
        }

        @Override
        public long append(ByteBuffer source) throws IOException {
            synchronized (CrashDirectory.this) {
                checkOpen();
                long offset = file.length;
                if (--appendsUntilFailure == 0) {
                    appendBytes(source, source.remaining() / 2);
                    throw new IOException("Input/output error");
                }
                if (source.remaining() - file.reserved() > freeBytes) {
                    refusedAppends++;
                    takeBack(source, (int) (file.reserved() + freeBytes));
                    throw new NoSpaceException("No space left on device");
                }
                appendBytes(source, source.remaining());
                return offset;
            }
        }

        private void appendBytes(ByteBuffer source, int count) {
            takeSpace(file, count);
            file.append(source, count);
        }

        /** Appends what fits and truncates it again, which frees the reserved space too. */
        private void takeBack(ByteBuffer source, int count) {
            if (count > 0) {
                file.takenBack = new byte[count];
                file.takenBackAt = file.length;
                source.get(file.takenBack);
            }
            giveBackReserved(file);
        }

        @Override
        public boolean reserve(long length) {
            synchronized (CrashDirectory.this) {
                long more = length - file.length - file.reserved();
                if (more <= 0) {
                    return true;
                }
                if (closed || more > freeBytes) {
                    giveBackReserved(file);
                    return false;
                }
                freeBytes -= more;
                file.reservedEnd = length;
                return true;
            }
        }

        @Override
        public void trim() {
            synchronized (CrashDirectory.this) {
                if (!closed) {
                    giveBackReserved(file);
                }
            }
        }

        private void checkOpen() throws IOException {
            if (closed) {
                throw new IOException("closed");
            }
        }

        @Override
        public long position() {
            synchronized (CrashDirectory.this) {
                return file.length;
            }
        }

        @Override
        public void force() throws IOException {
            synchronized (CrashDirectory.this) {
                checkOpen();
                if (--forcesUntilFailure == 0) {
                    // Like Linux: unwritten bytes count as written, the next force succeeds, and what the disk lacks
                    // is gone when the cache drops it.
                    file.forcesInVain = true;
                    loseBlocks(file, file.forcedLength, losses);
                    throw new IOException("Input/output error");
                }
                if (!forceDoesNothing && !file.forcesInVain) {
                    file.forcedLength = file.length;
                    file.takenBack = new byte[0];
                    file.trimmedEnd = 0;
                }
            }
        }

        @Override
        public void close() {
            synchronized (CrashDirectory.this) {
                file.grows = false;
                closed = true;
            }
        }
    }

    private final class CrashInput implements Input {
        private final String name;
        private final StoredFile file;

        CrashInput(String name, StoredFile file) {
            this.name = name;
            this.file = file;
        }

        @Override
        public void readFully(long offset, ByteBuffer target) throws IOException {
            synchronized (CrashDirectory.this) {
                if (offset + target.remaining() > file.length) {
                    throw new EOFException(name + " ends at byte " + file.length);
                }
                if (offset < file.unreadableEnd && offset + target.remaining() > file.unreadableFrom) {
                    throw new IOException("Input/output error");
                }
                target.put(file.bytes, (int) offset, target.remaining());
            }
        }

        @Override
        public long length() {
            synchronized (CrashDirectory.this) {
                return file.length;
            }
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }
}
