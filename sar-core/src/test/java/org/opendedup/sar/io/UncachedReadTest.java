package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.abort;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UncachedReadTest {
    @TempDir
    Path folder;

    @Test
    void anyByteOfAFileLeadsToItsBlock() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[10_000]);
        for (long offset : new long[] {0, 1, 4096, 9_999}) {
            assertDoesNotThrow(() -> UncachedRead.block(file, offset), () -> "offset " + offset);
        }
    }

    /** Without the kernel's cache a read must begin at a block: the offsets above are those of bytes. */
    @Test
    void controlAReadThatBeginsElsewhereIsRefused() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[10_000]);
        int block = Math.toIntExact(Files.getFileStore(file).getBlockSize());
        ByteBuffer target =
                ByteBuffer.allocateDirect(2 * block).alignedSlice(block).limit(block);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
            assertThrows(IOException.class, () -> channel.read(target, 1));
        } catch (UnsupportedOperationException e) {
            abort("the file system of temporary files reads only through the cache");
        }
    }

    @Test
    void aMissingFileIsTold() {
        assertThrows(NoSuchFileException.class, () -> UncachedRead.block(folder.resolve("none"), 0));
    }
}
