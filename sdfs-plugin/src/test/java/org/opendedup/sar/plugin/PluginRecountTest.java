package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process of SDFS that is killed: the maps of its files are there, the last counts are not. ChunkRecountTest of the
 * engine does this at random, with controls.
 */
@Timeout(240)
class PluginRecountTest {
    private static final String NO_GRACE = "sar-grace-period-minutes='0'";
    private static final int CHUNKS = 200;
    private static final int KILLED = 9;

    @TempDir
    Path folder;

    private final SarChunkStore store = new SarChunkStore();
    private final SarHashesMap map = new SarHashesMap();

    private void open(String attributes) throws IOException {
        open(store, map, folder, attributes);
    }

    private static void open(SarChunkStore store, SarHashesMap map, Path folder, String attributes) throws IOException {
        store.init(Host.config(folder, attributes));
        map.init(1000, folder.toString(), 0.01);
    }

    @AfterEach
    void close() {
        store.close();
        map.close();
    }

    /** Writes a file of some chunks, one a page: puts them, then writes the map. */
    private static List<Long> write(SarHashesMap map, Path folder, String guid, int from, int to) throws Exception {
        List<Long> locations = new ArrayList<>();
        for (int number = from; number < to; number++) {
            Chunk chunk = Chunk.of(number);
            long location = Chunk.location(map.put(chunk.data(1, guid)));
            HostMaps.write(folder, guid, number, List.of(new HostMaps.Entry(chunk.hash(), location)));
            locations.add(location);
        }
        return locations;
    }

    private void delete(String guid, List<Long> locations, int from) throws IOException {
        for (int i = 0; i < locations.size(); i++) {
            map.claimKey(Chunk.of(from + i).hash(), locations.get(i), -1);
        }
        HostMaps.delete(folder, guid);
    }

    private void assertReadable(List<Long> locations, int from) throws IOException {
        for (int i = 0; i < locations.size(); i++) {
            Chunk chunk = Chunk.of(from + i);
            assertArrayEquals(chunk.bytes(), map.getData(chunk.hash(), locations.get(i)), "chunk " + (from + i));
        }
    }

    /** Writes the content of file A to file B, and ends without more ado. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        SarHashesMap map = new SarHashesMap();
        open(new SarChunkStore(), map, folder, NO_GRACE);
        write(map, folder, "bb-file", 0, CHUNKS);
        Runtime.getRuntime().halt(KILLED);
    }

    @Test
    void aFileThatWasSyncedOutlivesACopyWhoseCountsWereLost() throws Exception {
        open(NO_GRACE);
        List<Long> locations = write(map, folder, "aa-file", 0, CHUNKS);
        store.sync();
        store.close();
        assertEquals(
                KILLED,
                Host.process(PluginRecountTest.class, folder.toString())
                        .inheritIO()
                        .start()
                        .waitFor());
        open(NO_GRACE);
        delete("bb-file", locations, 0);
        for (int round = 0; round < 2; round++) {
            map.claimRecords(null, true);
            assertReadable(locations, 0);
        }
        // A truncation takes references of what stays.
        delete("no-file", locations, 0);
        map.claimRecords(null, true);
        assertReadable(locations, 0);
    }

    @Test
    void aFileWhoseDeletionWasLostGivesItsSpaceBack() throws Exception {
        open(NO_GRACE);
        List<Long> locations = write(map, folder, "aa-file", 0, CHUNKS);
        write(map, folder, "bb-file", CHUNKS, 2 * CHUNKS);
        store.sync();
        HostMaps.delete(folder, "bb-file");
        // What has lost its last reference just now stays until the collection after it.
        map.claimRecords(null, true);
        assertEquals(2 * CHUNKS, map.getSize());
        map.claimRecords(null, true);
        assertEquals(CHUNKS, map.getSize());
        assertReadable(locations, 0);
    }

    @Test
    void withoutMapsNothingIsCollectedAndHealthSaysWhy() throws Exception {
        open(NO_GRACE);
        List<Long> locations = write(map, folder, "aa-file", 0, CHUNKS);
        List<Long> deleted = write(map, folder, "bb-file", CHUNKS, 2 * CHUNKS);
        store.sync();
        delete("bb-file", deleted, CHUNKS);
        Path maps = folder.resolve("ddb");
        Path away = folder.resolve("away");
        Files.move(maps, away);
        assertThrows(IOException.class, () -> map.claimRecords(null, true));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!findings().contains("is a disk not mounted?")) {
            assertTrue(System.nanoTime() - end < 0, findings());
            Thread.sleep(10);
        }
        Files.createDirectory(maps);
        IOException empty = assertThrows(IOException.class, () -> map.claimRecords(null, true));
        assertTrue(String.valueOf(empty.getMessage()).contains("the maps of files name no chunk"), empty::toString);
        assertEquals(2 * CHUNKS, map.getSize());
        Files.delete(maps);
        Files.move(away, maps);
        map.claimRecords(null, true);
        assertEquals(CHUNKS, map.getSize());
        assertReadable(locations, 0);
    }

    private String findings() throws Exception {
        ObjectName bean = new ObjectName("org.opendedup.sar:type=Volume,volume=" + folder.getFileName());
        return String.join(
                "\n", (String[]) ManagementFactory.getPlatformMBeanServer().getAttribute(bean, "Findings"));
    }
}
