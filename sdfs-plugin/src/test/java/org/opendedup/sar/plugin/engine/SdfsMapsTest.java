package org.opendedup.sar.plugin.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.plugin.HostMaps;

class SdfsMapsTest {
    @TempDir
    Path folder;

    private SdfsMaps maps() {
        return SdfsMaps.of(folder.resolve("ddb").toString(), 256, 4, 32);
    }

    /** Returns the entry with this location; its fingerprint says the same. */
    private static HostMaps.Entry entry(long location) {
        return new HostMaps.Entry(hash(location), location);
    }

    private static byte[] hash(long location) {
        return ByteBuffer.allocate(32).putLong(24, ~location).array();
    }

    private void write(String guid, long page, long... locations) throws IOException {
        List<HostMaps.Entry> entries = new ArrayList<>();
        for (long location : locations) {
            entries.add(entry(location));
        }
        HostMaps.write(folder, guid, page, entries);
    }

    private Set<Long> locations() throws IOException {
        Set<Long> locations = new TreeSet<>();
        maps().visit((fingerprint, location, length) -> {
            assertEquals(~location, ByteBuffer.wrap(fingerprint).getLong(24));
            assertEquals(4096, length);
            locations.add(location);
        });
        return locations;
    }

    private String refusal() {
        IOException e = assertThrows(IOException.class, this::locations);
        return String.valueOf(e.getMessage());
    }

    @Test
    void eachEntryOfEachMapIsVisited() throws IOException {
        write("aa-1", 0, 70_001, 70_002);
        write("aa-1", 5000, 70_003);
        write("aa-2", 1, 70_004);
        write("bc-3", 0, 70_005, 70_005, 1, -1);
        Files.writeString(HostMaps.of(folder, "bc-3").resolveSibling("cpos.txt"), "no map");
        assertEquals(Set.of(-1L, 1L, 70_001L, 70_002L, 70_003L, 70_004L, 70_005L), locations());
    }

    @Test
    void whatAShorterRecordLeavesBehindIsNotVisited() throws IOException {
        write("aa-1", 0, 1, 2, 3, 4, 5);
        write("aa-1", 0, 6, 7);
        assertEquals(Set.of(6L, 7L), locations());
    }

    @Test
    void aRecordHasRoomForTwiceTheChunksOfAPage() throws IOException {
        assertEquals(HostMaps.RECORD_BYTES, maps().recordBytes());
        assertEquals(13 + 2 * 8 * 56, SdfsMaps.of("", 128, 16, 32).recordBytes());
        long[] most = new long[128];
        for (int i = 0; i < most.length; i++) {
            most[i] = 100 + i;
        }
        write("aa-1", 0, most);
        write("aa-1", 1, 1);
        assertEquals(most.length + 1, locations().size());
        assertThrows(IllegalArgumentException.class, () -> SdfsMaps.of("", 4, 8, 32));
    }

    @Test
    void aMapThatIsBeingMadeHasNothing() throws IOException {
        write("aa-1", 0, 1, 2, 3);
        Path map = HostMaps.of(folder, "aa-1");
        try (RandomAccessFile file = new RandomAccessFile(map.toFile(), "rw")) {
            // Cut in the last of three entries, as by a kill in the middle of a call.
            file.setLength(256 + 9 + 2 * 56 + 40);
            assertEquals(Set.of(1L, 2L), locations());
            file.setLength(256 + 5);
            assertEquals(Set.of(), locations());
            file.setLength(4);
            assertEquals(Set.of(), locations());
            file.setLength(0);
            assertEquals(Set.of(), locations());
        }
    }

    @Test
    void whatIsNoMapIsNamedWithTheWayOut() throws IOException {
        write("aa-1", 3, 1);
        write("aa-2", 0, 2);
        Path map = HostMaps.of(folder, "aa-1");
        try (RandomAccessFile file = new RandomAccessFile(map.toFile(), "rw")) {
            file.seek(256 + 3L * HostMaps.RECORD_BYTES + 4);
            file.write(1);
            assertTrue(refusal().contains(map + " has no valid record for page 3. Restore it, or delete"), refusal());
            file.seek(1);
            file.write(1);
            assertTrue(refusal().contains(map + " does not begin as one of SDFS 3.12"), refusal());
        }
    }

    @Test
    void compressedAndMissingMapsAreRefused() throws IOException {
        assertTrue(refusal().contains("is a disk not mounted?"), refusal());
        write("aa-1", 0, 1);
        Path map = HostMaps.of(folder, "aa-1");
        Files.move(map, map.resolveSibling("aa-1.map.lz4"));
        assertTrue(refusal().contains("set compress-metadata to false"), refusal());
        IOException unknown = assertThrows(
                IOException.class, () -> SdfsMaps.of("", 256, 4, 32).visit((fingerprint, location, length) -> {}));
        assertTrue(String.valueOf(unknown.getMessage()).contains("dedup-db-store on <locations>"), unknown::toString);
    }

    @Test
    void mapsThatGoAwayWhileTheyAreReadAreNotTakenForDeletedOnes() throws IOException {
        write("aa-1", 0, 1);
        write("zz-1", 0, 2);
        Path maps = folder.resolve("ddb");
        Path away = folder.resolve("away");
        IOException e = assertThrows(
                IOException.class,
                () -> maps().visit((fingerprint, location, length) -> {
                    if (!Files.exists(away)) {
                        Files.move(maps, away);
                        Files.createDirectory(maps);
                    }
                }));
        assertTrue(String.valueOf(e.getMessage()).contains("another folder came to " + maps), e::toString);
    }

    @Test
    void aLinkLeadsToTheMaps() throws IOException {
        write("aa-1", 0, 1);
        Path elsewhere = Files.move(folder.resolve("ddb"), folder.resolve("elsewhere"));
        Files.createSymbolicLink(folder.resolve("ddb"), elsewhere);
        assertEquals(Set.of(1L), locations());
    }

    @Test
    void whatIsWrittenWhileMapsAreReadIsFound() throws IOException {
        write("aa-1", 0, 1);
        write("zz-1", 0, 2);
        Set<Long> found = new TreeSet<>();
        maps().visit((fingerprint, location, length) -> {
            if (found.isEmpty()) {
                // A copy of a map that is deleted then, and a page of a map that may have been read.
                write("aa-2", 0, 2);
                HostMaps.delete(folder, "zz-1");
                write("aa-1", 1, 3);
            }
            found.add(location);
        });
        assertEquals(Set.of(1L, 2L, 3L), found);
    }

    @Test
    void aRecordThatIsHalfWrittenIsReadAgain() throws IOException {
        write("aa-1", 0, 1);
        write("bb-1", 0, 2);
        Path map = HostMaps.of(folder, "aa-1");
        try (RandomAccessFile file = new RandomAccessFile(map.toFile(), "rw")) {
            file.seek(256 + 5);
            file.writeInt(7);
        }
        Files.setLastModifiedTime(map, FileTime.fromMillis(0));
        // Complete after it was read first: when the other map is read first or once more, which depends on the order.
        int[] left = {isFirst("aa") ? 1 : 2};
        Set<Long> found = new TreeSet<>();
        maps().visit((fingerprint, location, length) -> {
            found.add(location);
            if (location == 2 && --left[0] == 0) {
                write("aa-1", 0, 1);
                Files.setLastModifiedTime(map, FileTime.fromMillis(0));
            }
        });
        assertEquals(Set.of(1L, 2L), found);
    }

    private boolean isFirst(String name) throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(folder.resolve("ddb"))) {
            return folders.iterator().next().endsWith(name);
        }
    }
}
