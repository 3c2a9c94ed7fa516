package org.opendedup.sar.io;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
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

    private final long seed;
    private final boolean forceDoesNothing;

    // All guarded by this.
    private final TreeMap<String, StoredFile> names = new TreeMap<>();
    private TreeMap<String, StoredFile> syncedNames = new TreeMap<>();
    private final List<NameChange> unsyncedChanges = new ArrayList<>();
    private long freeBytes = Long.MAX_VALUE;
    private int refusedAppends;
    private long appendsUntilFailure = Long.MAX_VALUE;
    private long forcesUntilFailure = Long.MAX_VALUE;

    /** @param seed determines every choice, together with the seed of {@link #crash} */
    public CrashDirectory(long seed) {
        this(seed, false);
    }

    /** @param forceDoesNothing makes {@code force} and {@code sync} do nothing: the control of every crash test */
    public CrashDirectory(long seed, boolean forceDoesNothing) {
        this.seed = seed;
        this.forceDoesNothing = forceDoesNothing;
    }

    private static final class StoredFile {
        byte[] bytes = new byte[256];
        int length;
        int forcedLength;
        /** Bytes that the disk no longer returns, {@code unreadableEnd} exclusive. */
        int unreadableFrom;

        int unreadableEnd;
        /**
         * Bytes that an append wrote after the end and truncated again because the disk was full. A crash may restore
         * them.
         */
        byte[] takenBack = {};
        /** Whether a force of the file has failed. */
        boolean forcesInVain;

        void append(ByteBuffer source, int count) {
            if (bytes.length - length < count) {
                bytes = Arrays.copyOf(bytes, Math.max(length + count, bytes.length * 2));
            }
            source.get(bytes, length, count);
            length += count;
        }
    }

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
     * bytes may be lost from any byte on, and any block of the remaining ones may be zeros.
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
        if (random.nextBoolean()) {
            int block = file.forcedLength;
            while (block < left.length) {
                int end = Math.min(left.length, (block / BLOCK_BYTES + 1) * BLOCK_BYTES);
                if (random.nextInt(4) == 0) {
                    Arrays.fill(left.bytes, block, end, (byte) 0);
                }
                block = end;
            }
        }
        if (kept == unforced && file.takenBack.length > 0 && random.nextBoolean()) {
            left.append(ByteBuffer.wrap(file.takenBack), file.takenBack.length);
        }
        left.forcedLength = left.length;
        return left;
    }

    /** The n-th append from now on, 1 being the next, writes half of its bytes and fails. */
    public synchronized void failAppend(long n) {
        appendsUntilFailure = n;
    }

    /**
     * The n-th force of a file from now on fails; the bytes it should have made durable are not durable, even if later
     * forces of that file succeed.
     */
    public synchronized void failForce(long n) {
        forcesUntilFailure = n;
    }

    /** Appends fail, as on a full disk, after this number of further bytes. */
    public synchronized void noSpaceAfter(long bytes) {
        freeBytes = bytes;
    }

    /** Number of appends that found no space. */
    public synchronized int refusedAppends() {
        return refusedAppends;
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
        change(new NameChange(from, to, existing(from)));
    }

    @Override
    public synchronized void delete(String name) throws IOException {
        change(new NameChange(name, null, existing(name)));
    }

    @Override
    public synchronized List<String> list() {
        return List.copyOf(names.keySet());
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
                    file.append(source, source.remaining() / 2);
                    throw new IOException("Input/output error");
                }
                if (source.remaining() > freeBytes) {
                    refusedAppends++;
                    file.takenBack = new byte[(int) freeBytes];
                    source.get(file.takenBack);
                    throw new NoSpaceException("No space left on device");
                }
                file.takenBack = new byte[0];
                freeBytes -= source.remaining();
                file.append(source, source.remaining());
                return offset;
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
                    // Like Linux: unwritten bytes count as written, and the next force succeeds.
                    file.forcesInVain = true;
                    throw new IOException("Input/output error");
                }
                if (!forceDoesNothing && !file.forcesInVain) {
                    file.forcedLength = file.length;
                    file.takenBack = new byte[0];
                }
            }
        }

        @Override
        public void close() {
            synchronized (CrashDirectory.this) {
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
