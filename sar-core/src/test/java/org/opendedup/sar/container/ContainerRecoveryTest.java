package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;

/**
 * What opening does with unexpected files: it saves what can be read, and deletes only files that are proved to be
 * superseded.
 */
final class ContainerRecoveryTest {
    private static final String OPEN = ContainerFormat.fileName(1, ContainerFormat.OPEN_SUFFIX);
    private static final String SEALED = ContainerFormat.fileName(1, ContainerFormat.SEALED_SUFFIX);
    /** The salt of the fixture. */
    private static final String ASIDE = ContainerFormat.fileName(1, ".0123456789abcdef.aside");

    private final long seed = TestChunks.seed(ContainerRecoveryTest.class);
    private final Random random = new Random(seed);
    private final StoreFixture fixture = new StoreFixture();
    private final TestChunks chunks = new TestChunks();

    @AfterEach
    void endWorkers() {
        fixture.close();
    }

    /** A container that was forced and not sealed. Returns its frame table. */
    private FrameTable leaveOpen(CrashDirectory disk) throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            try (ContainerWriter writer = store.writer(1)) {
                for (int bytes = 0; bytes < 30_000; ) {
                    byte[] chunk = TestChunks.chunk(random, 1000);
                    chunks.append(writer, chunk);
                    bytes += chunk.length;
                }
            }
            store.force();
            return store.frameTable(1);
        }
    }

    /** Makes the volume refer to every chunk of a container with the fixture's salt. */
    private ContainerClaims all(FrameTable table) {
        return new ContainerClaims() {
            @Override
            public Writing writing(long container) {
                return container == 1 ? table.writing() : Writing.UNKNOWN;
            }

            @Override
            public BitSet slots(long container) {
                BitSet slots = new BitSet();
                slots.set(0, container == 1 ? table.slots() : 0);
                return slots;
            }
        };
    }

    private static Map<Long, BitSet> lost(ContainerStore store) throws IOException {
        Map<Long, BitSet> lost = new TreeMap<>();
        store.forEachLost((container, first, end) ->
                lost.computeIfAbsent(container, key -> new BitSet()).set(first, end));
        return lost;
    }

    @Test
    void aBadSectorCostsTheFramesInItAndTheOriginalIsKept() throws IOException {
        CrashDirectory disk = new CrashDirectory(seed);
        FrameTable table = leaveOpen(disk);
        assertTrue(table.frames() > 4);
        byte[] original = disk.contents(OPEN);
        int bad = (int) table.fileOffset(2) + 10;
        disk.failReads(OPEN, bad, bad + 1);
        assertThrows(IOException.class, () -> disk.open(OPEN).readFully(bad, ByteBuffer.allocate(1)));
        fixture.claims = all(table);
        BitSet expected = new BitSet();
        for (int frame = 0; frame < table.frames(); frame++) {
            boolean touched = table.fileOffset(frame) / 4096 <= bad / 4096
                    && (table.fileOffset(frame) + table.fileLength(frame) - 1) / 4096 >= bad / 4096;
            if (touched) {
                expected.set(table.firstSlot(frame), table.firstSlot(frame) + table.slotCount(frame));
            }
        }
        assertTrue(expected.cardinality() < table.slots());

        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
            assertEquals(Map.of(1L, expected), lost(store));
            for (Map.Entry<Long, byte[]> each : chunks.byId.entrySet()) {
                if (!expected.get(ChunkId.slot(each.getKey()))) {
                    assertArrayEquals(each.getValue(), TestChunks.read(store, each.getKey()));
                }
            }
        }
        assertFalse(disk.exists(OPEN));
        assertArrayEquals(original, disk.contents(ASIDE));
        try (ContainerStore again = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(), again.recovered());
            assertArrayEquals(original, disk.contents(ASIDE));
            assertEquals(1, again.highestAtOpening());
        }
    }

    @Test
    void aDiskThatGivesNothingOfAContainerDoesNotStopTheMount() throws IOException {
        CrashDirectory disk = new CrashDirectory(seed);
        FrameTable table = leaveOpen(disk);
        disk.failReads(OPEN, 0, Integer.MAX_VALUE);
        fixture.claims = all(table);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(), store.recovered());
            assertEquals(table.slots(), lost(store).get(1L).cardinality());
            assertFalse(store.exists(1));
        }
        assertTrue(disk.exists(ASIDE));
    }

    @Test
    void aTornTailThatNobodyRefersToLeavesNothingBehind() throws IOException {
        CrashDirectory disk = new CrashDirectory(seed);
        FrameTable table = leaveOpen(disk);
        byte[] file = disk.contents(OPEN);
        file[(int) table.fileOffset(table.frames() - 1) + 60] ^= 1;
        disk.put(OPEN, file);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
            assertEquals(Map.of(), lost(store));
        }
        assertEquals(List.of(SEALED), disk.list());
    }

    @Test
    void filesThatClaimToBeHugeTakeNoMemory(@TempDir Path folder) throws IOException {
        FileDirectory disk = FileDirectory.open(folder);
        CrashDirectory small = new CrashDirectory(seed);
        FrameTable table = leaveOpen(small);
        byte[] open = small.contents(OPEN);
        Path file = folder.resolve(OPEN);
        Files.createDirectories(file.getParent());
        Files.write(file, open);
        stretch(file);
        // A sealed one with a directory that begins where the frames end and covers the rest of the file.
        Bytes footer = new Bytes(ContainerFormat.FOOTER_BYTES);
        long length = 1_900_000_000L;
        ContainerFormat.putFooter(
                new ContainerFormat.Footer(new ContainerIdentity(2, 7, 1), (int) (length - 100_000), 32, (int)
                        (length - 32 - ContainerFormat.FOOTER_BYTES)),
                footer);
        Path sealed = folder.resolve(ContainerFormat.fileName(2, ContainerFormat.SEALED_SUFFIX));
        Files.write(sealed, new byte[] {1});
        try (RandomAccessFile access = new RandomAccessFile(sealed.toFile(), "rw")) {
            access.seek(length - footer.length());
            access.write(footer.array(), 0, footer.length());
        }
        fixture.claims = all(table);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            chunks.assertAllReadable(store);
            assertThrows(CorruptionException.class, () -> store.directory(2));
            assertThrows(CorruptionException.class, () -> store.frameTable(2));
        }
        assertTrue(Files.exists(folder.resolve(ASIDE)));
    }

    private static void stretch(Path file) throws IOException {
        try (RandomAccessFile access = new RandomAccessFile(file.toFile(), "rw")) {
            access.setLength(1_900_000_000L);
        }
    }

    @Test
    void anOpenFileOfAnotherHistoryBesideASealedOneIsKeptAside() throws IOException {
        CrashDirectory other = new CrashDirectory(seed);
        leaveOpen(other);
        byte[] open = withSalt(other.contents(OPEN), 0x77);
        CrashDirectory disk = sealedDisk(new TestChunks());
        byte[] sealed = disk.contents(SEALED);
        disk.put(OPEN, open);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(), store.recovered());
        }
        assertArrayEquals(sealed, disk.contents(SEALED));
        assertArrayEquals(open, disk.contents(ContainerFormat.fileName(1, ".0000000000000077.aside")));
        assertFalse(disk.exists(OPEN));
    }

    @Test
    void theOneOfTwoThatTheVolumeRefersToTakesTheName() throws IOException {
        CrashDirectory disk = new CrashDirectory(seed);
        FrameTable table = leaveOpen(disk);
        byte[] foreign = sealedDisk(new TestChunks()).contents(SEALED);
        byte[] otherSalt = withFooterSalt(foreign, 0x99);
        disk.put(SEALED, otherSalt);
        fixture.claims = all(table);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
            assertEquals(Map.of(), lost(store));
            chunks.byId.keySet().removeIf(id -> ChunkId.slot(id) >= table.slots());
            chunks.assertAllReadable(store);
        }
        assertArrayEquals(otherSalt, disk.contents(ContainerFormat.fileName(1, ".unknown.aside")));
    }

    @Test
    void anOpenFileWhoseSealedOneHasAllOfItIsRemoved() throws IOException {
        CrashDirectory disk = new CrashDirectory(seed);
        leaveOpen(disk);
        byte[] open = disk.contents(OPEN);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
        }
        disk.put(OPEN, open);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
            chunks.assertAllReadable(store);
        }
        assertEquals(List.of(SEALED), disk.list());
    }

    @Test
    void anOpenFileThatHasMoreThanTheSealedOneIsKept() throws IOException {
        CrashDirectory disk = new CrashDirectory(seed);
        FrameTable table = leaveOpen(disk);
        byte[] open = disk.contents(OPEN);
        byte[] torn = open.clone();
        torn[(int) table.fileOffset(1) + 60] ^= 1;
        disk.put(OPEN, torn);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
        }
        disk.put(OPEN, open);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(), store.recovered());
        }
        assertArrayEquals(open, disk.contents(ASIDE));
    }

    @Test
    void aContainerThatExistsIsNeverWrittenOver() throws IOException {
        CrashDirectory disk = sealedDisk(new TestChunks());
        byte[] sealed = disk.contents(SEALED);
        fixture.lastId.set(0);
        try (ContainerStore store = fixture.openWithoutTables(disk);
                ContainerWriter writer = store.writer(1)) {
            assertThrows(FileAlreadyExistsException.class, () -> chunks.append(writer, TestChunks.chunk(random, 1000)));
        }
        assertArrayEquals(sealed, disk.contents(SEALED));
    }

    @Test
    void aFileOfAnotherWritingIsNotReadForTheOneThatIsMeant() throws IOException {
        CrashDirectory disk = sealedDisk(chunks);
        ContainerClaims others = new ContainerClaims() {
            @Override
            public Writing writing(long container) {
                return new Writing(0x55, 1);
            }

            @Override
            public BitSet slots(long container) {
                return new BitSet();
            }
        };
        long id = chunks.byId.keySet().iterator().next();
        try (ContainerStore store = fixture.open(disk)) {
            assertArrayEquals(chunks.byId.get(id), TestChunks.read(store, id));
        }
        fixture.claims = others;
        try (ContainerStore store = fixture.open(disk)) {
            assertThrows(CorruptionException.class, () -> TestChunks.read(store, id));
        }
    }

    @Test
    void anErrorWhileSealingIsToldToWhoeverWaits() throws IOException {
        CrashDirectory disk = new CrashDirectory(seed);
        AtomicBoolean broken = new AtomicBoolean();
        Directory failing = (Directory) Proxy.newProxyInstance(
                Directory.class.getClassLoader(), new Class<?>[] {Directory.class}, (proxy, method, arguments) -> {
                    if (broken.get() && method.getName().equals("rename")) {
                        throw new StackOverflowError("made by the test");
                    }
                    return method.invoke(disk, arguments);
                });
        try (ContainerStore store = fixture.open(failing)) {
            try (ContainerWriter writer = store.writer(1)) {
                chunks.append(writer, TestChunks.chunk(random, 1000));
            }
            broken.set(true);
            assertTimeoutPreemptively(Duration.ofMinutes(2), () -> assertThrows(IOException.class, store::sealAll));
            broken.set(false);
        }
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            chunks.assertAllReadable(store);
        }
    }

    /** A disk with one sealed container, of id 1. */
    private CrashDirectory sealedDisk(TestChunks stored) throws IOException {
        CrashDirectory disk = new CrashDirectory(seed);
        fixture.lastId.set(0);
        try (ContainerStore store = fixture.open(disk)) {
            try (ContainerWriter writer = store.writer(1)) {
                for (int i = 0; i < 10; i++) {
                    stored.append(writer, TestChunks.chunk(random, 1000));
                }
            }
            store.sealAll();
        }
        return disk;
    }

    private static byte[] withSalt(byte[] file, long salt) {
        Bytes header = new Bytes(ContainerFormat.HEADER_BYTES);
        ContainerFormat.putHeader(new ContainerIdentity(1, salt, 1), header);
        byte[] changed = file.clone();
        System.arraycopy(header.array(), 0, changed, 0, header.length());
        return changed;
    }

    /** Header and footer with another salt. */
    private static byte[] withFooterSalt(byte[] file, long salt) throws IOException {
        byte[] changed = withSalt(file, salt);
        int at = file.length - ContainerFormat.FOOTER_BYTES;
        byte[] old = Arrays.copyOfRange(file, at, file.length);
        ContainerFormat.Footer footer = ContainerFormat.readFooter(old, 1, file.length, "test");
        Bytes now = new Bytes(ContainerFormat.FOOTER_BYTES);
        ContainerFormat.putFooter(
                new ContainerFormat.Footer(
                        new ContainerIdentity(1, salt, 1),
                        footer.tableBytes(),
                        footer.directoryOffset(),
                        footer.directoryBytes()),
                now);
        System.arraycopy(now.array(), 0, changed, at, now.length());
        return changed;
    }
}
