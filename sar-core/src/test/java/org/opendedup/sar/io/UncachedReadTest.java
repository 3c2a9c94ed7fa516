package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UncachedReadTest {
    @TempDir
    Path folder;

    @Test
    void anyByteOfAFileLeadsToItsBlock() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[10_000]);
        for (long offset : new long[] {0, 1, 4096, 9_999}) {
            UncachedRead.block(file, offset);
        }
    }

    @Test
    void aMissingFileIsTold() {
        assertThrows(NoSuchFileException.class, () -> UncachedRead.block(folder.resolve("none"), 0));
    }
}
