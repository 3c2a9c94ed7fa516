package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

/** The contract of every {@link Directory}. */
abstract class DirectoryContract {
    private Directory directory;

    abstract Directory newDirectory() throws IOException;

    @BeforeEach
    void makeDirectory() throws IOException {
        directory = newDirectory();
    }

    private void write(String name, byte[]... pieces) throws IOException {
        try (Output output = directory.create(name)) {
            long expected = 0;
            for (byte[] piece : pieces) {
                assertEquals(expected, output.append(ByteBuffer.wrap(piece)));
                expected += piece.length;
                assertEquals(expected, output.position());
            }
            output.force();
        }
    }

    private byte[] read(String name, long offset, int count) throws IOException {
        byte[] bytes = new byte[count];
        try (Input input = directory.open(name)) {
            input.readFully(offset, ByteBuffer.wrap(bytes));
        }
        return bytes;
    }

    @Test
    void bytesComeBackFromAnyOffset() throws IOException {
        byte[] large = new byte[1_000_000];
        new Random(1).nextBytes(large);
        write("a/b/file", new byte[] {1, 2, 3}, large);
        directory.sync();
        assertArrayEquals(large, read("a/b/file", 3, large.length));
        assertArrayEquals(new byte[] {2, 3}, read("a/b/file", 1, 2));
        assertEquals(3 + large.length, directory.length("a/b/file"));
    }

    @Test
    void directBuffersAreWrittenAndReadAsWell() throws IOException {
        ByteBuffer source = ByteBuffer.allocateDirect(5)
                .put(new byte[] {9, 8, 7, 6, 5})
                .flip()
                .position(1);
        try (Output output = directory.create("file")) {
            output.append(source);
        }
        assertFalse(source.hasRemaining());
        ByteBuffer target = ByteBuffer.allocateDirect(4);
        try (Input input = directory.open("file")) {
            input.readFully(0, target);
        }
        assertEquals(ByteBuffer.wrap(new byte[] {8, 7, 6, 5}), target.flip());
    }

    @Test
    void aFileIsReadWhileItGrows() throws IOException {
        try (Output output = directory.create("file");
                Input input = directory.open("file")) {
            assertEquals(0, input.length());
            output.append(ByteBuffer.wrap(new byte[] {4}));
            assertEquals(1, input.length());
            ByteBuffer target = ByteBuffer.allocate(1);
            input.readFully(0, target);
            assertEquals(4, target.get(0));
        }
    }

    @Test
    void readingBeyondTheEndIsAnError() throws IOException {
        write("file", new byte[] {1, 2, 3});
        assertThrows(EOFException.class, () -> read("file", 2, 2));
        assertThrows(EOFException.class, () -> read("file", 7, 1));
    }

    @Test
    void anExistingFileIsNotCreatedAgain() throws IOException {
        write("file", new byte[] {1});
        assertThrows(FileAlreadyExistsException.class, () -> directory.create("file"));
        assertArrayEquals(new byte[] {1}, read("file", 0, 1));
    }

    @Test
    void aMissingFileIsAnError() {
        assertThrows(NoSuchFileException.class, () -> directory.open("x/missing"));
        assertThrows(NoSuchFileException.class, () -> directory.length("missing"));
        assertThrows(NoSuchFileException.class, () -> directory.delete("missing"));
        assertThrows(NoSuchFileException.class, () -> directory.rename("missing", "other"));
        assertFalse(exists("missing"));
    }

    private boolean exists(String name) {
        try {
            return directory.exists(name);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void renamingReplacesTheTargetAndKeepsOpenFilesReadable() throws IOException {
        write("from", new byte[] {1});
        write("to", new byte[] {2});
        try (Input before = directory.open("from")) {
            directory.rename("from", "to");
            directory.rename("to", "new/folder/name");
            ByteBuffer target = ByteBuffer.allocate(1);
            before.readFully(0, target);
            assertEquals(1, target.get(0));
        }
        assertEquals(List.of("new/folder/name"), directory.list());
        assertArrayEquals(new byte[] {1}, read("new/folder/name", 0, 1));
    }

    @Test
    void theListIsSortedAndForgetsDeletedFiles() throws IOException {
        for (String name : List.of("b", "a/2", "a/1", "c/d/e")) {
            write(name, new byte[] {1});
        }
        directory.delete("b");
        directory.sync();
        directory.sync();
        assertEquals(List.of("a/1", "a/2", "c/d/e"), directory.list());
        assertTrue(directory.exists("a/1"));
        assertTrue(directory.usableBytes() > 0);
    }

    @Test
    void aVisitorSeesEachNameOnceAndMayDeleteTheFiles() throws IOException {
        for (int i = 0; i < 100; i++) {
            write(i % 7 + "/" + i, new byte[] {1});
        }
        List<String> seen = new ArrayList<>();
        directory.forEach(name -> {
            seen.add(name);
            if (name.endsWith("3")) {
                directory.delete(name);
            }
        });
        List<String> left =
                seen.stream().filter(name -> !name.endsWith("3")).sorted().toList();
        assertEquals(100, seen.stream().distinct().count());
        assertEquals(100, seen.size());
        assertEquals(left, directory.list());
    }

    @Test
    void theListFromANameHasThatNameAndAllAfterIt() throws IOException {
        // "!" is less than "/", and "0" greater.
        List<String> names = List.of("a", "a!", "a!x/1", "b/1", "b/10", "b/2", "b/c/3", "b/c0", "b0", "b0/1", "c/d/e");
        for (String name : names) {
            if (!name.equals("b0")) {
                write(name, new byte[] {1});
            }
        }
        List<String> all = directory.list();
        List<String> from = new ArrayList<>(names);
        from.addAll(List.of("", "!", "a/", "b", "b/", "b/c", "b/c/", "b/c/2", "b/c/4", "c", "c/d", "c/d/f", "d"));
        for (String least : from) {
            List<String> expected =
                    all.stream().filter(name -> name.compareTo(least) >= 0).toList();
            assertEquals(expected, directory.listFrom(least), "from \"" + least + "\"");
        }
        assertEquals(all, directory.listFrom(""));
        assertEquals(List.of("c/d/e"), directory.listFrom("c"));
    }

    @Test
    void reservedSpaceChangesNeitherLengthNorBytes() throws IOException {
        byte[] first = {1, 2, 3};
        byte[] second = {4, 5};
        try (Output output = directory.create("file")) {
            output.append(ByteBuffer.wrap(first));
            boolean reserved = output.reserve(100_000);
            assertEquals(3, directory.length("file"));
            assertEquals(3, output.position());
            assertEquals(3, output.append(ByteBuffer.wrap(second)));
            output.trim();
            assertEquals(5, directory.length("file"));
            assertEquals(5, output.append(ByteBuffer.wrap(first)));
            assertEquals(reserved, output.reserve(100_000), "the same again");
            output.force();
        }
        directory.trim("file");
        directory.trim("file");
        assertEquals(8, directory.length("file"));
        assertArrayEquals(new byte[] {1, 2, 3, 4, 5, 1, 2, 3}, read("file", 0, 8));
        assertThrows(EOFException.class, () -> read("file", 8, 1));
    }

    @Test
    void aMissingFileIsNotTrimmed() {
        assertThrows(NoSuchFileException.class, () -> directory.trim("missing"));
    }

    /** Of the ranges, one is at the start, two are neighbours, two begin or end within blocks. */
    @Test
    void releasedRangesAreZerosWhileTheFileGrowsAndNothingElseChanges() throws IOException {
        long seed = TestSeed.next();
        byte[] expected = new byte[1_000_000];
        new Random(seed).nextBytes(expected);
        byte[] more = {1, 2, 3};
        List<FileRange> ranges = List.of(
                new FileRange(0, 65_536),
                new FileRange(131_072, 65_536),
                new FileRange(196_608, 65_536),
                new FileRange(400_001, 100_000),
                new FileRange(600_000, 10));
        try (Output output = directory.create("file")) {
            output.append(ByteBuffer.wrap(expected));
            output.force();
            long before = directory.allocatedBytes("file");
            directory.trim("file");
            assertEquals(before, directory.allocatedBytes("file"), "the control: a trim gives nothing back");

            assertTrue(directory.release("file", ranges));

            for (FileRange range : ranges) {
                Arrays.fill(expected, (int) range.offset(), (int) range.end(), (byte) 0);
            }
            assertEquals(expected.length, directory.length("file"));
            assertArrayEquals(expected, read("file", 0, expected.length));
            long gone = before - directory.allocatedBytes("file");
            assertTrue(gone >= 3 * 65_536 + 90_000 && gone <= 3 * 65_536 + 100_010, gone + " bytes were given back");
            assertTrue(directory.release("file", ranges), "the same again");
            assertEquals(gone, before - directory.allocatedBytes("file"));

            assertEquals(expected.length, output.append(ByteBuffer.wrap(more)));
            output.force();
        }
        assertArrayEquals(expected, read("file", 0, expected.length));
        assertArrayEquals(more, read("file", expected.length, more.length));
        assertEquals(expected.length + more.length, directory.length("file"));
    }

    @Test
    void aReleaseBeyondTheEndOfAClosedFileKeepsItsLength() throws IOException {
        write("file", new byte[] {1, 2, 3});
        assertTrue(directory.release("file", List.of(new FileRange(1, 1 << 20), new FileRange(1L << 40, 4096))));
        assertEquals(3, directory.length("file"));
        assertArrayEquals(new byte[] {1, 0, 0}, read("file", 0, 3));
    }

    /** Asked of the temporary folder's file system, which is none that gives back whole extents only. */
    @Test
    void whetherRangesComeBackIsKnownWithoutAChange() throws IOException {
        write("file", new byte[] {1, 2, 3});
        long allocated = directory.allocatedBytes("file");
        assertTrue(directory.freesRanges("file"));
        assertEquals(3, directory.length("file"));
        assertEquals(allocated, directory.allocatedBytes("file"));
        assertArrayEquals(new byte[] {1, 2, 3}, read("file", 0, 3));
        assertThrows(NoSuchFileException.class, () -> directory.freesRanges("missing"));
    }

    @Test
    void ofAMissingFileNothingIsReleased() {
        assertThrows(NoSuchFileException.class, () -> directory.release("missing", List.of(new FileRange(0, 1))));
        assertThrows(NoSuchFileException.class, () -> directory.allocatedBytes("missing"));
    }

    @Test
    void reservedSpaceIsAllocated() throws IOException {
        try (Output output = directory.create("file")) {
            output.append(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            output.force();
            long before = directory.allocatedBytes("file");
            assertTrue(before < 100_000, before + " bytes");
            assumeTrue(output.reserve(1_000_000), "no space can be reserved here");
            assertTrue(directory.allocatedBytes("file") >= 1_000_000);
            output.trim();
            assertEquals(before, directory.allocatedBytes("file"));
        }
    }

    @Test
    void theLayoutOfARangeIsThatPartOfTheLayoutOfTheFile() throws IOException {
        write("file", new byte[1 << 20]);
        try (Input input = directory.open("file")) {
            FileLayout file = input.layout(0, Long.MAX_VALUE);
            for (long offset : new long[] {0, 1, 4096, 100_001, (1 << 20) - 1, 1 << 20, 1 << 21}) {
                for (long length : new long[] {0, 1, 4096, 77_777, Long.MAX_VALUE}) {
                    FileLayout range = input.layout(offset, length);
                    for (long at : new long[] {0, 1, 4095, 77_776, 77_777, 1 << 20}) {
                        long expected = at < length ? file.place(offset + at) : -1;
                        assertEquals(expected, range.place(at), offset + " + " + at + " of " + length);
                    }
                }
            }
        }
    }
}
