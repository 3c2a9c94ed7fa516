package org.opendedup.sar.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.io.RandomFile;

class FileRawFolderTest extends RawFolderContract {
    private static final UUID VOLUME = new UUID(1, 2);

    @TempDir
    Path location;

    @Override
    RawFolder empty() throws IOException {
        FileRawFolder.create(location, VOLUME, null);
        return FileRawFolder.open(location, VOLUME);
    }

    @Test
    void itIsTakenForNoOtherVolumesFolder() throws IOException {
        assertThrows(NoSuchFileException.class, () -> FileRawFolder.open(location, VOLUME));
        assertFalse(FileRawFolder.exists(location));
        empty().close();
        assertTrue(FileRawFolder.exists(location));
        IOException refused = assertThrows(IOException.class, () -> FileRawFolder.open(location, new UUID(1, 3)));
        assertTrue(refused.getMessage().contains(VOLUME.toString()), refused::getMessage);
        Files.delete(location.resolve("raw/volume"));
        assertThrows(NoSuchFileException.class, () -> FileRawFolder.open(location, VOLUME));
    }

    @Test
    void filesAreSpreadByTheLastByteOfTheirInode() throws IOException {
        try (RawFolder folder = empty()) {
            folder.create(RawNumbers.next(RawNumbers.first(0x13f))).close();
            assertTrue(Files.exists(location.resolve("raw/3f/0000000000013f01")));
        }
    }

    @Test
    void aFileIsInUseWhileAProcessHasItMapped() throws Exception {
        try (RawFolder folder = empty()) {
            try (RandomFile file = folder.create(0x700)) {
                file.write(0, ByteBuffer.wrap(new byte[5000]));
            }
            Path path = location.resolve("raw/07/0000000000000700");
            for (boolean isWritable : new boolean[] {false, true}) {
                try (OutlivingMapping mapping = OutlivingMapping.of(path, isWritable)) {
                    assertEquals(!isWritable, folder.isAtRest(0x700));
                    assertFalse(folder.isUnused(0x700));
                }
                assertTrue(folder.isAtRest(0x700));
                assertTrue(folder.isUnused(0x700));
            }
        }
    }

    /** As when its device is unmounted, or another one is mounted over it. */
    @Test
    void itsFilesAreFoundWhateverIsAtItsPath() throws IOException {
        try (RawFolder folder = empty()) {
            try (RandomFile file = folder.create(0x700)) {
                file.write(0, ByteBuffer.wrap(new byte[5]));
            }
            Files.move(location.resolve("raw"), location.resolve("away"));
            Path below = Files.createDirectories(location.resolve("raw/07"));
            Files.writeString(location.resolve("raw/volume"), VOLUME.toString());
            try (RandomFile file = folder.open(0x700)) {
                assertEquals(5, file.status().size());
            }
            folder.create(0x701).close();
            folder.delete(0x700);
            folder.forEach(number -> assertEquals(0x701, number));
            assertTrue(Files.exists(location.resolve("away/07/0000000000000701")));
            assertFalse(Files.exists(location.resolve("away/07/0000000000000700")));
            try (Stream<Path> there = Files.list(below)) {
                assertEquals(0, there.count());
            }
        }
    }

    @Test
    void aFileIsMissingOnlyWhileItIsTheVolumesFolder() throws IOException {
        try (RawFolder folder = empty()) {
            assertThrows(NoSuchFileException.class, () -> folder.open(0x700));
            Path identity = location.resolve("raw/volume");
            for (String other : new String[] {"", new UUID(1, 3).toString()}) {
                Files.writeString(identity, other);
                assertNotMissing(folder);
            }
            Files.delete(identity);
            assertNotMissing(folder);
        }
    }

    private static void assertNotMissing(RawFolder folder) {
        assertThrows(IOException.class, () -> folder.status(0x700));
        IOException refused = assertThrows(IOException.class, () -> folder.open(0x700));
        assertFalse(refused instanceof NoSuchFileException, refused::toString);
    }

    @Test
    void afterItsCloseNoCallIsMade() throws IOException {
        RawFolder folder = empty();
        folder.create(0x700).close();
        folder.close();
        folder.close();
        assertThrows(IOException.class, () -> folder.delete(0x700));
        assertTrue(Files.exists(location.resolve("raw/07/0000000000000700")));
    }
}
