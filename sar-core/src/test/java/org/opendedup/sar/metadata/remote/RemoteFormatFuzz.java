package org.opendedup.sar.metadata.remote;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.metadata.backup.BackupFile;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;

/** Log segments, and the lists of checkpoints. */
public final class RemoteFormatFuzz {
    private static final UUID VOLUME = new UUID(0x0102030405060708L, 0x1112131415161718L);
    private static final Owner OWNER = new Owner(3, 0x2122232425262728L);
    static final String CHECKPOINT = "metadata/checkpoints/0000000000000007-0000000000000003-0000000000000064-ahead";
    private static final ParserSet PARSERS = new ParserSet()
            .add("segment", RemoteFormatFuzz::segment, changes(), end(), leap())
            .add("batches", RemoteFormatFuzz::batches, batch())
            .add("list", RemoteFormatFuzz::list, list())
            .add(
                    "end of the log",
                    RemoteFormatFuzz::logEnd,
                    new LogEnd(OWNER, 7, 97).text().getBytes(US_ASCII))
            .add("list with its checksum", bytes -> CheckpointFormat.decode(bytes, "a list", null), list());

    private RemoteFormatFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    static byte[] batch() {
        LoggedBatch batch = new LoggedBatch();
        batch.put(Family.ENTRY, new byte[] {1, 2}, new byte[] {3, 4, 5});
        batch.delete(Family.INODE, new byte[] {6});
        return FolderKeyValueStore.bytesOf(batch);
    }

    static byte[] changes() {
        return segment(99, new LogSegment.Changes(batch()));
    }

    static byte[] end() {
        return segment(97, new LogSegment.End(new Owner(4, 5)));
    }

    static byte[] leap() {
        return segment(100, new LogSegment.Leap(CHECKPOINT, 0x31323334));
    }

    private static byte[] segment(long last, LogSegment.Content content) {
        return new LogSegment(VOLUME, OWNER, 7, 0x41424344, 97, last, content).encode(null);
    }

    static byte[] list() {
        return CheckpointFormat.encode(
                new Checkpoint(
                        VOLUME,
                        new ChainPoint(OWNER, 7, -2, 97),
                        99,
                        true,
                        1_000,
                        List.of(new BackupFile("CURRENT", 16, 0x12345678, ObjectNaming.file(3, "1-CURRENT")))),
                null);
    }

    private static void segment(byte[] bytes) throws IOException {
        byte[] whole = ParserSet.withCrc(bytes, -Integer.BYTES);
        LogSegment segment = LogSegment.decode(whole, "a segment", null);
        byte[] again = segment.encode(null);
        // One byte of the header has no meaning.
        if (again.length != whole.length
                || !Arrays.equals(again, 8, again.length - Integer.BYTES, whole, 8, again.length - Integer.BYTES)) {
            throw new AssertionError(segment + " becomes other bytes");
        }
    }

    private static void logEnd(byte[] bytes) throws IOException {
        LogEnd end = LogEnd.parse(new String(bytes, US_ASCII), "a lease");
        if (!end.equals(LogEnd.parse(end.text(), "a lease"))) {
            throw new AssertionError(end + " becomes another one");
        }
    }

    private static void batches(byte[] bytes) throws IOException {
        LoggedBatch.apply(bytes, 0, new Counting(), "log segment");
    }

    private static void list(byte[] bytes) throws IOException {
        String text = new String(bytes, US_ASCII);
        byte[] body = text.substring(0, Math.max(0, text.lastIndexOf("crc "))).getBytes(US_ASCII);
        String crc = String.format(Locale.ROOT, "crc %08x\n", ParserSet.crc(body, body.length));
        Checkpoint list =
                CheckpointFormat.decode((new String(body, US_ASCII) + crc).getBytes(US_ASCII), "a list", null);
        for (BackupFile file : list.files()) {
            // They are copied to a folder by these names.
            if (file.bytes() < 0 || file.name().startsWith(".") || file.name().contains("/")) {
                throw new AssertionError("a list with " + file);
            }
        }
        if (!CheckpointFormat.decode(CheckpointFormat.encode(list, null), "a list", null)
                .equals(list)) {
            throw new AssertionError(list + " becomes another one");
        }
    }

    /** A store that counts changes. */
    private static final class Counting implements KeyValueStore {
        private final HeapKeyValueStore heap = new HeapKeyValueStore();
        private long changes;

        @Override
        public byte[] get(Family family, byte[] key) {
            return heap.get(family, key);
        }

        @Override
        public Cursor scan(Family family, byte[] from, byte[] to) {
            return heap.scan(family, from, to);
        }

        @Override
        public long changes() {
            return changes;
        }

        @Override
        public Batch batch() {
            Batch batch = heap.batch();
            return new Batch() {
                private long count;

                @Override
                public void put(Family family, byte[] key, byte[] value) throws IOException {
                    batch.put(family, key, value);
                    count++;
                }

                @Override
                public void delete(Family family, byte[] key) throws IOException {
                    batch.delete(family, key);
                    count++;
                }

                @Override
                public void commit() throws IOException {
                    batch.commit();
                    changes += count;
                }

                @Override
                public void close() {
                    batch.close();
                }
            };
        }

        @Override
        public void close() {}
    }
}
