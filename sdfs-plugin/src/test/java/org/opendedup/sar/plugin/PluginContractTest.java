package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.logging.Logger;
import java.util.stream.Stream;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.collections.AbstractHashesMap;
import org.opendedup.collections.InsertRecord;
import org.opendedup.collections.KeyNotFoundException;
import org.opendedup.logging.SDFSLogger;
import org.opendedup.sdfs.filestore.AbstractChunkStore;
import org.opendedup.sdfs.filestore.ChunkData;
import org.opendedup.sdfs.notification.SDFSEvent;
import org.w3c.dom.Element;

/** Both classes as SDFS drives them, against a model in memory. */
@Timeout(240)
class PluginContractTest {
    private static final String NO_GRACE = "sar-grace-period-minutes='0'";

    private final long seed = Long.getLong("sar.seed", 1);

    @TempDir
    Path folder;

    private AbstractChunkStore store;
    private AbstractHashesMap map;

    /** Name of the function that makes the fingerprints: 32 or 16 bytes. */
    private String algorithm = "SHA-256";

    @BeforeEach
    void printSeed() {
        System.out.println("sar.seed=" + seed);
    }

    private Chunk chunk(long number) {
        return Chunk.of(Chunk.of(number).bytes(), algorithm);
    }

    /** In the order of SDFS: the store, its init, the index, its init. */
    private void open(String attributes) throws Exception {
        store = (AbstractChunkStore) Class.forName("org.opendedup.sar.plugin.SarChunkStore")
                .getDeclaredConstructor()
                .newInstance();
        store.init(Host.config(folder, "VARIABLE_" + algorithm.replace("-", ""), attributes));
        map = (AbstractHashesMap) Class.forName("org.opendedup.sar.plugin.SarHashesMap")
                .getDeclaredConstructor()
                .newInstance();
        map.init(1_000_000, folder.resolve("hashes") + "/hashstore-sdfs", 0.001);
    }

    /** The store first, as SDFS does. */
    @AfterEach
    void close() {
        if (store != null) {
            store.close();
            map.close();
        }
        store = null;
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHA-256", "MD5"})
    void aChunkIsStoredOnceCountedAndReadByItsLocation(String function) throws Exception {
        algorithm = function;
        open("");
        Chunk chunk = chunk(1);
        InsertRecord first = map.put(chunk.data(1, "file"));
        InsertRecord again = map.put(chunk.data(2, "other"), true);
        long location = Chunk.location(first);
        assertTrue(first.getInserted());
        assertFalse(again.getInserted());
        assertEquals(location, Chunk.location(again));
        assertEquals(0, again.getCompressedLength());
        assertEquals(location, map.get(chunk.hash()));
        assertArrayEquals(chunk.bytes(), map.getData(chunk.hash(), location));
        assertArrayEquals(chunk.bytes(), map.getData(chunk.hash()));
        assertArrayEquals(chunk.bytes(), store.getChunk(chunk.hash(), location, 0));
        assertTrue(map.mightContainKey(chunk.hash(), location));
        assertTrue(map.isClaimed(chunk.data(1, null)));
        assertEquals(location, map.claimKey(chunk.hash(), location, -3));
        assertFalse(map.isClaimed(chunk.data(1, null)));
        assertEquals(-1, map.get(chunk(2).hash()));
        assertEquals(-1, map.claimKey(chunk(2).hash(), location, 1));
        assertThrows(KeyNotFoundException.class, () -> map.isClaimed(chunk(2).data(1, null)));
        assertThrows(IOException.class, () -> map.getData(chunk(2).hash(), -1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHA-256", "MD5"})
    void whatSdfsMayGiveIsStoredOrRefusedWithTheWayOut(String function) throws Exception {
        algorithm = function;
        open("");
        Chunk chunk = chunk(1);
        // References that are not set count as one.
        long location = Chunk.location(map.put(new ChunkData(chunk.hash(), chunk.bytes().length, chunk.bytes(), "f")));
        map.claimKey(chunk.hash(), location, -1);
        assertFalse(map.isClaimed(chunk.data(1, null)));

        byte[] bytes = new byte[1 << 20];
        new SplittableRandom(seed).nextBytes(bytes);
        Chunk large = Chunk.of(bytes, algorithm);
        location = Chunk.location(map.put(large.data(1, "file")));
        store.sync();
        assertArrayEquals(bytes, map.getData(large.hash(), location));

        for (int length : new int[] {15, chunk.hash().length}) {
            Chunk wrong = new Chunk(new byte[5000], new byte[length]);
            IOException e = assertThrows(IOException.class, () -> map.put(wrong.data(1, "file")));
            assertTrue(e.getMessage().contains(algorithm), e.getMessage());
        }
    }

    @Test
    void linesOfTheEngineAreInTheLogOfSdfsOnce() throws Exception {
        String ssd = "sar-ssd-location='" + folder.resolve("ssd") + "' sar-ssd-capacity='256MB'";
        open(ssd);
        close();
        SDFSLogger.LINES.clear();
        open(ssd);
        assertEquals(
                1,
                lines("info org.opendedup.sar.plugin.engine.ChunkVolumeOpener: opened " + folder.getFileName()
                        + ": 0 chunks"));
        assertEquals(0, lines("other users had permissions"), "in a folder that nobody else may enter");
        close();
        assertEquals(1, lines("closed; everything is durable"));
    }

    /** SDFS's logger may be closed before the engine is: what it throws must not reach whoever logs. */
    @Test
    void aLineThatTheLogOfSdfsRefusesFailsNobody() throws Exception {
        open("");
        SDFSLogger.LINES.clear();
        Logger logger = Logger.getLogger("org.opendedup.sar.test");
        assertDoesNotThrow(() -> logger.info("this line " + SDFSLogger.FAILS));
        logger.info("this one is the control");
        assertEquals(0, lines(SDFSLogger.FAILS));
        assertEquals(1, lines("this one is the control"));
    }

    private static long lines(String text) {
        return SDFSLogger.LINES.stream().filter(line -> line.contains(text)).count();
    }

    @Test
    void sdfsReadsTheConfigurationThatItWritesAgain() throws Exception {
        // SDFS writes getMaxCacheSize() with a unit into the element, and reads nothing below 1 KB there.
        for (String[] sizeAndBytes : new String[][] {
            {"local-cache-size='20GB'", "21474836480"},
            {"local-cache-size='1.5 MB'", "1572864"},
            {"local-cache-size='1,5 MB'", "1572864"},
            {"local-cache-size='0 B'", "10737418240"},
            {"local-cache-size='much'", "10737418240"},
            {"", "10737418240"}
        }) {
            assertEquals(sizeAndBytes[1], String.valueOf(HostCache.bytes(Host.config(folder, sizeAndBytes[0]))));
        }
        open("local-cache-size='20GB'");
        assertEquals(20L << 30, store.getMaxCacheSize());
    }

    /** Of the file, which element to change, the attribute and its value, and what the refusal says. */
    @ParameterizedTest
    @CsvSource({
        "local-chunkstore, encrypt, true, has keys of its own",
        "extended-config, sar-encrypt, yes, 'yes'",
        "extended-config, sar-passphrase-file, /secret, sar-passphrase-file is for an encrypted volume",
        "extended-config, sar-passphrase-file, secret, is no absolute path",
        // SDFS's own index would keep the counts, and a later collection of SAR would find none.
        "local-chunkstore, hashdb-class, org.opendedup.collections.RocksDBMap, hashdb-class",
        "local-chunkstore, hashdb-class, '', hashdb-class",
        "io, hash-type, VARIABLE_HWY_128, with hash-type VARIABLE_SHA256",
        "io, hash-type, tiger16, with hash-type VARIABLE_SHA256",
        "io, hash-type, VARIABLE_MURMUR3, with hash-type VARIABLE_SHA256",
        "io, hash-type, VARIABLE_SIP, with hash-type VARIABLE_SHA256",
        "io, hash-type, '', with hash-type VARIABLE_SHA256",
        "extended-config, sar-grace-period-minutes, soon, sar-grace-period-minutes",
        "extended-config, sar-read-ahead, yes, sar-read-ahead",
        "extended-config, sar-promote-on-read, 1, sar-promote-on-read",
        "extended-config, sar-grace-minutes, 10, sar-grace-period-minutes",
    })
    void whatIsWrongInTheVolumeFileIsNamedBeforeAnythingIsMade(
            String element, String attribute, String value, String message) {
        String ssd = attribute.equals("sar-promote-on-read") ? "sar-ssd-location='/nowhere'" : "";
        var config = Host.config(folder, ssd);
        ((Element) config.getOwnerDocument().getElementsByTagName(element).item(0)).setAttribute(attribute, value);
        IOException e = assertThrows(IOException.class, () -> new SarChunkStore().init(config));
        assertTrue(e.getMessage().contains(message), e.getMessage());
        assertFalse(Files.exists(folder.resolve("chunks")), "nothing was made");
    }

    @Test
    void aDiskThatIsNotMountedDoesNotBecomeAnEmptyVolume() throws Exception {
        open("");
        map.put(chunk(1).data(1, "file"));
        close();
        Files.move(folder.resolve("chunks"), folder.resolve("elsewhere"));
        IOException e = assertThrows(IOException.class, () -> new SarChunkStore().init(Host.config(folder, "")));
        assertTrue(e.getMessage().contains("not mounted"), e.getMessage());
        Files.move(folder.resolve("elsewhere"), folder.resolve("chunks"));
        open("");
        assertTrue(map.containsKey(chunk(1).hash()));
    }

    /** The place of a disk that is not mounted is an empty folder, or none. SDFS's maps lie elsewhere. */
    @Test
    void whatMapsOfFilesNameIsNotMadeAnewWhereItsDisksAreNotMounted() throws Exception {
        Path nothing = HostMaps.of(folder, "bb-file");
        Files.createDirectories(nothing.getParent());
        Files.createFile(nothing);
        // The control: a map without a chunk says nothing.
        open("");
        long location = Chunk.location(map.put(chunk(1).data(1, "file")));
        writePage(1, location);
        close();
        List<String> all = List.of("chunks/sar/data", "chunks/sar/metadata", "hashes/sar/index");
        for (List<String> places : List.of(all, all.subList(1, 2))) {
            for (boolean hasFolder : List.of(true, false)) {
                for (String place : places) {
                    Files.move(folder.resolve(place), folder.resolve(place.replace('/', '-')));
                    if (hasFolder) {
                        Files.createDirectory(folder.resolve(place));
                    }
                }
                String refusal = assertThrows(
                                IOException.class, () -> new SarChunkStore().init(Host.config(folder, "")))
                        .getMessage();
                assertTrue(refusal.contains("mounted?"), refusal);
                for (String place : places) {
                    assertEquals(hasFolder, Files.deleteIfExists(folder.resolve(place)), "nothing was made");
                    Files.move(folder.resolve(place.replace('/', '-')), folder.resolve(place));
                }
            }
        }
        open("");
        assertArrayEquals(chunk(1).bytes(), map.getData(chunk(1).hash(), location));
        close();
        // Lost for good: without the files, the volume is a new one.
        for (String place : all) {
            Files.move(folder.resolve(place), folder.resolve(place.replace('/', '-')));
        }
        Files.move(folder.resolve("ddb"), folder.resolve("maps"));
        open("");
        assertFalse(map.containsKey(chunk(1).hash()));
    }

    @Test
    void aVolumeWithChunksOfSdfsItselfIsNotSwitchedOver() throws Exception {
        // SDFS makes these folders for each volume, and puts archives into them.
        Path archives = Files.createDirectories(folder.resolve("chunks/-111"));
        Files.createFile(folder.resolve("chunks/754"));
        Files.createDirectories(folder.resolve("chunks/753"));
        Path archive = Files.createFile(archives.resolve("-1115735016804426907.map"));
        IOException e = assertThrows(IOException.class, () -> new SarChunkStore().init(Host.config(folder, "")));
        assertTrue(e.getMessage().contains("SDFS's own store"), e.getMessage());
        assertFalse(Files.exists(folder.resolve("chunks/sar")));
        Files.delete(archive);
        open("");
        close();
        Files.createFile(archive);
        open("");
    }

    @Test
    void anIndexWithoutItsStoreIsRefused() {
        IOException e = assertThrows(IOException.class, () -> new SarHashesMap().init(1, "", 0.1));
        assertTrue(e.getMessage().contains("chunkstore-class"), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHA-256", "MD5"})
    void theConsistencyCheckVisitsEachChunkOnceFromSeveralThreads(String function) throws Exception {
        algorithm = function;
        open("");
        Set<Long> expected = new HashSet<>();
        for (int number = 0; number < 300; number++) {
            expected.add(Chunk.location(map.put(chunk(number).data(1, "file " + number % 3))));
        }
        store.iterationInit(false);
        Set<Long> found = new HashSet<>();
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            List<Future<?>> walks = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                walks.add(threads.submit(() -> {
                    for (ChunkData chunk = store.getNextChunck(); chunk != null; chunk = store.getNextChunck()) {
                        synchronized (found) {
                            assertTrue(found.add(chunk.getcPos()));
                        }
                        assertEquals(chunk.getcPos(), map.get(chunk.getHash()));
                    }
                    return null;
                }));
            }
            for (Future<?> walk : walks) {
                walk.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertEquals(expected, found);
        assertNull(store.getNextChunck());
    }

    @Test
    void sizesAreTrue() throws Exception {
        open("");
        long bytes = 0;
        for (int number = 0; number < 50; number++) {
            Chunk chunk = chunk(number);
            map.put(chunk.data(1, "file"));
            map.put(chunk.data(1, "file"));
            bytes += chunk.bytes().length;
        }
        store.sync();
        assertEquals(bytes, store.size());
        assertEquals(50, map.getSize());
        assertEquals(10_737_418_240L, store.maxSize());
        assertEquals(2 * bytes, store.bytesWritten());
        assertTrue(store.compressedSize() > bytes / 2, "on the disk");
        store.clearCounters();
        assertEquals(0, store.bytesWritten());
        // Asked while SDFS writes its configuration again.
        store.setReadSpeed(1);
        store.setWriteSpeed(1);
        store.setCacheSize(1 << 20);
        store.setDseSize(1 << 30);
        assertEquals(1 << 20, store.getCacheSize());
        assertNotNull(store.getName());
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHA-256", "MD5"})
    void recordsAreClaimedAfterTheGracePeriodAndSpaceComesBack(String function) throws Exception {
        algorithm = function;
        open(NO_GRACE);
        Map<Integer, Long> locations = putAndRelease();
        long before = store.compressedSize();
        SDFSEvent event = new SDFSEvent();
        assertEquals(150, map.claimRecords(event, true));
        assertTrue(event.getCount() > 0);
        assertTrue(store.compressedSize() < before / 2);
        assertTheRestIsThere(locations);
        assertFalse(map.containsKey(chunk(0).hash()));
    }

    /** Puts 200 chunks, of which a file has the last 50, and releases the others. Returns the locations. */
    private Map<Integer, Long> putAndRelease() throws Exception {
        Map<Integer, Long> locations = new HashMap<>();
        for (int number = 0; number < 200; number++) {
            locations.put(number, Chunk.location(map.put(chunk(number).data(1, "file"))));
        }
        store.sync();
        for (int number = 0; number < 200; number++) {
            if (number < 150) {
                map.claimKey(chunk(number).hash(), locations.get(number), -1);
            } else {
                writePage(number, locations.get(number));
            }
        }
        return locations;
    }

    private void assertTheRestIsThere(Map<Integer, Long> locations) throws Exception {
        for (int number = 150; number < 200; number++) {
            assertArrayEquals(chunk(number).bytes(), map.getData(chunk(number).hash(), locations.get(number)));
        }
    }

    private void writePage(int number, long location) throws IOException {
        var entry = new HostMaps.Entry(chunk(number).hash(), location);
        HostMaps.write(folder, "aa-file", number, List.of(entry));
    }

    @Test
    void aCloseEndsACollectionThatSdfsAskedFor() throws Exception {
        open(NO_GRACE);
        Map<Integer, Long> locations = putAndRelease();
        Thread closer = new Thread(store::close);
        SDFSEvent closing = new SDFSEvent() {
            @Override
            public void setMaxCount(long count) {
                if (closer.getState() == Thread.State.NEW) {
                    closer.start();
                    while (closer.getState() != Thread.State.WAITING) {
                        Thread.onSpinWait();
                    }
                }
            }
        };
        // Not waited for: a collection of a large volume takes hours.
        assertThrows(IOException.class, () -> map.claimRecords(closing, true));
        closer.join();
        open(NO_GRACE);
        assertTheRestIsThere(locations);
    }

    @ParameterizedTest
    @CsvSource({
        "sar-grace-period-minutes='0' sar-collect='false', 1",
        "sar-grace-period-minutes='600', 0",
    })
    void nothingIsClaimedWithinTheGracePeriodOrIfCollectionsAreSwitchedOff(String settings, int warnings)
            throws Exception {
        open(settings);
        SDFSLogger.LINES.clear();
        Chunk chunk = chunk(1);
        long location = Chunk.location(map.put(chunk.data(1, "file")));
        map.claimKey(chunk.hash(), location, -1);
        Files.createDirectory(folder.resolve("ddb"));
        assertEquals(0, map.claimRecords(null, true));
        assertArrayEquals(chunk.bytes(), map.getData(chunk.hash(), location));
        assertEquals(warnings, lines("warn org.opendedup.sar.plugin.engine.VolumeEngine: nothing is collected"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHA-256", "MD5"})
    void theSsdGetsWhatIsWrittenOftenAndIsInJmx(String function) throws Exception {
        algorithm = function;
        open("sar-ssd-location='" + folder.resolve("ssd") + "' sar-ssd-capacity='256MB' sar-memory-budget='400MB'"
                + " sar-reference-count-threshold='3'");
        for (int round = 0; round < 4; round++) {
            for (int number = 0; number < 40; number++) {
                // After the first round in an order in which no two lie one after another: a long run stays on the
                // disk.
                map.put(chunk(round == 0 ? number : number * 7 % 40).data(1, "file"));
            }
        }
        store.sync();
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName table = new ObjectName("org.opendedup.sar:type=MapTable,volume=" + folder.getFileName());
        long copies = 0;
        for (int wait = 0; wait < 1000 && copies == 0; wait++) {
            Thread.sleep(10);
            copies = ((Number) server.getAttribute(table, "Entries")).longValue();
        }
        assertTrue(copies > 0, "copies on the SSD");
        for (int number = 0; number < 40; number++) {
            assertArrayEquals(
                    chunk(number).bytes(),
                    map.getData(chunk(number).hash(), map.get(chunk(number).hash())));
        }
        store.close();
        assertFalse(server.isRegistered(table));
    }

    @Test
    void aDeletedStoreLeavesNothing() throws Exception {
        open("");
        map.put(chunk(1).data(1, "file"));
        store.deleteStore();
        assertFalse(Files.exists(folder.resolve("chunks/sar/data")));
        assertFalse(Files.exists(folder.resolve("chunks/sar/metadata")));
        assertThrows(IOException.class, () -> map.put(chunk(2).data(1, "file")));
    }

    @Test
    void whatOthersPutIntoTheFoldersOfADeletedStoreStays() throws Exception {
        open("");
        map.put(chunk(1).data(1, "file"));
        Path data = folder.resolve("chunks/sar/data");
        Path foreign =
                Files.writeString(Files.createDirectory(data.resolve("photos")).resolve("1.jpg"), "of use");
        Path file = Files.writeString(folder.resolve("chunks/sar/metadata/notes"), "of use");
        store.deleteStore();
        assertEquals("of use", Files.readString(foreign));
        assertEquals("of use", Files.readString(file));
        try (Stream<Path> left = Files.walk(data)) {
            assertEquals(
                    List.of(data, foreign.getParent(), foreign), left.sorted().toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHA-256", "MD5"})
    void manyThreadsAgreeWithTheModelAlsoAfterReopening(String function) throws Exception {
        algorithm = function;
        open(NO_GRACE);
        int contents = 300;
        long[] expected = new long[contents];
        Map<Integer, Long> locations = new HashMap<>();
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 3; round++) {
            ExecutorService threads = Executors.newFixedThreadPool(4);
            List<Future<?>> writers = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                SplittableRandom own = random.split();
                writers.add(threads.submit(() -> {
                    write(own, expected, locations);
                    return null;
                }));
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
            threads.shutdown();
            HostMaps.delete(folder, "aa-file");
            for (int number = 0; number < contents; number++) {
                if (expected[number] > 0) {
                    writePage(number, locations.get(number));
                }
            }
            map.claimRecords(null, true);
            check(expected, locations);
            close();
            open(NO_GRACE);
            check(expected, locations);
        }
    }

    private void write(SplittableRandom random, long[] expected, Map<Integer, Long> locations) throws Exception {
        for (int step = 0; step < 700; step++) {
            int number = random.nextInt(expected.length);
            Chunk chunk = chunk(number);
            int references = 1 + random.nextInt(3);
            boolean adds = random.nextInt(3) > 0;
            if (adds) {
                long location = Chunk.location(map.put(chunk.data(references, "file " + number / 50)));
                synchronized (expected) {
                    expected[number] += references;
                    locations.put(number, location);
                }
                assertArrayEquals(chunk.bytes(), map.getData(chunk.hash(), location));
            } else {
                long taken;
                Long location;
                synchronized (expected) {
                    taken = expected[number];
                    expected[number] = 0;
                    location = locations.get(number);
                }
                if (taken > 0) {
                    assertEquals(location, map.claimKey(chunk.hash(), location, -taken));
                }
            }
            if (step % 50 == 0) {
                store.sync();
            }
        }
    }

    private void check(long[] expected, Map<Integer, Long> locations) throws Exception {
        int stored = 0;
        for (int number = 0; number < expected.length; number++) {
            Chunk chunk = chunk(number);
            long location = map.get(chunk.hash());
            if (expected[number] > 0) {
                stored++;
                assertEquals(locations.get(number), location);
                assertArrayEquals(chunk.bytes(), map.getData(chunk.hash(), location));
                long references = ((SarChunkStore) store).with(engine -> (long) engine.references(location));
                assertEquals(expected[number], references, "chunk " + number);
            } else {
                assertEquals(-1, location, "chunk " + number);
            }
        }
        assertEquals(stored, map.getSize());
    }
}
