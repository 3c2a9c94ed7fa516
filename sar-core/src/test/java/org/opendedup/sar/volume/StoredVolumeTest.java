package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.objects.FolderObjectStore;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.StorePrices;
import org.opendedup.sar.objects.lease.LeaseHeldException;
import org.opendedup.sar.objects.lease.LeaseLostException;
import org.opendedup.sar.objects.lease.LeaseObject;
import org.opendedup.sar.objects.lease.LeaseRecord;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.RemoteStatistics;
import org.opendedup.sar.volume.store.UnmountedStores;

/** A volume in an object store, at its configured places: opened on machines that have nothing of it. */
@Timeout(120)
class StoredVolumeTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final long CACHE_BYTES = 1 << 20;

    @MemoryFolder
    Path folder;

    private Path store;

    @BeforeEach
    void makeStore() throws IOException {
        store = Files.createDirectories(folder.resolve("store"));
    }

    private VolumeConfig machine(String name, Promise promise) {
        return machine(name, promise, CACHE_BYTES);
    }

    private VolumeConfig machine(String name, Promise promise, long cacheBytes) {
        return VolumeConfigs.in(folder.resolve(name), 4L << 30, Chunking.VARIABLE_SHA256)
                .in(new RemoteSettings(store.toString(), promise, cacheBytes));
    }

    private static byte[] bytes(long seed) {
        byte[] bytes = new byte[3_000_000];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static void write(Volume volume, String name, byte[] bytes) throws IOException {
        Attributes made = volume.makeNode(Inode.ROOT, name.getBytes(US_ASCII), Modes.REGULAR | 0644, 0, OWNER);
        OpenFile file = volume.open(made.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(bytes));
        volume.sync(file);
        volume.close(file);
        volume.forget(made.inode(), 1);
    }

    private static byte[] read(Volume volume, String name) throws IOException {
        Attributes found = volume.lookup(Inode.ROOT, name.getBytes(US_ASCII));
        OpenFile file = volume.open(found.inode(), false);
        ByteBuffer bytes = ByteBuffer.allocate((int) found.size());
        volume.read(file, 0, bytes);
        volume.close(file);
        volume.forget(found.inode(), 1);
        return bytes.array();
    }

    @ParameterizedTest
    @EnumSource(Promise.class)
    void anotherMachineOpensWhatOneHasClosed(Promise promise) throws IOException {
        VolumeConfig first = machine("first", promise);
        Volume.create(first);
        RandomTree tree = new RandomTree(new SplittableRandom(TestSeed.next()));
        Map<String, String> shown;
        try (Volume volume = Volume.open(first)) {
            tree.change(volume, 100);
            volume.sync();
            shown = TreeDigest.of(volume, Inode.ROOT);
        }
        try (Volume volume = Volume.open(machine("second", promise))) {
            assertEquals(shown, TreeDigest.of(volume, Inode.ROOT));
            tree.change(volume, 100);
            volume.sync();
            shown = TreeDigest.of(volume, Inode.ROOT);
        }
        try (Volume volume = Volume.open(first)) {
            assertEquals(shown, TreeDigest.of(volume, Inode.ROOT), "the first machine goes on");
        }
    }

    /** A number of an inode may be that of a file which the store never got, to which somebody has a handle of NFS. */
    @Test
    void aHandleOfAFormerOwnerIsOfNoLaterFile() throws IOException {
        VolumeConfig first = machine("first", Promise.LOCAL);
        Volume.create(first);
        Set<Long> generations = new HashSet<>();
        for (VolumeConfig machine : List.of(first, machine("second", Promise.LOCAL), first)) {
            try (Volume volume = Volume.open(machine)) {
                byte[] name = ("file" + generations.size()).getBytes(US_ASCII);
                Attributes made = volume.makeNode(Inode.ROOT, name, Modes.REGULAR | 0644, 0, OWNER);
                assertTrue(generations.add(made.generation()), generations::toString);
                volume.forget(made.inode(), 1);
            }
        }
    }

    /** The control is the machine that made the present volume. */
    @Test
    void aMachineThatHasPacksOfAFormerVolumePutsNoneIntoTheNewOne() throws IOException {
        VolumeConfig former = machine("former", Promise.LOCAL, 64 << 20);
        Volume.create(former);
        try (Volume volume = Volume.open(former)) {
            write(volume, "a", bytes(1));
        }
        Files.move(store, folder.resolve("gone"));
        makeStore();
        VolumeConfig present = machine("present", Promise.LOCAL);
        Volume.create(present);
        List<ObjectPage.Entry> objects;
        try (ObjectStore opened = ObjectStores.open(store.toString())) {
            objects = opened.listAll("packs/", "");
        }
        IOException e =
                assertThrows(IOException.class, () -> Volume.open(former).close());
        try (ObjectStore opened = ObjectStores.open(store.toString())) {
            assertEquals(objects, opened.listAll("packs/", ""), e.getMessage());
        }
        assertTrue(e.getMessage().contains("belong to volume"), e.getMessage());
        try (Volume volume = Volume.open(present)) {
            write(volume, "b", bytes(2));
            assertArrayEquals(bytes(2), read(volume, "b"));
        }
    }

    /** As another program, or a person, puts them below the prefix of the volume. */
    @Test
    void objectsOfOtherNamesAreInNobodysWay() throws IOException {
        VolumeConfig first = machine("first", Promise.LOCAL);
        Volume.create(first);
        try (Volume volume = Volume.open(first)) {
            write(volume, "a", bytes(1));
        }
        List<String> strange = List.of(
                "metadata/log/zzz",
                "metadata/log/0000000000000001/zzz",
                "metadata/log/0000000000000002/zzz",
                "metadata/log/0000000000000003/zzz",
                "metadata/checkpoints/zzz",
                "metadata/files/zzz",
                "packs/zzz",
                "packs/old/zzz",
                "tails/zzz",
                "readers/zzz");
        try (ObjectStore objects = ObjectStores.open(store.toString())) {
            for (String name : strange) {
                objects.put(name, ObjectSource.of(new byte[100]));
            }
        }
        for (String machine : List.of("second", "first")) {
            try (Volume volume = Volume.open(machine(machine, Promise.LOCAL))) {
                assertArrayEquals(bytes(1), read(volume, "a"), machine);
                write(volume, machine, bytes(2));
                collect(volume);
                assertEquals(List.of(), volume.context().metadata().mendCopy(bytes -> {}), machine);
            }
        }
        try (Volume reader = readElsewhere("third")) {
            assertArrayEquals(bytes(2), read(reader, "first"));
        }
        try (UnmountedStores look =
                UnmountedStores.look("look", machine("fourth", Promise.LOCAL).locations(), null)) {
            assertEquals(List.of(), look.unusable());
            assertEquals(List.of(), look.objects().damaged(Progress.NONE));
        }
    }

    /** The control is what a put has that may still run. */
    @Test
    void whatKilledPutsLeftInTheStoreIsRemoved() throws IOException {
        VolumeConfig machine = machine("first", Promise.LOCAL);
        Volume.create(machine);
        Path unfinished = Files.createDirectories(store.resolve(".unfinished"));
        long now = System.currentTimeMillis();
        Path old = unfinished.resolve(
                String.format("%016x-old", now - Duration.ofDays(2).toMillis()));
        Path young = unfinished.resolve(
                String.format("%016x-young", now - Duration.ofHours(1).toMillis()));
        for (Path file : List.of(old, young)) {
            Files.write(file, new byte[1000]);
        }
        try (Volume volume = Volume.open(machine)) {
            TestWait.until(() -> Files.notExists(old));
            assertTrue(Files.exists(young));
        }
    }

    /** The control is a mount without a salvage before it. */
    @Test
    void afterASalvageNoNumberIsUsedThatWasReservedInWhatIsLost() throws IOException {
        VolumeConfig first = machine("first", Promise.REMOTE);
        Volume.create(first);
        try (Volume volume = Volume.open(first)) {
            write(volume, "a", bytes(1));
        }
        long before = newestPack();
        try (Volume volume = Volume.open(first)) {
            write(volume, "b", bytes(2));
        }
        long control = newestPack();
        assertTrue(control > before && control < before + (1 << 20), before + " " + control);
        UnmountedStores.salvage(first.name(), machine("second", Promise.REMOTE).locations(), null);
        try (Volume volume = Volume.open(machine("second", Promise.REMOTE))) {
            write(volume, "c", bytes(3));
            assertArrayEquals(bytes(2), read(volume, "b"));
        }
        assertTrue(newestPack() >= control + (1 << 20), control + " " + newestPack());
    }

    private long newestPack() throws IOException {
        try (ObjectStore opened = ObjectStores.open(store.toString())) {
            return opened.listAll("packs/", "").stream()
                    .mapToLong(pack -> Long.parseLong(pack.name().replaceAll(".*/|[.]pack", ""), 16))
                    .max()
                    .orElseThrow();
        }
    }

    @Test
    void theFiguresTellWhatTheStoreHasAndWhatItWasAsked() throws IOException {
        VolumeConfig first = machine("first", Promise.REMOTE);
        Volume.create(first);
        try (Volume volume = Volume.open(first)) {
            write(volume, "a", bytes(1));
            RemoteStatistics now = Objects.requireNonNull(volume.remote());
            assertEquals(0, now.metadata().waitingBytes(), "after a sync with this promise");
            assertEquals(0, now.packs().waitingPackBytes(), "the tail was put");
            assertEquals(0, now.missingMs());
            assertTrue(now.requests().sentBytes() >= 3_000_000, now::toString);
            assertTrue(now.requests().putRequests() >= 2 && now.requests().putMillis() > 0, now::toString);
            assertEquals("closed", now.requests().breaker());
            assertNull(now.failure());
            // Nothing can be put into a folder that is gone.
            Path away = Files.move(store, folder.resolve("away"));
            assertThrows(IOException.class, () -> write(volume, "b", bytes(2)));
            RemoteStatistics gone = Objects.requireNonNull(volume.remote());
            assertTrue(gone.missingBytes() > 2_000_000 && gone.missingMs() > 0, gone::toString);
            Files.move(away, store);
            assertTrue(volume.resume());
            TestWait.until(() -> Objects.requireNonNull(volume.remote()).missingBytes() == 0);
        }
        VolumeConfig local = VolumeConfigs.in(folder.resolve("local"), 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(local);
        try (Volume volume = Volume.open(local)) {
            assertNull(volume.remote(), "a volume on this machine");
        }
    }

    @Test
    void whatWasSyncedIsThereWhenTheMachineIsGone() throws IOException {
        VolumeConfig first = machine("first", Promise.REMOTE);
        Volume.create(first);
        Volume volume = Volume.open(first);
        try {
            write(volume, "a", bytes(1));
            write(volume, "b", bytes(2));
            breakLease();
            try (Volume other = Volume.open(machine("second", Promise.REMOTE))) {
                assertArrayEquals(bytes(1), read(other, "a"));
                assertArrayEquals(bytes(2), read(other, "b"));
                write(other, "c", bytes(3));
                assertThrows(IOException.class, () -> write(volume, "d", bytes(4)), "it is not the owner any more");
                assertArrayEquals(bytes(3), read(other, "c"));
                assertThrows(LeaseLostException.class, volume::requireLease, "it serves nothing any more");
                other.requireLease();
            }
        } finally {
            VolumeInMemory.abandon(volume);
        }
        try (Volume third = Volume.open(machine("third", Promise.LOCAL))) {
            assertArrayEquals(bytes(3), read(third, "c"));
            assertThrows(IOException.class, () -> read(third, "d"));
        }
    }

    @Test
    void readersElsewhereSeeTheVolumeAsItWasAtTheirMount() throws IOException {
        VolumeConfig first = machine("first", Promise.REMOTE);
        Volume.create(first);
        Volume volume = Volume.open(first);
        try {
            write(volume, "a", bytes(1));
            write(volume, "small", new byte[] {1, 2, 3});
            try (Volume reader = readElsewhere("second")) {
                assertArrayEquals(bytes(1), read(reader, "a"));
                assertArrayEquals(new byte[] {1, 2, 3}, read(reader, "small"), "it lay in the intent log");
                assertThrows(IOException.class, () -> write(reader, "b", bytes(2)));
                assertFalse(reader.remote().reading().isLost());
                write(volume, "b", bytes(2));
                volume.unlink(Inode.ROOT, "a".getBytes(US_ASCII));
                volume.sync();
                collect(volume);
                // The owner has deleted its packs, and keeps them for the reader.
                try (Volume later = readElsewhere("third")) {
                    assertThrows(IOException.class, () -> read(later, "a"));
                    assertArrayEquals(bytes(2), read(later, "b"));
                }
                assertArrayEquals(bytes(1), read(reader, "a"));
                assertThrows(IOException.class, () -> read(reader, "b"));
            }
            // A copy that cannot be used is made anew.
            Path copied = folder.resolve("second/metadata.reader/metadata/CURRENT");
            assertTrue(Files.exists(copied));
            Files.writeString(copied, "nothing");
            try (Volume again = readElsewhere("second")) {
                assertArrayEquals(bytes(2), read(again, "b"));
                write(volume, "c", bytes(3));
            }
            assertEquals(List.of(), names("readers"), "they have ended");
        } finally {
            volume.close();
        }
    }

    /** A reader has blocks of a volume that is gone. Packs of another one in its place have the same numbers. */
    @Test
    void aReaderHasNoBlockOfAFormerVolume() throws IOException {
        VolumeConfig first = machine("first", Promise.REMOTE);
        Volume.create(first);
        try (Volume volume = Volume.open(first)) {
            write(volume, "a", bytes(1));
        }
        try (Volume reader = readThroughCache()) {
            assertArrayEquals(bytes(1), read(reader, "a"));
        }
        store = Files.createDirectories(folder.resolve("another"));
        VolumeConfig second = machine("second", Promise.REMOTE);
        Volume.create(second);
        try (Volume volume = Volume.open(second)) {
            // Into a container that stays open: the reader recovers what the store has of it.
            write(volume, "a", bytes(2));
            try (Volume reader = readThroughCache()) {
                assertArrayEquals(bytes(2), read(reader, "a"));
            }
        }
    }

    private Volume readThroughCache() throws IOException {
        return Volume.openReadOnly(machine("reader", Promise.LOCAL, 64 << 20), Verification.CHECKSUMS);
    }

    private Volume readElsewhere(String machine) throws IOException {
        return Volume.openReadOnly(machine(machine, Promise.LOCAL), Verification.CHECKSUMS);
    }

    private static void collect(Volume volume) throws IOException {
        var unused =
                volume.context().collector().collect(new CollectionLimits(0, false), (done, bytes, returned) -> true);
        volume.sync();
    }

    private List<String> names(String prefix) throws IOException {
        try (ObjectStore objects = ObjectStores.open(store.toString())) {
            return objects.listAll(prefix, "").stream()
                    .map(ObjectPage.Entry::name)
                    .toList();
        }
    }

    @Test
    void spaceComesBackAlsoIfTheOwnerIsKilled() throws IOException {
        VolumeConfig first = machine("first", Promise.REMOTE);
        Volume.create(first);
        Volume volume = Volume.open(first);
        write(volume, "a", bytes(1));
        write(volume, "b", bytes(2));
        try (Volume reader = readElsewhere("second")) {
            volume.unlink(Inode.ROOT, "a".getBytes(US_ASCII));
            volume.unlink(Inode.ROOT, "b".getBytes(US_ASCII));
            volume.sync();
            collect(volume);
            write(volume, "c", bytes(3));
            VolumeInMemory.abandon(volume);
            assertArrayEquals(bytes(1), read(reader, "a"));
        }
        long before = storedBytes();
        try (Volume next = Volume.open(machine("third", Promise.REMOTE))) {
            collect(next);
        }
        assertTrue(before - storedBytes() > 5_000_000, "left: " + names("packs"));
    }

    @Test
    void aCollectionWritesAnewWhatIsWorthItByThePricesOfTheStore() throws IOException {
        VolumeConfig free = machine("first", Promise.LOCAL);
        Volume.create(free);
        try (Volume volume = Volume.open(free)) {
            write(volume, "a", bytes(1));
        }
        byte[] changed = bytes(1);
        System.arraycopy(bytes(2), 0, changed, 0, 1_200_000);
        try (Volume volume = Volume.open(free)) {
            Attributes found = volume.lookup(Inode.ROOT, "a".getBytes(US_ASCII));
            OpenFile file = volume.open(found.inode(), true);
            volume.write(file, 0, ByteBuffer.wrap(changed, 0, 1_200_000));
            volume.close(file);
            volume.forget(found.inode(), 1);
            volume.sync();
            collect(volume);
        }
        long before = storedBytes();
        assertTrue(before > 4_000_000, "two fifths of a pack are dead, which is too little: " + names("packs"));
        VolumeConfig charged = free.in(
                new RemoteSettings(store.toString(), Promise.LOCAL, CACHE_BYTES, StorePrices.parse("s3-standard")));
        try (Volume volume = Volume.open(charged)) {
            collect(volume);
            assertArrayEquals(changed, read(volume, "a"));
        }
        assertTrue(before - storedBytes() > 1_000_000, "left: " + names("packs"));
    }

    @Test
    void aScrubReadsTheStoreAndNotCopiesAndHealsFromThem() throws IOException {
        VolumeConfig first =
                machine("first", Promise.LOCAL).in(new RemoteSettings(store.toString(), Promise.LOCAL, 1 << 30));
        Volume.create(first);
        try (Volume volume = Volume.open(first)) {
            write(volume, "a", bytes(1));
        }
        try (Volume volume = Volume.open(first)) {
            write(volume, "b", bytes(2));
        }
        // The object of the first is damaged, that of the second is gone. The folder has copies of both.
        List<Path> objects = packFiles();
        try (FileChannel file = FileChannel.open(objects.get(0), StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[64]), 1_000_000);
        }
        Files.delete(objects.get(1));
        try (Volume volume = Volume.open(first)) {
            VolumeMaintenance care = volume.maintenance();
            care.heal().setDelays(3_600_000, 3_600_000);
            assertArrayEquals(bytes(1), read(volume, "a"), "programs read the copy");
            assertEquals(
                    1, care.scrub().run((totals, rest, next) -> true).totals().damagedFrames());
            assertTrue(care.heal().run(soFar -> true).healedChunks() > 0);
            assertTrue(care.scrub().run((totals, rest, next) -> true).totals().isClean());
        }
        try (Volume volume = Volume.open(machine("second", Promise.LOCAL))) {
            assertArrayEquals(bytes(1), read(volume, "a"));
            assertArrayEquals(bytes(2), read(volume, "b"));
        }
    }

    private List<Path> packFiles() throws IOException {
        try (Stream<Path> files = Files.walk(store.resolve("packs"))) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private long storedBytes() throws IOException {
        try (ObjectStore objects = ObjectStores.open(store.toString())) {
            return objects.listAll("packs", "").stream()
                    .mapToLong(ObjectPage.Entry::length)
                    .sum();
        }
    }

    @Test
    void aDamagedLocalCacheIsReadFromTheStore() throws IOException {
        VolumeConfig first = machine("first", Promise.LOCAL);
        Volume.create(first);
        try (Volume volume = Volume.open(first)) {
            write(volume, "a", bytes(1));
        }
        VolumeConfig second = machine("second", Promise.LOCAL, 64 << 20);
        try (Volume volume = Volume.open(second)) {
            assertArrayEquals(bytes(1), read(volume, "a"));
        }
        try (Stream<Path> cached = Files.list(second.locations().data().resolve("cache"))) {
            for (Path each : cached.toList()) {
                byte[] bytes = Files.readAllBytes(each);
                // The table at the end stays, so that the blocks are used.
                for (int at = 0; at < bytes.length - 1000; at += 500) {
                    bytes[at] ^= 1;
                }
                Files.write(each, bytes);
            }
        }
        try (Volume volume = Volume.open(second)) {
            assertArrayEquals(bytes(1), read(volume, "a"));
            assertEquals(0, volume.context().damaged().found(), "the store has the right bytes");
        }
    }

    private void breakLease() throws IOException {
        try (ObjectStore objects = FolderObjectStore.open(store)) {
            LeaseObject lease = new LeaseObject("here", objects);
            assertTrue(lease.breakNow(lease.current().orElseThrow().owner()).isPresent());
        }
    }

    private LeaseRecord lease() throws IOException {
        try (ObjectStore objects = FolderObjectStore.open(store)) {
            return new LeaseObject("here", objects).current().orElseThrow();
        }
    }

    @Test
    void onlyOneMachineUsesIt() throws IOException {
        VolumeConfig first = machine("first", Promise.LOCAL);
        Volume.create(first);
        try (Volume volume = Volume.open(first)) {
            write(volume, "a", bytes(1));
            IOException refused =
                    assertThrows(LeaseHeldException.class, () -> Volume.open(machine("second", Promise.LOCAL)));
            assertTrue(
                    refused.getMessage()
                            .contains("process " + ProcessHandle.current().pid()),
                    refused.getMessage());
            volume.requireLease();
            assertEquals("valid", volume.lease().status().state());
            assertEquals(LeaseRecord.State.HELD, lease().state());
        }
        assertEquals(LeaseRecord.State.RELEASED, lease().state());
        try (Volume volume = Volume.open(machine("second", Promise.LOCAL))) {
            assertArrayEquals(bytes(1), read(volume, "a"));
            assertEquals(2, lease().epoch());
        }
    }

    /** As a machine does that was cloned, or gets the disk of another: the process that is named there still runs. */
    @Test
    void aCopyOfTheFolderDoesNotKnowThatTheOwnerHasEnded() throws IOException {
        VolumeConfig first = machine("first", Promise.LOCAL);
        VolumeConfig second = machine("second", Promise.LOCAL);
        Volume.create(first);
        try (Volume volume = Volume.open(first)) {
            write(volume, "a", bytes(1));
            Path from = first.locations().data();
            Path to = second.locations().data();
            try (Stream<Path> files = Files.walk(from)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    Path target = to.resolve(from.relativize(file));
                    Files.createDirectories(target.getParent());
                    Files.copy(file, target);
                }
            }
            assertThrows(LeaseHeldException.class, () -> Volume.open(second).close());
            assertEquals(1, lease().epoch());
        }
    }

    /** The next one would put the pack that the first one is writing, as if it were whole. */
    @Test
    void aProcessThatLostTheLeaseHasItsFolderUntilItEnds() throws IOException {
        VolumeConfig first = machine("first", Promise.REMOTE);
        Volume.create(first);
        Volume volume = Volume.open(first);
        try {
            write(volume, "a", bytes(1));
            breakLease();
            IOException refused =
                    assertThrows(IOException.class, () -> Volume.open(first).close());
            assertTrue(refused.getMessage().contains("in use by another process of this machine"), refused.toString());
            assertEquals(LeaseRecord.State.BROKEN, lease().state());
            // It has no successor, so the chain takes what it commits.
            write(volume, "b", bytes(2));
        } finally {
            VolumeInMemory.abandon(volume);
        }
        for (VolumeConfig machine : new VolumeConfig[] {first, machine("second", Promise.REMOTE)}) {
            try (Volume again = Volume.open(machine)) {
                assertArrayEquals(bytes(1), read(again, "a"));
                assertArrayEquals(bytes(2), read(again, "b"));
            }
        }
    }

    /** What the former owner has written since, and puts into the store, takes no name from the next one. */
    @Test
    void twoOwnersAtOnceGiveNoObjectTheSameName() throws IOException {
        VolumeConfig first = machine("first", Promise.LOCAL);
        Volume.create(first);
        Volume volume = Volume.open(first);
        try {
            // Committed here; the store may not have it yet.
            write(volume, "a", bytes(1));
            breakLease();
            try (Volume other = Volume.open(machine("second", Promise.LOCAL))) {
                for (int i = 10; i < 14; i++) {
                    writeIfPossible(volume, "first" + i, bytes(i));
                    write(other, "second" + i, bytes(100 + i));
                }
            }
        } finally {
            VolumeInMemory.abandon(volume);
        }
        try (Volume third = Volume.open(machine("third", Promise.LOCAL))) {
            for (int i = 10; i < 14; i++) {
                assertArrayEquals(bytes(100 + i), read(third, "second" + i));
            }
        }
        // The first machine has packs of its own that nobody needs, and goes on.
        try (Volume again = Volume.open(first)) {
            for (int i = 10; i < 14; i++) {
                assertArrayEquals(bytes(100 + i), read(again, "second" + i));
            }
            write(again, "last", bytes(5));
        }
        try (Volume fourth = Volume.open(machine("fourth", Promise.LOCAL))) {
            assertArrayEquals(bytes(5), read(fourth, "last"));
        }
    }

    private static void writeIfPossible(Volume volume, String name, byte[] bytes) {
        try {
            write(volume, name, bytes);
        } catch (IOException e) {
            // It may have found out by now.
        }
    }

    @Test
    void thereIsOneVolumeInAStore() throws IOException {
        Volume.create(machine("first", Promise.LOCAL));
        assertThrows(IOException.class, () -> Volume.create(machine("second", Promise.LOCAL)));
    }
}
