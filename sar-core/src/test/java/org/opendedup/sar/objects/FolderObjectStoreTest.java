package org.opendedup.sar.objects;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.io.UnavailableException;

/** A folder as an object store(). */
class FolderObjectStoreTest extends ObjectStoreContract {
    private static final UUID TOKEN = new UUID(0x0123456789abcdefL, 0x1122334455667788L);

    @MemoryFolder
    Path folder;

    @Override
    protected ObjectStore newStore() throws IOException {
        return ObjectStores.open(folder.toString());
    }

    /** Several folders of several pages; each file takes six calls of the system. */
    @Override
    protected int manyNames() {
        return 4000;
    }

    private static ObjectSource source(byte[] bytes) {
        ObjectSource source = ObjectSource.of(bytes);
        return new ObjectSource(source.length(), source.crc32c(), TOKEN, source.opening());
    }

    @Test
    void theFileOfAnObjectIsAsDocumented() throws IOException {
        store().put("a/b", source(new byte[] {1, 2, 3}));
        assertEquals(
                "010203" + "5341524f" + "01000000" + "efcdab8967452301" + "8877665544332211" + "0300000000000000"
                        + "1ef230f1" + "cd0d59a4",
                HexFormat.of().formatHex(Files.readAllBytes(folder.resolve("a/b~"))));
    }

    @Test
    void anotherFormatIsRefused() throws IOException {
        store().put("a", source(new byte[] {1, 2, 3}));
        byte[] good = Files.readAllBytes(folder.resolve("a~"));
        assertDamaged(good, 3, CorruptionException.class);
        assertDamaged(good, 7, UnsupportedFormatException.class);
        for (int at = 8; at < FolderObject.TRAILER_BYTES; at++) {
            assertDamaged(good, at + 3, CorruptionException.class);
        }
        Files.write(folder.resolve("a~"), new byte[FolderObject.TRAILER_BYTES - 1]);
        assertThrows(CorruptionException.class, () -> store().status("a"));
    }

    private void assertDamaged(byte[] good, int at, Class<? extends IOException> error) throws IOException {
        byte[] bad = good.clone();
        bad[at] ^= 1;
        Files.write(folder.resolve("a~"), bad);
        assertThrows(error, () -> store().status("a"));
    }

    @Test
    void damagedBytesAreFoundInAWholeObject() throws IOException {
        store().put("a", source(new byte[] {1, 2, 3}));
        byte[] bytes = Files.readAllBytes(folder.resolve("a~"));
        bytes[1]++;
        Files.write(folder.resolve("a~"), bytes);
        assertThrows(CorruptionException.class, () -> store().readWhole("a", 10));
    }

    @Test
    void aNameMayGoOnBehindAnother() throws IOException {
        List<String> names = List.of("a", "a-b", "a/b", "a/b/c");
        for (String name : names) {
            store().put(name, ObjectSource.of(new byte[1]));
        }
        assertEquals(names, store().list("", "", 10).names());
    }

    @Test
    void twoProcessesShareAFolder() throws Exception {
        // What one has made is the other's at once.
        try (ObjectStore other = newStore()) {
            store().put("a", source(new byte[] {1}));
            assertArrayEquals(new byte[] {1}, other.readWhole("a", 1));
            assertThrows(
                    java.nio.file.FileAlreadyExistsException.class, () -> other.put("a", ObjectSource.of(new byte[2])));
        }
    }

    @Test
    void aFolderThatIsMissingIsNotMade() {
        assertThrows(NoSuchFileException.class, () -> ObjectStores.open(folder + "/none"));
        assertThrows(NoSuchFileException.class, () -> ObjectStores.open("file://" + folder + "/none"));
        assertThrows(IllegalArgumentException.class, () -> ObjectStores.open("nothing://bucket"));
        // Its module is on the class path, and Hadoop's client is not.
        assertThrows(IllegalArgumentException.class, () -> ObjectStores.open("hdfs://localhost/folder"));
    }

    @Test
    void filesOfPutsThatWereKilledAreRemoved() throws IOException {
        store().put("a", source(new byte[] {1}));
        Path unfinished = folder.resolve(FolderObjectStore.UNFINISHED);
        assertEquals(List.of(), filesIn(unfinished));
        Files.write(
                unfinished.resolve(HexFormat.of().toHexDigits(System.currentTimeMillis()) + "-killed"), new byte[1]);
        store().removeUnfinished(Instant.now().minusSeconds(3600));
        assertEquals(1, filesIn(unfinished).size());
        store().removeUnfinished(Instant.now().plusSeconds(3600));
        assertEquals(List.of(), filesIn(unfinished));
        assertEquals(List.of("a"), store().list("", "", 10).names());
    }

    @Test
    void earlierVersionsAreRemoved() throws IOException {
        ReplaceableObjects objects = store().replaceable().orElseThrow();
        String version = objects.replace("state/a", null, UUID.randomUUID(), new byte[] {0});
        for (int step = 1; step < 3 * FolderObjectStore.KEPT_VERSIONS; step++) {
            version = objects.replace("state/a", version, UUID.randomUUID(), new byte[] {(byte) step});
        }
        assertEquals(
                FolderObjectStore.KEPT_VERSIONS,
                filesIn(folder.resolve("state")).size());
    }

    /**
     * A process that stops between reading a version and making the next one, while others go on so far that the file
     * is gone which would refuse its own, must not believe that it was the first.
     */
    @Test
    void aProcessThatWasStoppedForLongDoesNotSucceed() throws IOException {
        FolderObjectStore folderStore = FolderObjectStore.open(folder);
        String version = folderStore.replace("a", null, UUID.randomUUID(), new byte[] {0});
        String stale = version;
        for (int step = 1; step <= 2 * FolderObjectStore.KEPT_VERSIONS; step++) {
            version = folderStore.replace("a", version, UUID.randomUUID(), new byte[] {(byte) step});
        }
        assertFalse(Files.exists(folder.resolve("a@0000000000000002")));
        assertThrows(
                UnavailableException.class,
                () -> folderStore.makeSuccessor("a", stale, UUID.randomUUID(), new byte[] {99}));
        assertEquals(version, folderStore.current("a").orElseThrow().version());
        assertFalse(Files.exists(folder.resolve("a@0000000000000002")));
    }

    @Test
    void aChangeThatWasMadeBeforeItsAnswerWasLostSucceedsAgain() throws IOException {
        // A server of NFS makes a link again when its answer was lost, and then says that the name is taken.
        ObjectSource source = ObjectSource.of(new byte[] {1});
        store().put("a", source);
        store().put("a", source);
        assertTrue(store().status("a").token().equals(source.token()));
    }

    private static List<Path> filesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    /** As editors, and programs that copy folders, leave them. */
    @Test
    void filesOfOtherProgramsAreNoObjects() throws IOException {
        ReplaceableObjects objects = store().replaceable().orElseThrow();
        String version = objects.replace("lease", null, UUID.randomUUID(), new byte[] {1});
        store().put("packs/a", ObjectSource.of(new byte[1]));
        for (String strange : List.of("README", "packs/README", "packs/b c~", "packs/#b#~", "lease@0.bak")) {
            Files.write(folder.resolve(strange), new byte[100]);
        }
        assertEquals(List.of("lease", "packs/a"), store().list("", "", 10).names());
        assertEquals(version, objects.current("lease").orElseThrow().version());
    }
}
