package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.FailingKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;
import org.opendedup.sar.volume.write.UnsavedChanges;
import org.opendedup.sar.volume.write.UnsavedChangesException;

/**
 * Disks that fail for a while: reads work, no accepted data is lost when writing is resumed, nothing is reported as
 * durable that is not, and final losses are reported.
 */
@Timeout(300)
class WriteFailureTest {
    private static final Owner ALICE = new Owner(1000, 1000);
    private static final int RUNS = 30;
    private static final int STEPS = 60;
    private static final int FILES = 6;

    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);

    /** A volume whose disks fail on demand, and the data that it accepted. */
    private final class Fixture {
        final CrashDirectory containers;
        final CrashKeyValueStore database;
        final HookedDirectory disk;
        final FailingKeyValueStore metadata;
        final Volume volume;
        volatile boolean dataFails;
        /**
         * For each file its possible contents after a crash: the last synced state, and the later ones. Readers see the
         * last.
         */
        final Map<String, List<byte[]>> versions = new TreeMap<>();

        final Map<String, Long> inodes = new TreeMap<>();

        Fixture(long seed) throws IOException {
            containers = new CrashDirectory(seed);
            database = new CrashKeyValueStore();
            disk = new HookedDirectory(containers);
            metadata = new FailingKeyValueStore(database);
            disk.hook = this::before;
            Volume.create(config, disk, metadata, InstantSource.system());
            volume = open(disk, metadata);
        }

        private void before(HookedDirectory.Call call, String name) throws IOException {
            if (dataFails) {
                switch (call) {
                    case APPEND -> containers.failAppend(1);
                    case FORCE -> containers.failForce(1);
                    case RENAME, SYNC -> throw new IOException("Input/output error");
                    case CLOSE -> {}
                }
            }
        }

        void fail(boolean data, boolean ofMetadata) {
            dataFails = data;
            metadata.fail(ofMetadata);
        }

        void make(String name) throws IOException {
            inodes.put(
                    name,
                    volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, ALICE)
                            .inode());
            versions.put(name, new ArrayList<>(List.of(new byte[0])));
        }

        long inode(String name) {
            return inodes.get(name);
        }

        void write(String name, byte[] data) throws IOException {
            OpenFile file = volume.open(inode(name), true);
            try {
                volume.write(file, 0, ByteBuffer.wrap(data));
                versions.get(name).add(data);
            } finally {
                volume.close(file);
            }
        }

        void sync(String name) throws IOException {
            OpenFile file = volume.open(inode(name), true);
            try {
                volume.sync(file);
                durable(name);
            } finally {
                volume.close(file);
            }
        }

        void durable(String name) {
            List<byte[]> all = versions.get(name);
            all.subList(0, all.size() - 1).clear();
        }

        void assertReadable() throws IOException {
            for (String name : versions.keySet()) {
                assertArrayEquals(accepted(name), read(volume, inode(name)), name);
            }
        }

        byte[] accepted(String name) {
            List<byte[]> all = versions.get(name);
            return all.get(all.size() - 1);
        }

        /** Cuts the power, and opens the remaining state. */
        Volume crash(long seed) throws IOException {
            Volume left = open(containers.crash(seed), database.crash(seed));
            fail(false, false);
            VolumeInMemory.abandon(volume);
            return left;
        }
    }

    private Volume open(org.opendedup.sar.io.Directory data, org.opendedup.sar.metadata.db.KeyValueStore database)
            throws IOException {
        VolumeStores stores = new VolumeStores(data, database, new HeapChunkIndex(), InstantSource.system());
        return Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    private static byte[] read(Volume volume, long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        try {
            byte[] data = new byte[(int) volume.attributes(inode).size()];
            volume.read(file, 0, ByteBuffer.wrap(data));
            return data;
        } finally {
            volume.close(file);
        }
    }

    private static byte[] random(Random random, int bytes) {
        byte[] data = new byte[bytes];
        random.nextBytes(data);
        return data;
    }

    private static byte[] readNamed(Volume volume, String name) throws IOException {
        Attributes found = volume.lookup(Inode.ROOT, name.getBytes(UTF_8));
        try {
            return read(volume, found.inode());
        } finally {
            volume.forget(found.inode(), 1);
        }
    }

    /** Files always have this length, so that the bytes show the version. */
    private static int length(int file) {
        return file % 2 == 0 ? 300_000 : 5_000;
    }

    @Test
    void whateverFailsWhenNothingAcceptedIsLostAndNothingIsSaidToBeDurableThatIsNot() throws IOException {
        long seed = TestSeed.next();
        int stops = 0;
        int resumed = 0;
        for (int run = 0; run < RUNS; run++) {
            Random random = new Random(seed + run);
            Fixture fixture = new Fixture(seed + run);
            for (int i = 0; i < FILES; i++) {
                fixture.make("file" + i);
            }
            fixture.volume.sync();
            for (int step = 0; step < STEPS; step++) {
                int number = random.nextInt(FILES);
                String name = "file" + number;
                try {
                    switch (random.nextInt(8)) {
                        case 0, 1, 2 -> fixture.write(name, random(random, length(number)));
                        case 3, 4 -> fixture.sync(name);
                        case 5 -> fixture.fail(random.nextBoolean(), random.nextInt(3) == 0);
                        case 6 -> fixture.fail(false, false);
                        default -> resumed += fixture.volume.resume() ? 1 : 0;
                    }
                } catch (IOException refused) {
                    stops += fixture.volume.stopped() == null ? 0 : 1;
                }
                fixture.assertReadable();
            }
            boolean ends = random.nextBoolean();
            if (ends) {
                fixture.fail(false, false);
                fixture.volume.resume();
                assertNull(fixture.volume.stopped());
                fixture.volume.sync();
                fixture.versions.keySet().forEach(fixture::durable);
                fixture.assertReadable();
            }
            Volume left = fixture.crash(run);
            try (left) {
                for (Map.Entry<String, List<byte[]>> file : fixture.versions.entrySet()) {
                    byte[] found = readNamed(left, file.getKey());
                    assertTrue(
                            isOf(file.getValue(), found),
                            "run " + run + ", " + file.getKey() + " is neither as it was synced nor as it was written");
                }
            }
        }
        assertTrue(stops > RUNS / 2, "the disks hardly ever fail: " + stops);
        assertTrue(resumed > RUNS / 4, "hardly ever resumed: " + resumed);
    }

    /** Whether each byte is that of the last synced state, or of a later one. */
    private static boolean isOf(List<byte[]> versions, byte[] found) {
        byte[] synced = versions.get(0);
        if (found.length < synced.length) {
            return false;
        }
        for (int i = 0; i < found.length; i++) {
            int at = i;
            if (versions.stream().noneMatch(version -> at < version.length && version[at] == found[at])) {
                return false;
            }
        }
        return true;
    }

    /** Its number is reserved on the disk of the metadata before anything waits to be committed. */
    @Test
    void theFirstFileOfAMountThatADiskRefusesStopsTheVolume() throws IOException {
        Fixture fixture = new Fixture(1);
        fixture.fail(false, true);
        PosixException refused = assertThrows(PosixException.class, () -> fixture.make("a"));
        assertEquals(PosixException.Reason.EROFS, refused.reason());
        assertNotNull(fixture.volume.stopped());
        fixture.fail(false, false);
        assertTrue(fixture.volume.resume());
        fixture.make("a");
        fixture.write("a", new byte[] {1});
        fixture.volume.sync();
        fixture.assertReadable();
        fixture.volume.close();
    }

    @Test
    void whatWaitsIsCommittedWhenTheDiskWorksAgain() throws IOException {
        Random random = new Random(1);
        Fixture fixture = new Fixture(1);
        fixture.make("a");
        fixture.write("a", random(random, 200_000));
        fixture.fail(true, true);
        assertThrows(IOException.class, () -> fixture.sync("a"));
        assertNotNull(fixture.volume.stopped());
        fixture.assertReadable();
        assertEquals(
                PosixException.Reason.EROFS,
                assertThrows(PosixException.class, () -> fixture.write("a", new byte[1]))
                        .reason());
        assertThrows(IOException.class, () -> fixture.volume.resume(), "the disk fails still");
        assertNotNull(fixture.volume.stopped());
        fixture.assertReadable();

        fixture.fail(false, false);
        assertTrue(fixture.volume.resume());
        assertNull(fixture.volume.stopped());
        assertFalse(fixture.volume.resume(), "it did not stop");
        byte[] accepted = fixture.accepted("a");
        try (Volume left = fixture.crash(1)) {
            assertArrayEquals(accepted, readNamed(left, "a"));
        }
    }

    /** The control: without {@link Volume#resume} it is not there, so its absence is detected. */
    @Test
    void whatWaitsIsGoneAfterACrash() throws IOException {
        Fixture fixture = new Fixture(1);
        fixture.make("a");
        fixture.volume.sync();
        fixture.write("a", random(new Random(1), 200_000));
        fixture.fail(true, true);
        assertThrows(IOException.class, () -> fixture.sync("a"));
        byte[] accepted = fixture.accepted("a");
        try (Volume left = fixture.crash(1)) {
            assertFalse(Arrays.equals(accepted, readNamed(left, "a")));
        }
    }

    @Test
    void closingTellsWhatIsLost() throws IOException {
        Random random = new Random(1);
        Fixture fixture = new Fixture(1);
        long folder = fixture.volume
                .makeDirectory(Inode.ROOT, "folder".getBytes(UTF_8), 0755, ALICE)
                .inode();
        fixture.make("durable");
        fixture.write("durable", random(random, 5000));
        fixture.volume.sync();
        long inode = fixture.volume
                .makeNode(folder, "lost\n.txt".getBytes(UTF_8), 0100644, 0, ALICE)
                .inode();
        OpenFile file = fixture.volume.open(inode, true);
        OpenFile overwritten = fixture.volume.open(fixture.inode("durable"), true);
        OpenFile reader = fixture.volume.open(fixture.inode("durable"), false);
        fixture.volume.write(file, 0, ByteBuffer.wrap(random(random, 123_456)));
        fixture.volume.write(overwritten, 0, ByteBuffer.wrap(random(random, 100)));
        fixture.fail(true, true);
        assertThrows(IOException.class, () -> fixture.volume.sync(file));
        assertThrows(IOException.class, () -> fixture.volume.flush(overwritten), "close(2) tells that it waits");
        fixture.volume.flush(reader);
        fixture.volume.close(reader);
        fixture.volume.close(file);
        fixture.volume.close(overwritten);
        UnsavedChangesException lost = assertThrows(UnsavedChangesException.class, () -> fixture.volume.close());
        assertEquals(2, lost.changes().files());
        assertEquals("durable", lost.changes().named().get(1).path());
        UnsavedChanges.UnsavedFile named = lost.changes().named().get(0);
        assertEquals("folder/lost\\u000a.txt", named.path());
        assertTrue(named.bytes() >= 123_456, () -> "only " + named.bytes());
        assertNotNull(lost.getCause());
    }

    /** The control: a disk that works again by then loses nothing, and nothing is reported. */
    @Test
    void closingTriesOnceMore() throws IOException {
        Fixture fixture = new Fixture(1);
        fixture.make("a");
        fixture.write("a", random(new Random(1), 123_456));
        fixture.fail(true, false);
        assertThrows(IOException.class, () -> fixture.sync("a"));
        fixture.fail(false, false);
        fixture.volume.close();
        try (Volume again = open(fixture.containers, fixture.database)) {
            assertArrayEquals(fixture.accepted("a"), readNamed(again, "a"));
        }
    }
}
