package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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
}
