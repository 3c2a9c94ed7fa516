package org.opendedup.sar.index.chunkstash;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a ChunkStash index other than its log. Each is {@code magic:8 version:u32 ... crc:u32}, little-endian;
 * the checksum covers all before it. A file is replaced as a whole.
 */
final class StashFiles {
    private static final Logger log = LoggerFactory.getLogger(StashFiles.class);

    /** Names the generation of the log. Its presence makes a folder an index. */
    static final String IDENTITY = "CHUNKSTASH";

    /** Where pages and frame tables are in the log, up to a place in it. */
    static final String CHECKPOINT = "checkpoint";

    /** The table, as the checkpoint of the same number was written. */
    static final String TABLE = "table";

    /** Made when damage was met: the next opening makes a new index. */
    static final String DAMAGED = "DAMAGED";

    static final String TEMPORARY = ".tmp";
    private static final long IDENTITY_MAGIC = 0x3130_4449_4853_4353L; // "SCSHID01"
    private static final int VERSION = 2;
    private static final int IDENTITY_BYTES = 24;
    private static final int BUFFER_BYTES = 256 << 10;

    private StashFiles() {}

    /** Returns whether a file belongs to an index. */
    static boolean isOfIndex(String name) {
        return name.startsWith(StashLog.PREFIX)
                || List.of(IDENTITY, CHECKPOINT, TABLE, DAMAGED).contains(name)
                || name.endsWith(TEMPORARY);
    }

    /** Notes that damage was met, durably if that is possible. */
    static void mark(Directory directory) {
        try {
            if (!directory.exists(DAMAGED)) {
                directory.create(DAMAGED).close();
                directory.sync();
            }
        } catch (IOException e) {
            log.warn("damage of the fingerprint index in {} could not be marked: {}", directory, e.getMessage());
        }
    }

    /**
     * Returns the generation of the log; that of a new index is written.
     *
     * @throws CorruptionException if damage was met before, or there is a log that nothing names
     */
    static long identity(Directory directory) throws IOException {
        if (directory.exists(DAMAGED)) {
            throw new CorruptionException(directory.toString(), -1, "a sound index", "one with damage");
        }
        if (directory.exists(IDENTITY)) {
            return readIdentity(directory);
        }
        for (String name : directory.list()) {
            if (name.startsWith(StashLog.PREFIX)) {
                throw new CorruptionException(directory.toString(), -1, "the file " + IDENTITY, "a log without it");
            }
        }
        long generation = ThreadLocalRandom.current().nextLong();
        writeIdentity(directory, generation);
        return generation;
    }

    /** Deletes the log, and what was read from it. */
    static void deleteLog(Directory directory) throws IOException {
        for (String name : directory.list()) {
            if (name.startsWith(StashLog.PREFIX)) {
                directory.delete(name);
            }
        }
        deleteIfPresent(directory, CHECKPOINT);
        deleteIfPresent(directory, TABLE);
    }

    static void writeIdentity(Directory directory, long generation) throws IOException {
        try (Writer out = new Writer(directory, IDENTITY, IDENTITY_MAGIC)) {
            out.buffer(Long.BYTES).putLong(generation);
            out.finish();
        }
    }

    /** Returns the generation of the log. */
    static long readIdentity(Directory directory) throws IOException {
        if (directory.length(IDENTITY) != IDENTITY_BYTES) {
            throw new CorruptionException(
                    directory + "/" + IDENTITY, -1, IDENTITY_BYTES + " bytes", directory.length(IDENTITY) + "");
        }
        try (Reader in = new Reader(directory, IDENTITY, IDENTITY_MAGIC)) {
            long generation = in.buffer(Long.BYTES).getLong();
            in.finish();
            return generation;
        }
    }

    /** Reads a whole file, and verifies its checksum. */
    static void verify(Directory directory, String name, long magic) throws IOException {
        try (Reader in = new Reader(directory, name, magic)) {
            in.requireChecksum();
        }
    }

    static void deleteIfPresent(Directory directory, String name) throws IOException {
        if (directory.exists(name)) {
            directory.delete(name);
        }
    }

    /** Writes a file anew; without {@link #finish} the old one stays. */
    static final class Writer implements Closeable {
        private final Directory directory;
        private final String name;
        private final Output output;
        private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        private final CRC32C crc = new CRC32C();

        Writer(Directory directory, String name, long magic) throws IOException {
            this.directory = directory;
            this.name = name;
            deleteIfPresent(directory, name + TEMPORARY);
            output = directory.create(name + TEMPORARY);
            buffer(Long.BYTES + Integer.BYTES).putLong(magic).putInt(VERSION);
        }

        /** Returns a buffer with room for some bytes, to which they are written. */
        ByteBuffer buffer(int bytes) throws IOException {
            if (buffer.remaining() < bytes) {
                write();
            }
            return buffer;
        }

        private void write() throws IOException {
            buffer.flip();
            put(buffer);
            buffer.clear();
        }

        /** Writes bytes of any number. */
        void putAll(ByteBuffer bytes) throws IOException {
            write();
            put(bytes);
        }

        private void put(ByteBuffer bytes) throws IOException {
            crc.update(bytes.duplicate());
            output.append(bytes);
        }

        /** Writes the checksum, and replaces the file durably. */
        void finish() throws IOException {
            write();
            output.append(ByteBuffer.allocate(Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt((int) crc.getValue())
                    .flip());
            output.force();
            output.close();
            directory.rename(name + TEMPORARY, name);
            directory.sync();
        }

        @Override
        public void close() throws IOException {
            output.close();
        }
    }

    /** Reads a file from its beginning to its end. */
    static final class Reader implements Closeable {
        private final String place;
        private final Input input;
        private final long end;
        private final CRC32C crc = new CRC32C();
        private long at;
        private ByteBuffer buffer = ByteBuffer.allocate(0);

        /**
         * @throws CorruptionException if the file does not begin with the magic number
         * @throws UnsupportedFormatException if it has another version
         */
        Reader(Directory directory, String name, long magic) throws IOException {
            place = directory + "/" + name;
            input = directory.open(name);
            try {
                end = input.length() - Integer.BYTES;
                ByteBuffer header = buffer(Long.BYTES + Integer.BYTES);
                if (header.getLong() != magic) {
                    throw damaged("its magic number", "another");
                }
                int version = header.getInt();
                if (version != VERSION) {
                    requireChecksum();
                    throw new UnsupportedFormatException(place, version, VERSION);
                }
            } catch (IOException e) {
                input.close();
                throw e;
            }
        }

        /** A version is believed only if the checksum of the whole file holds. */
        private void requireChecksum() throws IOException {
            buffer.position(buffer.limit());
            ByteBuffer rest = ByteBuffer.allocate(BUFFER_BYTES);
            while (at < end) {
                getAll(rest.clear().limit((int) Math.min(BUFFER_BYTES, end - at)));
            }
            finish();
        }

        CorruptionException damaged(String expected, String found) {
            return new CorruptionException(place, at, expected, found);
        }

        /** Returns a buffer with the next bytes, which are read from it. */
        ByteBuffer buffer(int bytes) throws IOException {
            if (buffer.remaining() < bytes) {
                int fresh = (int) Math.min(BUFFER_BYTES, end - at);
                if (buffer.remaining() + fresh < bytes) {
                    throw damaged(bytes + " bytes more", "the end");
                }
                ByteBuffer next =
                        ByteBuffer.allocate(buffer.remaining() + fresh).order(ByteOrder.LITTLE_ENDIAN);
                next.put(buffer);
                read(next);
                buffer = next.flip();
            }
            return buffer;
        }

        /** Fills a buffer of any size. */
        void getAll(ByteBuffer target) throws IOException {
            while (target.hasRemaining() && buffer.hasRemaining()) {
                target.put(buffer.get());
            }
            if (at + target.remaining() > end) {
                throw damaged(target.remaining() + " bytes more", "the end");
            }
            read(target);
        }

        private void read(ByteBuffer target) throws IOException {
            int from = target.position();
            try {
                input.readFully(at, target);
            } catch (EOFException e) {
                throw damaged("more bytes", "the end");
            }
            at += target.position() - from;
            crc.update(target.duplicate().position(from).limit(target.position()));
        }

        /** Verifies the checksum, after all was read. */
        void finish() throws IOException {
            ByteBuffer stored = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            if (buffer.hasRemaining() || at != end) {
                throw damaged("the end", "more bytes");
            }
            input.readFully(end, stored);
            if (stored.getInt(0) != (int) crc.getValue()) {
                throw damaged("its checksum", "another");
            }
        }

        @Override
        public void close() throws IOException {
            input.close();
        }
    }
}
