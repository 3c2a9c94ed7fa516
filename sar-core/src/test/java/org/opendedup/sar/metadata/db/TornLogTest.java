package org.opendedup.sar.metadata.db;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;

/**
 * Logs that RocksDB wrote, in the state after a power cut or a failed sector: pages of the last record exist or not, in
 * any combination. The folder is copied before the last commit, so that the changes acknowledged by then are known.
 */
class TornLogTest {
    private static final long MEMORY_BYTES = 8 << 20;
    private static final int PAGE = 4096;
    private static final int BLOCK = LogFragments.BLOCK_BYTES;

    @TempDir
    Path temporary;

    private Path written;

    @AutoClose
    private KeyValueStore store;

    private int trials;

    /** The state before the last commit. */
    private long acknowledgedBytes;

    private byte[] mark;

    @BeforeEach
    void make() throws IOException {
        written = temporary.resolve("written");
        store = KeyValueStores.openRocksDb(written, MEMORY_BYTES, true);
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 9000, 33_000, 100_000})
    void aPageOfTheLastRecordThatIsMissingTakesTheRecordOnly(int bytes) throws IOException {
        commit("first", 5000);
        commit("second", 30_000);
        commitLast(bytes);
        byte[] log = Files.readAllBytes(log());
        int first = (int) (acknowledgedBytes / PAGE);
        for (int page : TestSeed.steps(pages(log.length) - first, 4).toArray()) {
            byte[] torn = log.clone();
            lose(torn, first + page);
            assertOpensBeforeTheLast(torn, "page " + (first + page));
        }
    }

    private static int pages(long bytes) {
        return (int) ((bytes + PAGE - 1) / PAGE);
    }

    static LongStream seeds() {
        return TestSeed.upTo(2);
    }

    /** Also truncated anywhere, as by a file system that did not store the length. */
    @ParameterizedTest
    @MethodSource("seeds")
    void anyPagesOfTheLastRecordMayBeMissing(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        commit("first", 1 + random.nextInt(40_000));
        commitLast(1 + random.nextInt(200_000));
        byte[] log = Files.readAllBytes(log());
        int first = (int) (acknowledgedBytes / PAGE);
        int pages = pages(log.length) - first;
        for (int trial = 0; trial < 8; trial++) {
            BitSet missing = new BitSet();
            missing.set(random.nextInt(pages));
            for (int page = 0; page < pages; page++) {
                if (random.nextInt(3) == 0) {
                    missing.set(page);
                }
            }
            byte[] torn = log.clone();
            missing.stream().forEach(page -> lose(torn, first + page));
            int cut = random.nextBoolean()
                    ? torn.length
                    : (int) acknowledgedBytes + random.nextInt((int) (torn.length - acknowledgedBytes));
            assertOpensBeforeTheLast(
                    Arrays.copyOf(torn, cut), "seed " + seed + ", missing " + missing + ", cut " + cut);
        }
    }

    @Test
    void aCompleteRecordIsKeptWhetherItWasAcknowledgedOrNot() throws IOException {
        commit("first", 5000);
        commitLast(50_000);
        try (KeyValueStore found = open(Files.readAllBytes(log()))) {
            assertHas(found, "first", 5000);
            assertHas(found, "last", 50_000);
        }
    }

    /** The control: acknowledged changes are never cut off, whichever page is damaged. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aDamagedPageOfAnAcknowledgedRecordIsRefused(boolean markIsThere) throws IOException {
        commit("first", 200);
        commit("second", 300);
        commit("third", 70_000);
        commit("fourth", 300);
        commitLast(300);
        byte[] log = Files.readAllBytes(log());
        if (!markIsThere) {
            mark = null;
        }
        // Without the mark, only the last record shows that the one before it was acknowledged, so it must be readable.
        for (int page : TestSeed.steps((int) (acknowledgedBytes / PAGE), 6).toArray()) {
            byte[] damaged = log.clone();
            zero(damaged, page);
            assertRefused(damaged, "page " + page);
        }
    }

    @Test
    void aFlippedBitAnywhereBeforeTheLastRecordIsRefused() throws IOException {
        for (int i = 0; i < 8; i++) {
            commit("small " + i, 50);
        }
        commit("large", 33_000);
        commitLast(100);
        byte[] log = Files.readAllBytes(log());
        mark = null;
        for (int at = 0; at < acknowledgedBytes; at += at < 1500 ? 151 : 8009) {
            byte[] damaged = log.clone();
            damaged[at] ^= 1;
            assertRefused(damaged, "byte " + at);
        }
    }

    @Test
    void theLastRecordIsRefusedWhenItWasAcknowledgedAndIsDamaged() throws IOException {
        commit("first", 5000);
        commitLast(9000);
        mark = Files.readAllBytes(written.resolve(AcknowledgedSequence.NAME)); // now it is acknowledged
        byte[] log = Files.readAllBytes(log());
        byte[] damaged = log.clone();
        damaged[log.length - 10] ^= 1;
        assertRefused(damaged, "damaged");
        assertRefused(Arrays.copyOf(log, log.length - 10), "cut off");
        assertRefused(Arrays.copyOf(log, (int) acknowledgedBytes), "cut off at its beginning");
        assertRefused(new byte[0], "empty");
        Path copy = copy(damaged);
        CorruptionException e =
                assertThrows(CorruptionException.class, () -> KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false));
        assertTrue(e.getMessage().contains("delete " + copy.resolve(AcknowledgedSequence.NAME)), e.getMessage());
        assertArrayEquals(damaged, Files.readAllBytes(newestLog(copy)), "a refused log is left as it is");

        Files.delete(copy.resolve(AcknowledgedSequence.NAME)); // the solution that the message names
        try (KeyValueStore found = KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false)) {
            assertHas(found, "first", 5000);
            assertNull(found.get(Family.INODE, key("last")));
        }
    }

    /** The first record of a log that follows a flush: no record of it shows how far the database had advanced. */
    @Test
    void theFirstRecordOfALogIsJudgedByWhatTheTablesHold() throws IOException {
        commit("first", 5000);
        store.close();
        store = KeyValueStores.openRocksDb(written, MEMORY_BYTES, false); // writes a table and begins a log
        commitLast(9000);
        byte[] torn = Files.readAllBytes(log());
        lose(torn, 1);
        assertOpensBeforeTheLast(torn, "the first record");
        mark = Files.readAllBytes(written.resolve(AcknowledgedSequence.NAME));
        assertRefused(torn, "the first record, acknowledged");
    }

    @Test
    void aTornLogBeforeAnEmptyOneIsCut() throws IOException {
        commit("first", 5000);
        commitLast(9000);
        byte[] torn = Files.readAllBytes(log());
        lose(torn, 2);
        Path copy = copy(torn);
        Files.createFile(copy.resolve("1000000.log")); // a reopening that lost power after it had begun a log
        try (KeyValueStore found = KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false)) {
            assertHas(found, "first", 5000);
            assertNull(found.get(Family.INODE, key("last")));
        }
    }

    @Test
    void aTornLogBeforeOneWithRecordsIsRefused() throws IOException {
        commit("first", 5000);
        commit("second", 9000);
        Path earlier = log();
        byte[] torn = Files.readAllBytes(earlier);
        store.close();
        store = KeyValueStores.openRocksDb(written, MEMORY_BYTES, false);
        commitLast(300);
        assertFalse(Files.exists(earlier));
        Path copy = copy(Files.readAllBytes(log()));
        Files.write(copy.resolve(earlier.getFileName()), Arrays.copyOf(torn, torn.length - 10));
        LogTail tail = LogTail.ofLogs(copy, LogTail.ofManifest(copy));
        assertTrue(tail.damage().contains(earlier.getFileName().toString()), tail.damage());
        assertEquals(List.of(), tail.cuts());
        try (KeyValueStore found = KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false)) {
            // Its records are in a table: RocksDB does not need that log, and nothing is missing.
            assertHas(found, "second", 9000);
            assertHas(found, "last", 300);
        }
    }

    /** Two logs that are both needed: a full write buffer switches the log, and nothing is flushed yet. */
    @Test
    void anOlderLogThatIsNeededIsRefusedWhenItsEndIsMissing() throws IOException {
        commit("first", 5000);
        commit("second", 9000);
        Path earlier = log();
        byte[] whole = Files.readAllBytes(earlier);
        byte[] next = recordsFrom(whole, 5000); // the second record alone, at the beginning of a log
        Path copy = copy(Arrays.copyOf(whole, whole.length - next.length - 5));
        Files.write(copy.resolve("000999.log"), next);
        assertThrows(CorruptionException.class, () -> KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false));
    }

    @Test
    void whatAFileSystemShowsOfAnOlderLogIsNoLaterRecord() throws IOException {
        commit("older", 3000);
        byte[] older = Files.readAllBytes(log());
        commit("first", 40_000);
        commitLast(70_000);
        byte[] torn = Files.readAllBytes(log());
        int block = (int) (acknowledgedBytes / BLOCK + 1) * BLOCK;
        Arrays.fill(torn, block, block + BLOCK, (byte) 0);
        System.arraycopy(older, 0, torn, block, older.length);
        assertOpensBeforeTheLast(torn, "bytes of an older log");
    }

    /** A name, or an attribute, may contain the bytes of a log: they are no later record, wherever the log is torn. */
    @Test
    void aRecordWithinARecordIsNoLaterOne() throws IOException {
        commit("first", 5000);
        byte[] forged = Files.readAllBytes(log());
        remember();
        try (Batch batch = store.batch()) {
            batch.put(Family.INODE, key("last"), forged);
            batch.commit();
        }
        byte[] torn = Files.readAllBytes(log());
        lose(torn, acknowledgedBytes / PAGE + 1);
        assertOpensBeforeTheLast(torn, "a record within a record");
    }

    @Test
    void anUnreadableMarkIsMadeAnewAndOneOfALaterVersionIsRefused() throws IOException {
        commit("first", 5000);
        commitLast(300);
        byte[] log = Files.readAllBytes(log());
        byte[] good = mark;
        for (byte[] damaged : List.of(new byte[0], new byte[20], Arrays.copyOf(good, 19))) {
            mark = damaged;
            Path copy = copy(log);
            KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false).close();
            assertEquals(20, Files.size(copy.resolve(AcknowledgedSequence.NAME)));
        }
        mark = good;
        assertArrayEquals("SARA".getBytes(StandardCharsets.US_ASCII), Arrays.copyOf(good, 4));
    }

    private byte[] recordsFrom(byte[] log, int minimum) throws IOException {
        long[] start = {-1};
        Path file = Files.write(temporary.resolve("records"), log);
        new LogFragments().read(file, new LogFragments.Visitor() {
            @Override
            public void fragment(LogFragments.Type type, long offset, ByteBuffer payload) {
                if (start[0] < 0 && offset >= minimum) {
                    start[0] = offset;
                }
            }

            @Override
            public void damage(long offset) {
                throw new AssertionError("an intact log");
            }
        });
        return Arrays.copyOfRange(log, (int) start[0], log.length);
    }

    private void assertOpensBeforeTheLast(byte[] torn, String what) throws IOException {
        Path copy = copy(torn);
        try (KeyValueStore found = KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false)) {
            assertHas(found, "first", -1);
            assertNull(found.get(Family.INODE, key("last")), what);
            commit(found, "after", 10);
        } catch (CorruptionException e) {
            throw new AssertionError(what + ": " + e.getMessage(), e);
        }
        try (KeyValueStore found = KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false)) {
            assertHas(found, "after", 10);
        }
    }

    private void assertRefused(byte[] damaged, String what) throws IOException {
        Path copy = copy(damaged);
        CorruptionException e = assertThrows(
                CorruptionException.class,
                () -> KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false).close(),
                what);
        assertTrue(e.getMessage().contains("backup"), e.getMessage());
    }

    private KeyValueStore open(byte[] log) throws IOException {
        return KeyValueStores.openRocksDb(copy(log), MEMORY_BYTES, false);
    }

    private void commitLast(int bytes) throws IOException {
        remember();
        commit("last", bytes);
        assertEquals(log(), newestLog(written));
    }

    private void remember() throws IOException {
        acknowledgedBytes = Files.size(log());
        mark = Files.readAllBytes(written.resolve(AcknowledgedSequence.NAME));
    }

    private void commit(String key, int bytes) throws IOException {
        commit(store, key, bytes);
    }

    private static void commit(KeyValueStore store, String key, int bytes) throws IOException {
        try (Batch batch = store.batch()) {
            batch.put(Family.INODE, key(key), value(key, bytes));
            batch.commit();
        }
    }

    private static void assertHas(KeyValueStore found, String key, int bytes) throws IOException {
        byte[] value = found.get(Family.INODE, key(key));
        assertArrayEquals(value(key, bytes < 0 ? value.length : bytes), value, key);
    }

    private static byte[] key(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] value(String key, int bytes) {
        byte[] value = new byte[bytes];
        new Random(key.hashCode()).nextBytes(value);
        return value;
    }

    private static void zero(byte[] log, long page) {
        int from = (int) page * PAGE;
        Arrays.fill(log, from, Math.min(log.length, from + PAGE), (byte) 0);
    }

    /** A page that was not written: where the previous record ends in it, it has its earlier contents. */
    private void lose(byte[] log, long page) {
        int from = (int) Math.max(acknowledgedBytes, page * PAGE);
        Arrays.fill(log, from, (int) Math.min(log.length, (page + 1) * PAGE), (byte) 0);
    }

    private Path log() throws IOException {
        return newestLog(written);
    }

    static Path newestLog(Path folder) throws IOException {
        return TestFolders.files(folder).stream()
                .filter(file -> file.toString().endsWith(".log"))
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    /** The database on the disk, with this log and the mark from before the last commit. */
    private Path copy(byte[] log) throws IOException {
        Path copy = temporary.resolve("copy" + trials++);
        TestFolders.copy(written, copy);
        Files.write(newestLog(copy), log);
        Path markCopy = copy.resolve(AcknowledgedSequence.NAME);
        if (mark == null) {
            Files.delete(markCopy);
        } else {
            Files.write(markCopy, mark);
        }
        return copy;
    }
}
