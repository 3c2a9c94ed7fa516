package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.TestSegments;

/** Pointer {@code p} belongs to fingerprint {@code p}. */
class CuckooTableTest {
    private static final CuckooTable.Keys KEYS =
            (pointer, target) -> System.arraycopy(TestSegments.fingerprint(pointer), 0, target, 0, Fingerprints.BYTES);

    private final long[] found = new long[64];

    private boolean has(CuckooTable table, long pointer) {
        int count = table.candidates(TestSegments.fingerprint(pointer), 0, found);
        return Arrays.stream(found, 0, count).anyMatch(one -> one == pointer);
    }

    private static void fill(CuckooTable table, long from, long to) throws IOException {
        for (long pointer = from; pointer < to; pointer++) {
            table.insert(TestSegments.fingerprint(pointer), 0, pointer, KEYS);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 5})
    void allPointersAreFoundAtMostLoad(int pointerBytes) throws IOException {
        CuckooTable table = new CuckooTable(100_000, pointerBytes, CuckooTable.CANDIDATES);
        long first = pointerBytes == 4 ? 1 : 1L << 39;
        fill(table, first, first + 90_000);

        assertFalse(table.hasRoomFor(1));
        assertEquals(90_000, table.size());
        for (long pointer = first; pointer < first + 90_000; pointer++) {
            assertTrue(has(table, pointer), "pointer " + pointer);
        }
        assertTrue(table.memoryBytes() <= 100_000L * CuckooTable.slotBytes(pointerBytes) + 1000);
    }

    /** ChunkStash, section 4.4: at most 0.1 relocations an insertion between 75 and 90 % load, with 24 candidates. */
    @Test
    void fewAreRelocatedUpToMostLoad() throws IOException {
        CuckooTable table = new CuckooTable(200_000, 4, CuckooTable.CANDIDATES);
        fill(table, 1, 150_000);
        long before = table.relocations();
        fill(table, 150_000, 180_000);

        double relocations = (table.relocations() - before) / 30_000.0;
        System.out.println("relocations an insertion at 75 to 90 %: " + relocations);
        assertTrue(relocations <= 0.1, relocations + " relocations an insertion");
        assertEquals(0, table.auxiliarySize());
    }

    /** Of a client's fingerprints with 16 bytes, the others are the same in all: they choose no place. */
    @Test
    void fingerprintsOf16BytesFillTheTableAsWell() throws IOException {
        CuckooTable.Keys keys =
                (pointer, target) -> System.arraycopy(ofClient(pointer), 0, target, 0, Fingerprints.BYTES);
        CuckooTable table = new CuckooTable(100_000, 4, CuckooTable.CANDIDATES);
        for (long pointer = 1; pointer <= 90_000; pointer++) {
            table.insert(ofClient(pointer), 0, pointer, keys);
        }
        assertEquals(0, table.auxiliarySize());
    }

    private static byte[] ofClient(long pointer) throws IOException {
        return ContentHash.MD5.stored(Arrays.copyOf(TestSegments.fingerprint(pointer), ContentHash.MD5.bytes()));
    }

    /** Each of 24 candidates matches by chance with 2^-16: 0.033 % of unknown fingerprints at 90 % load. */
    @Test
    void fewUnknownFingerprintsHaveACandidate() throws IOException {
        CuckooTable table = new CuckooTable(100_000, 4, CuckooTable.CANDIDATES);
        fill(table, 1, 90_000);
        int asked = 1_000_000;
        int candidates = 0;
        for (int i = 0; i < asked; i++) {
            candidates += table.candidates(TestSegments.fingerprint(1_000_000L + i), 0, found);
        }
        double expected = asked * CuckooTable.CANDIDATES * CuckooTable.MOST_LOAD / 65536;
        System.out.println("false candidates of " + asked + " unknown fingerprints: " + candidates);
        assertEquals(expected, candidates, 5 * Math.sqrt(expected));
    }

    /** ChunkStash, section 4.4: 0.01 % of the reads for known fingerprints are false. */
    @Test
    void fewReadsForKnownFingerprintsAreFalse() throws IOException {
        CuckooTable table = new CuckooTable(500_000, 4, CuckooTable.CANDIDATES);
        fill(table, 1, 450_000);
        int falseReads = 0;
        for (long pointer = 1; pointer < 450_000; pointer++) {
            table.candidates(TestSegments.fingerprint(pointer), 0, found);
            for (int i = 0; found[i] != pointer; i++) {
                falseReads++;
            }
        }
        System.out.println("false reads of 450000 known fingerprints: " + falseReads);
        assertTrue(falseReads <= 45, falseReads + " false reads");
    }

    @Test
    void aTableThatIsTooFullPutsPointersAside() throws IOException {
        CuckooTable table = new CuckooTable(1000, 4, CuckooTable.CANDIDATES);
        fill(table, 1, 1100);

        assertTrue(table.auxiliarySize() >= 99);
        for (long pointer = 1; pointer < 1100; pointer++) {
            assertTrue(has(table, pointer), "pointer " + pointer);
        }
        for (long pointer = 1; pointer < 1100; pointer++) {
            assertTrue(table.remove(TestSegments.fingerprint(pointer), 0, pointer));
        }
        assertEquals(0, table.size());
        assertEquals(0, table.auxiliarySize());
    }

    @Test
    void whatASetWouldContainIsFound() throws IOException {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        CuckooTable table = new CuckooTable(500, 4, CuckooTable.CANDIDATES);
        Set<Long> model = new HashSet<>();
        for (int step = 0; step < 20_000; step++) {
            long pointer = 1 + random.nextInt(700);
            byte[] fingerprint = TestSegments.fingerprint(pointer);
            if (model.contains(pointer)) {
                assertTrue(has(table, pointer), "seed " + seed);
                if (random.nextBoolean()) {
                    assertTrue(table.remove(fingerprint, 0, pointer), "seed " + seed);
                    model.remove(pointer);
                }
            } else {
                assertFalse(has(table, pointer), "seed " + seed);
                assertFalse(table.remove(fingerprint, 0, pointer), "seed " + seed);
                table.insert(fingerprint, 0, pointer, KEYS);
                model.add(pointer);
            }
            assertEquals(model.size(), table.size(), "seed " + seed);
        }
        table.retain(pointer -> pointer % 3 == 0);
        model.removeIf(pointer -> pointer % 3 != 0);
        assertEquals(model.size(), table.size(), "seed " + seed);
        for (long pointer = 1; pointer <= 700; pointer++) {
            assertEquals(model.contains(pointer), has(table, pointer), "seed " + seed);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 5})
    void aTableIsReadAsItWasWritten(int pointerBytes) throws IOException {
        CuckooTable table = new CuckooTable(1000, pointerBytes, CuckooTable.CANDIDATES);
        fill(table, 1, 1050);
        ByteBuffer bytes = ByteBuffer.allocate(1 << 16);
        table.write(bytes::put);
        bytes.flip();

        CuckooTable read = new CuckooTable(1000, pointerBytes, CuckooTable.CANDIDATES);
        read.read(
                piece -> {
                    int length = piece.remaining();
                    piece.put(bytes.slice(bytes.position(), length));
                    bytes.position(bytes.position() + length);
                },
                table.size() - table.auxiliarySize(),
                table.auxiliarySize());

        assertFalse(bytes.hasRemaining());
        assertEquals(table.size(), read.size());
        for (long pointer = 1; pointer < 1050; pointer++) {
            assertTrue(has(read, pointer));
        }
    }

    @Test
    void nothingIsLostWhenAFingerprintCannotBeRead() throws IOException {
        CuckooTable table = new CuckooTable(80, 4, CuckooTable.CANDIDATES);
        int failed = 0;
        for (long pointer = 1; pointer <= 100; pointer++) {
            int sinceBegin = failed;
            try {
                table.insert(TestSegments.fingerprint(pointer), 0, pointer, (other, target) -> {
                    if (sinceBegin % 2 == 0) {
                        throw new IOException("a test");
                    }
                    KEYS.read(other, target);
                });
            } catch (IOException e) {
                assertEquals("a test", e.getMessage());
                failed++;
            }
        }
        assertTrue(failed > 0);
        for (long pointer = 1; pointer <= 100; pointer++) {
            assertTrue(has(table, pointer), "pointer " + pointer);
        }
    }

    @Test
    void aFingerprintThatIsNotThatOfThePointerIsReported() {
        CuckooTable table = new CuckooTable(80, 4, CuckooTable.CANDIDATES);
        assertThrows(CorruptionException.class, () -> {
            for (long pointer = 1; pointer <= 100; pointer++) {
                table.insert(
                        TestSegments.fingerprint(pointer),
                        0,
                        pointer,
                        (other, target) -> Arrays.fill(target, (byte) 7));
            }
        });
        assertThrows(IllegalArgumentException.class, () -> new CuckooTable(10, 3, CuckooTable.CANDIDATES));
    }

    /** Figure 4(b) of the paper. */
    @Test
    void morePositionsNeedFewerRelocations() throws IOException {
        long before = Long.MAX_VALUE;
        for (int candidates : new int[] {8, 16, 24, 32}) {
            CuckooTable table = new CuckooTable(20_000, 4, candidates);
            fill(table, 1, 18_000);
            long moved = table.relocations();
            assertTrue(moved < before, candidates + " positions: " + moved + " relocations, fewer had " + before);
            before = moved;
        }
        assertThrows(IllegalArgumentException.class, () -> new CuckooTable(10, 4, 12));
    }
}
