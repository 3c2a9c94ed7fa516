package org.opendedup.sar.sort;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;

class TupleSortTest {
    private static final String VALUE = "a secret";
    private static final String EQUAL = "equal blocks";

    private record Tuple(long key, long number) {}

    @TempDir
    Path folder;

    private Directory scratch;

    @BeforeEach
    void open() throws IOException {
        scratch = FileDirectory.open(folder);
    }

    /** With 10 tuples in memory there are more runs than are merged at once; with 4000, one; with more, no files. */
    @ParameterizedTest
    @ValueSource(ints = {1, 10, 1000, 4000, 6000, 1 << 20})
    void whatDoesNotFitInMemoryIsSortedAndKeepsItsOrderWithinAKey(int tuplesInMemory) throws IOException {
        sort(tuplesInMemory, null);
        sort(tuplesInMemory, TestKeys.of(1));
    }

    private void sort(int tuplesInMemory, @Nullable VolumeKeys keys) throws IOException {
        Random random = new Random(TestSeed.next());
        List<Tuple> tuples = new ArrayList<>();
        try (TupleSort sort = new TupleSort(scratch, "run", 2, tuplesInMemory * 2 * Long.BYTES, () -> {}, keys)) {
            for (int i = 0; i < 3000; i++) {
                Tuple tuple = new Tuple(random.nextInt(500) - 100, i);
                tuples.add(tuple);
                sort.add(new long[] {tuple.key, tuple.number});
            }
            tuples.sort(Comparator.comparingLong(Tuple::key));
            assertEquals(tuples, read(sort.sorted(Long.MIN_VALUE)));
            long from = random.nextInt(500) - 100;
            assertEquals(tuples.stream().filter(tuple -> tuple.key >= from).toList(), read(sort.sorted(from)));
            assertEquals(tuplesInMemory >= 6000, scratch.list().isEmpty());
        }
        assertEquals(List.of(), scratch.list());
    }

    @Test
    void sortingIsStopped() throws IOException {
        int[] fingerprintPrefixes = {0};
        try (TupleSort sort = new TupleSort(
                scratch,
                "run",
                2,
                2 * Long.BYTES,
                () -> {
                    if (++fingerprintPrefixes[0] == 1000) {
                        throw new InterruptedIOException("stopped");
                    }
                },
                null)) {
            assertThrows(InterruptedIOException.class, () -> {
                for (int i = 0; i < 3000; i++) {
                    sort.add(new long[] {i, i});
                }
            });
        }
        assertEquals(List.of(), scratch.list());
    }

    /** A level's runs are merged when it is full: a tuple is written once per level, not once per merge. */
    @Test
    void eachTupleIsWrittenOnceForEachLevel() throws IOException {
        int[] flushes = {0};
        int count = 32 * 32 * 2;
        try (TupleSort sort = new TupleSort(scratch, "run", 2, 2 * Long.BYTES, () -> flushes[0]++, null)) {
            for (int i = 0; i < count; i++) {
                sort.add(new long[] {i, i});
            }
            assertEquals(count, read(sort.sorted(0)).size());
        }
        // Runs of 1, of 32 and of 1024 tuples: a flush each.
        assertEquals(count + count / 32 + count / 1024, flushes[0]);
    }

    /** Nor are equal blocks equal there: of two runs, and of two sorts. */
    @Test
    void noTupleIsInTheFilesOfAnEncryptedVolume() throws IOException {
        assertEquals(Set.of(), valuesInFiles(TestKeys.of(1)));
        assertEquals(Set.of(VALUE, EQUAL), valuesInFiles(null), "the control");
    }

    private Set<String> valuesInFiles(@Nullable VolumeKeys keys) throws IOException {
        Set<String> found = new HashSet<>();
        Set<String> beginnings = new HashSet<>();
        for (int sorting = 0; sorting < 2; sorting++) {
            try (TupleSort sort = new TupleSort(scratch, "run", 1, 4 * Long.BYTES, () -> {}, keys)) {
                for (int i = 0; i < 8; i++) {
                    sort.add(new long[] {
                        ByteBuffer.wrap(VALUE.getBytes(US_ASCII))
                                .order(LITTLE_ENDIAN)
                                .getLong()
                    });
                }
                assertTrue(sort.sorted(0).next());
                assertEquals(2, scratch.list().size());
                for (String run : scratch.list()) {
                    String bytes = Files.readString(folder.resolve(run), ISO_8859_1);
                    if (bytes.contains(VALUE)) {
                        found.add(VALUE);
                    }
                    if (!beginnings.add(bytes.substring(0, VALUE.length()))) {
                        found.add(EQUAL);
                    }
                }
            }
        }
        return found;
    }

    @Test
    void aBlockThatWasChangedIsRefused() throws IOException {
        try (TupleSort sort = new TupleSort(scratch, "run", 1, Long.BYTES, () -> {}, TestKeys.of(1))) {
            sort.add(new long[] {1});
            sort.add(new long[] {2});
            Path run = folder.resolve(scratch.list().get(0));
            byte[] bytes = Files.readAllBytes(run);
            bytes[3] ^= 1;
            Files.write(run, bytes);
            assertThrows(CorruptionException.class, () -> sort.sorted(0));
        }
    }

    @Test
    void nothingSortedIsNothing() throws IOException {
        try (TupleSort sort = new TupleSort(scratch, "run", 2, 1 << 20, () -> {}, null)) {
            assertFalse(sort.sorted(0).next());
        }
        assertTrue(scratch.list().isEmpty());
    }

    private static List<Tuple> read(TupleSort.Cursor cursor) throws IOException {
        List<Tuple> read = new ArrayList<>();
        while (cursor.next()) {
            read.add(new Tuple(cursor.get(0), cursor.get(1)));
        }
        return read;
    }
}
