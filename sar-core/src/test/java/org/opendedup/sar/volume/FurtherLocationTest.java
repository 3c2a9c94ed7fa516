package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.DataLocation;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.store.DataLocations;
import org.opendedup.sar.volume.store.DeviceCondition;
import org.opendedup.sar.volume.store.Location;
import org.opendedup.sar.volume.store.VolumeStores;

/** A volume whose packs lie in two folders; the second one is on a device of its own, with more space. */
class FurtherLocationTest {
    private static final int BYTES = 300 << 10;

    @TempDir
    Path folder;

    private final SplittableRandom random = new SplittableRandom(7);
    private Path further;
    private VolumeConfig config;
    private VolumeConfig with;

    private final CrashDirectory first = new CrashDirectory(1);
    private final CrashDirectory second = new CrashDirectory(2);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();

    @BeforeEach
    void make() throws IOException {
        further = folder.resolve("deep/second");
        config = VolumeConfigs.in(folder, 1L << 40, Chunking.VARIABLE_SHA256);
        with = config.withFurtherData(List.of(further));
        Volume.create(config);
    }

    /**
     * Makes a volume of two locations in memory. New packs go to the second one, because the first one has less space.
     */
    private void makeInMemory() throws IOException {
        Volume.create(config, first, metadata, InstantSource.system());
        DataLocations.prepare(first, second);
        first.noSpaceAfter(1L << 40);
    }

    private byte[] bytes() {
        byte[] bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return bytes;
    }

    private void prepare() throws IOException {
        Volume.prepareDataLocation(config.locations().data(), further);
    }

    private static List<Path> packs(Path location) throws IOException {
        try (Stream<Path> files = Files.walk(location)) {
            return files.filter(file -> file.toString().endsWith(".pack")).toList();
        }
    }

    /** Moves all packs of the first location to the further one, as if they had been made there. */
    private void movePacks() throws IOException {
        for (Path pack : packs(config.locations().data())) {
            Path there = further.resolve(config.locations().data().relativize(pack));
            Files.createDirectories(there.getParent());
            Files.move(pack, there);
        }
    }

    @Test
    void packsAreFoundInAnyLocationByEveryPart() throws IOException {
        byte[] before = bytes();
        byte[] after = bytes();
        try (Volume volume = Volume.open(config)) {
            GarbageTrial.store(volume, "before", before);
            prepare();
            volume.addDataLocation(further);
            GarbageTrial.store(volume, "after", after);
        }
        movePacks();
        byte[] again = bytes();
        try (Volume volume = Volume.open(with)) {
            assertArrayEquals(before, GarbageTrial.read(volume, "before", BYTES));
            GarbageTrial.store(volume, "again", again);
            volume.sync();
            assertEquals(List.of(), VolumeChecker.check(volume));
            assertEquals(
                    List.of(),
                    volume.maintenance().check().run((step, done, of) -> {}).findings());
            assertTrue(volume.maintenance()
                    .scrub()
                    .run((totals, rest, next) -> true)
                    .totals()
                    .isClean());
            assertEquals(
                    List.of(DeviceCondition.OK, DeviceCondition.OK),
                    volume.condition().devices().stream()
                            .map(DeviceCondition::state)
                            .toList());
        }
        var offline =
                new OfflineCheck("test", with.locations(), with.keys(), (step, done, of) -> {}, InstantSource.system());
        assertEquals(List.of(), offline.check().findings());
        offline.rebuildContainers();
        try (Volume volume = Volume.openReadOnly(with, Verification.FINGERPRINTS)) {
            assertArrayEquals(before, GarbageTrial.read(volume, "before", BYTES));
            assertArrayEquals(after, GarbageTrial.read(volume, "after", BYTES));
            assertArrayEquals(again, GarbageTrial.read(volume, "again", BYTES));
        }
    }

    @Test
    void aLocationThatIsMissingOrEmptyIsRefusedByName() throws IOException {
        prepare();
        Volume.open(with).close();
        Path away = Files.move(further, folder.resolve("away"));
        IOException missing = assertThrows(NoSuchFileException.class, () -> Volume.open(with));
        assertTrue(missing.getMessage().contains(further.toString()), missing.getMessage());
        // Its disk is not mounted there.
        Files.createDirectory(further);
        IOException empty = assertThrows(IOException.class, () -> Volume.open(with));
        assertTrue(empty.getMessage().contains("no volume's data in " + further), empty.getMessage());
        Files.delete(further);
        IOException unnamed = assertThrows(IOException.class, () -> Volume.open(config));
        assertTrue(unnamed.getMessage().contains("it was last in " + further), unnamed.getMessage());
        var offline = new OfflineCheck(
                "test", config.locations(), config.keys(), (step, done, of) -> {}, InstantSource.system());
        assertThrows(IOException.class, offline::check, "its packs would be reported as missing");
        // At another place it is the same location.
        VolumeConfig moved = config.withFurtherData(List.of(away));
        try (Volume volume = Volume.open(moved)) {
            assertEquals(
                    List.of(away.toString()),
                    volume.context().metadata().locations().all().stream()
                            .map(DataLocation::path)
                            .toList());
        }
    }

    /** The control of the refusal above: what the record prevents. */
    @Test
    void controlWithoutTheRecordAMountWithoutTheLocationLosesFiles() throws IOException {
        prepare();
        byte[] stored = bytes();
        try (Volume volume = Volume.open(with)) {
            GarbageTrial.store(volume, "a", stored);
        }
        movePacks();
        try (Volume volume = Volume.open(with)) {
            assertArrayEquals(stored, GarbageTrial.read(volume, "a", BYTES));
            volume.context().metadata().locations().replace(List.of());
        }
        try (Volume volume = Volume.open(config)) {
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "a", BYTES));
        }
    }

    @Test
    void aLocationOfAnotherVolumeIsRefused() throws IOException {
        Path other = Files.createDirectory(folder.resolve("other"));
        VolumeConfig another = VolumeConfigs.in(other, 1L << 40, Chunking.SHA256);
        Volume.create(another);
        VolumeConfig both = config.withFurtherData(List.of(another.locations().data()));
        IOException refused = assertThrows(IOException.class, () -> Volume.open(both));
        assertTrue(refused.getMessage().contains("belongs to volume"), refused.getMessage());
        assertThrows(
                IOException.class,
                () -> Volume.prepareDataLocation(
                        config.locations().data(), another.locations().data()));
        Path full = Files.createDirectory(folder.resolve("full"));
        Files.writeString(full.resolve("file"), "of use");
        assertThrows(
                FileAlreadyExistsException.class,
                () -> Volume.prepareDataLocation(config.locations().data(), full));
        assertThrows(
                IOException.class,
                () -> Volume.prepareDataLocation(
                        config.locations().data(), config.locations().data()));
    }

    @Test
    void oneLocationIsNotUsedTwice() throws IOException {
        prepare();
        Path copy = Files.createDirectory(folder.resolve("copy"));
        Files.copy(further.resolve(VolumeIdentity.NAME), copy.resolve(VolumeIdentity.NAME));
        IOException refused =
                assertThrows(IOException.class, () -> Volume.open(config.withFurtherData(List.of(further, copy))));
        assertTrue(refused.getMessage().contains("are the same one"), refused.getMessage());
        try (Volume volume = Volume.open(with)) {
            assertThrows(IOException.class, () -> volume.addDataLocation(copy));
        }
    }

    /** A location from a backup has an earlier epoch: what was stored there since is missing, and that is noticed. */
    @Test
    void aLocationOfAnEarlierEpochMakesTheIndexAnew() throws IOException {
        prepare();
        Volume.open(with).close();
        Path backup = Files.createDirectory(folder.resolve("backup"));
        Files.copy(further.resolve(VolumeIdentity.NAME), backup.resolve(VolumeIdentity.NAME));
        byte[] stored = bytes();
        try (Volume volume = Volume.open(with)) {
            GarbageTrial.store(volume, "a", stored);
        }
        Volume.open(with).close();
        long packs = packs(config.locations().data()).size();
        movePacks();
        Files.move(further, folder.resolve("lost"));
        Files.move(backup, further);
        try (Volume volume = Volume.open(with)) {
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "a", BYTES));
            // New data does not refer to what is lost.
            GarbageTrial.store(volume, "b", stored);
            volume.sync();
            assertArrayEquals(stored, GarbageTrial.read(volume, "b", BYTES));
        }
        assertTrue(packs > 0);
    }

    @Test
    void aDiskThatIsGoneIsNoMissingPack() throws IOException {
        prepare();
        byte[] stored = bytes();
        try (Volume volume = Volume.open(with)) {
            GarbageTrial.store(volume, "a", stored);
        }
        movePacks();
        try (Volume volume = Volume.open(with)) {
            Path away = Files.move(further, folder.resolve("away"));
            Files.createDirectory(further);
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "a", BYTES));
            assertEquals(
                    DeviceCondition.MISSING, volume.condition().devices().get(1).state());
            Files.delete(further);
            Files.move(away, further);
            assertArrayEquals(stored, GarbageTrial.read(volume, "a", BYTES));
            assertEquals(0, volume.condition().damagedChunks());
            assertEquals(0, volume.condition().missingContainers());
        }
    }

    /** A stream that needs a pack gets one elsewhere, and the volume takes changes all the time. */
    @Test
    void aLocationWhoseDiskIsGoneIsPassedOver() throws IOException {
        prepare();
        Map<String, byte[]> contents = new TreeMap<>(Map.of("before", bytes(), "meanwhile", bytes()));
        try (Volume volume = Volume.open(with)) {
            GarbageTrial.store(volume, "before", contents.get("before"));
        }
        movePacks();
        try (Volume volume = Volume.open(with)) {
            Path away = Files.move(further, folder.resolve("away"));
            Files.createDirectory(further);
            GarbageTrial.store(volume, "meanwhile", contents.get("meanwhile"));
            volume.sync();
            assertNull(volume.stopped());
            assertArrayEquals(contents.get("meanwhile"), GarbageTrial.read(volume, "meanwhile", BYTES));
            assertEquals(List.of(), packs(further));
            Files.delete(further);
            Files.move(away, further);
            assertEquals(List.of(), GarbageTrial.problems(volume, contents));
        }
        try (Volume volume = Volume.open(with)) {
            assertEquals(List.of(), GarbageTrial.problems(volume, contents));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    /** What is garbage there keeps its space until the disk is back. */
    @Test
    void aCollectionPassesOverALocationWhoseDiskIsGone() throws IOException {
        prepare();
        try (Volume volume = Volume.open(with)) {
            GarbageTrial.store(volume, "there", bytes());
        }
        movePacks();
        byte[] kept = bytes();
        try (Volume volume = Volume.open(with)) {
            GarbageTrial.store(volume, "here", kept);
            volume.unlink(Inode.ROOT, "there".getBytes(UTF_8));
            // A half of what the first location has is garbage, too.
            System.arraycopy(bytes(), 0, kept, 0, BYTES / 2);
            overwrite(volume, "here", kept, BYTES / 2);
            Path away = Files.move(further, folder.resolve("away"));
            Files.createDirectory(further);
            CollectionReport report = GarbageTrial.collect(volume, 0);
            assertTrue(report.removed() > 0 && report.rewritten() > 0, report.toString());
            assertEquals(List.of(), packs(further));
            Files.delete(further);
            Files.move(away, further);
            assertFalse(packs(further).isEmpty());
            assertEquals(List.of(), GarbageTrial.problems(volume, Map.of("here", kept)));
            GarbageTrial.collect(volume, 0);
            assertEquals(List.of(), packs(further));
        }
        try (Volume volume = Volume.open(with)) {
            assertEquals(List.of(), GarbageTrial.problems(volume, Map.of("here", kept)));
        }
    }

    private static void overwrite(Volume volume, String name, byte[] bytes, int length) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        OpenFile file = volume.open(inode, true);
        try {
            volume.write(file, 0, ByteBuffer.wrap(bytes, 0, length));
            volume.sync();
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    @Test
    void aCollectionPassesOverALocationThatIsReadOnly() throws IOException {
        makeInMemory();
        boolean[] isReadOnly = {false};
        Set<String> changes = Set.of("create", "delete", "release", "trim", "freesRanges");
        Directory refusing = WatchedDirectory.of(second, (method, file) -> {
            if (isReadOnly[0] && changes.contains(method)) {
                throw new IOException(file + " cannot be opened: Read-only file system");
            }
        });
        byte[] kept = bytes();
        try (Volume volume = openWith(refusing)) {
            GarbageTrial.store(volume, "there", bytes());
        }
        assertTrue(second.list().size() > 1, second.list().toString());
        try (Volume volume = openWith(refusing)) {
            isReadOnly[0] = true;
            GarbageTrial.store(volume, "here", kept);
            volume.unlink(Inode.ROOT, "there".getBytes(UTF_8));
            System.arraycopy(bytes(), 0, kept, 0, BYTES / 2);
            overwrite(volume, "here", kept, BYTES / 2);
            CollectionReport report = GarbageTrial.collect(volume, 0);
            assertTrue(report.removed() > 0 && report.rewritten() > 0, report.toString());
            assertTrue(second.list().size() > 1, second.list().toString());
            assertEquals(List.of(), GarbageTrial.problems(volume, Map.of("here", kept)));
            isReadOnly[0] = false;
            GarbageTrial.collect(volume, 0);
            assertEquals(List.of(VolumeIdentity.NAME), second.list());
            assertEquals(List.of(), GarbageTrial.problems(volume, Map.of("here", kept)));
        }
    }

    /** Opens the volume in memory. */
    private Volume openWith(Directory other) throws IOException {
        var stores = new VolumeStores(
                DataLocations.of(first, other), metadata, new HeapChunkIndex(), InstantSource.system());
        return Volume.open(config, stores, Verification.CHECKSUMS);
    }

    /**
     * As of a disk that was pulled out: what its file system has in memory is there, everything else is an error. It
     * may have the mark of the volume in memory, which is found then and cannot be read.
     */
    @ParameterizedTest
    @CsvSource({"exists, is not there", "readFully, does not answer"})
    void aPackThatCannotBeFoundOnADiskThatIsPulledIsNotDamaged(String failingOnceItIsGone, String said)
            throws IOException {
        makeInMemory();
        String pack = PackFormat.fileName(1);
        second.create(pack).close();
        boolean[] isGone = {false};
        Directory failing = WatchedDirectory.of(second, (method, file) -> {
            boolean isLookedFor = method.equals("exists") && file.equals(pack);
            if (isLookedFor || isGone[0] && method.equals(failingOnceItIsGone)) {
                throw new IOException("Input/output error");
            }
        });
        DataLocations locations = DataLocations.of(first, failing);
        IOException damage = assertThrows(IOException.class, () -> locations.open(pack));
        assertFalse(NoAnswer.is(damage), "the control: only this file cannot be found");
        isGone[0] = true;
        IOException gone = assertThrows(IOException.class, () -> locations.open(pack));
        assertTrue(NoAnswer.is(gone), gone.toString());
        assertTrue(gone.getMessage().contains(said), gone.getMessage());
        assertEquals("Input/output error", gone.getCause().getMessage());
    }

    /**
     * A second location that stands for a disk: what its file system has in memory is there, reads are errors. It has
     * the mark of the volume in memory, and not where its packs are.
     */
    private static Directory pulled(Directory second, BooleanSupplier isFailing) {
        Set<String> asks = Set.of("readFully", "list", "forEach", "create", "delete", "release", "trim", "freesRanges");
        return WatchedDirectory.of(second, (method, file) -> {
            boolean isAsked = asks.contains(method) || method.equals("exists") && file.endsWith(".pack");
            if (isAsked && isFailing.getAsBoolean()) {
                throw new IOException("Input/output error");
            }
        });
    }

    private static boolean canBeRead(Volume volume, String name) {
        try {
            GarbageTrial.read(volume, name, BYTES);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Scrubs and heals, as far as that is possible. */
    private static void care(Volume volume) {
        assertThrows(
                IOException.class, () -> volume.maintenance().scrub().run((totals, rest, now) -> true), "no verdict");
        try {
            volume.maintenance().heal().run(soFar -> true);
        } catch (IOException e) {
            assertTrue(NoAnswer.is(e), e::toString);
        }
        volume.context().damaged().recordAll();
    }

    @Test
    void aDiskThatIsPulledWhileItsPacksAreOpenIsNotDamaged() throws IOException {
        makeInMemory();
        boolean[] isGone = {false};
        Directory failing = pulled(second, () -> isGone[0]);
        byte[] there = bytes();
        byte[] also = bytes();
        try (Volume volume = openWith(failing)) {
            GarbageTrial.store(volume, "there", there);
            GarbageTrial.store(volume, "also", also);
        }
        try (Volume volume = openWith(failing)) {
            assertArrayEquals(also, GarbageTrial.read(volume, "also", BYTES), "its pack is open");
            isGone[0] = true;
            assertFalse(canBeRead(volume, "there"));
            care(volume);
            assertEquals(0, volume.condition().damagedChunks());
            String state = volume.condition().devices().get(1).state();
            assertTrue(state.contains("does not answer"), state);
            isGone[0] = false;
            assertEquals(List.of(), GarbageTrial.problems(volume, Map.of("there", there, "also", also)));
        }
    }

    /** Only a part of one pack cannot be read. */
    @Test
    void controlABadSectorIsDamage() throws IOException {
        makeInMemory();
        boolean[] isBad = {false};
        Directory failing = WatchedDirectory.of(second, (method, file) -> {
            if (method.equals("readFully") && file.endsWith(".pack") && isBad[0]) {
                throw new IOException("Input/output error");
            }
        });
        try (Volume volume = openWith(failing)) {
            GarbageTrial.store(volume, "there", bytes());
        }
        try (Volume volume = openWith(failing)) {
            isBad[0] = true;
            assertFalse(canBeRead(volume, "there"));
            volume.maintenance().scrub().run((totals, rest, now) -> true);
            assertTrue(volume.condition().damagedChunks() > 0);
            isBad[0] = false;
        }
    }

    private static Object call(Object target, Method method, Object... arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** Returns a file that fails when there is another mount than that in which it was opened. */
    private static Input ofMount(int mount, int[] mounts, Input input, String error) {
        return (Input) Proxy.newProxyInstance(
                Input.class.getClassLoader(), new Class<?>[] {Input.class}, (self, method, arguments) -> {
                    boolean isOther = mount != mounts[0];
                    if (method.getName().equals("isReplaced")) {
                        return isOther;
                    }
                    if (Set.of("length", "readFully").contains(method.getName()) && isOther) {
                        throw new IOException(error);
                    }
                    return call(input, method, arguments);
                });
    }

    /** What was open fails for ever then; the same names lead to files that can be read. */
    @ParameterizedTest
    @ValueSource(strings = {"Input/output error", "Stale file handle", "Transport endpoint is not connected"})
    void aDiskThatIsMountedAnewIsReadAgain(String error) throws IOException {
        makeInMemory();
        int[] mounts = {0};
        Directory remounted = (Directory) Proxy.newProxyInstance(
                Directory.class.getClassLoader(), new Class<?>[] {Directory.class}, (self, method, arguments) -> {
                    Object result = call(second, method, arguments);
                    return result instanceof Input input ? ofMount(mounts[0], mounts, input, error) : result;
                });
        Map<String, byte[]> contents = Map.of("there", bytes(), "also", bytes());
        try (Volume volume = openWith(remounted)) {
            for (Map.Entry<String, byte[]> file : contents.entrySet()) {
                GarbageTrial.store(volume, file.getKey(), file.getValue());
            }
        }
        try (Volume volume = openWith(remounted)) {
            assertTrue(canBeRead(volume, "also"), "its pack is open");
            mounts[0]++;
            assertEquals(List.of(), GarbageTrial.problems(volume, contents));
            assertEquals(0, volume.condition().damagedChunks());
        }
    }

    @Test
    void aCollectionPassesOverADiskThatIsPulled() throws IOException {
        makeInMemory();
        boolean[] isGone = {false};
        Directory failing = pulled(second, () -> isGone[0]);
        byte[] kept = bytes();
        try (Volume volume = openWith(failing)) {
            GarbageTrial.store(volume, "there", bytes());
        }
        try (Volume volume = openWith(failing)) {
            isGone[0] = true;
            GarbageTrial.store(volume, "here", kept);
            volume.unlink(Inode.ROOT, "there".getBytes(UTF_8));
            System.arraycopy(bytes(), 0, kept, 0, BYTES / 2);
            overwrite(volume, "here", kept, BYTES / 2);
            CollectionReport report = GarbageTrial.collect(volume, 0);
            assertTrue(report.removed() > 0 && report.rewritten() > 0, report.toString());
            isGone[0] = false;
            assertTrue(second.list().size() > 1, second.list().toString());
            GarbageTrial.collect(volume, 0);
            assertEquals(List.of(VolumeIdentity.NAME), second.list());
            assertEquals(List.of(), GarbageTrial.problems(volume, Map.of("here", kept)));
        }
    }

    /** What was accepted for its disk waits in memory, and goes to another location when changes are resumed. */
    @Test
    void whatWasWrittenToADiskThatIsPulledGoesToAnotherLocation() throws IOException {
        makeInMemory();
        HookedDirectory failing = new HookedDirectory(second);
        Map<String, byte[]> contents = Map.of("before", bytes(), "meanwhile", bytes());
        try (Volume volume = openWith(failing)) {
            GarbageTrial.store(volume, "before", contents.get("before"));
            // What is appended goes to the memory of the kernel, and is read there.
            Set<String> onDisk = Set.copyOf(second.list());
            failing.hook = (call, name) -> {
                if (call == HookedDirectory.Call.FORCE || call == HookedDirectory.Call.SYNC) {
                    throw new IOException("Input/output error");
                }
            };
            failing.readHook = (name, from, to) -> {
                if (onDisk.contains(name)) {
                    throw new IOException("Input/output error");
                }
            };
            assertThrows(IOException.class, () -> {
                GarbageTrial.store(volume, "meanwhile", contents.get("meanwhile"));
                volume.sync();
            });
            assertTrue(volume.resume(), "it was stopped");
            volume.sync();
            assertNull(volume.stopped());
            assertArrayEquals(contents.get("meanwhile"), GarbageTrial.read(volume, "meanwhile", BYTES));
            failing.pass();
            failing.readHook = (name, from, to) -> {};
        }
        try (Volume volume = openWith(second)) {
            assertEquals(List.of(), GarbageTrial.problems(volume, contents));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    /** Space may come back, so a stream can wait for it. */
    @Test
    void aFullLocationCountsBesideOneThatRefusesPacks() throws IOException {
        makeInMemory();
        DataLocations locations = DataLocations.of(
                failing(first, new NoSpaceException("No space left on device")),
                failing(second, new IOException("Read-only file system")));
        NoSpaceException full = assertThrows(NoSpaceException.class, () -> locations.create(PackFormat.fileName(1)));
        assertEquals("Read-only file system", full.getSuppressed()[0].getMessage());
    }

    private static Directory failing(Directory directory, IOException failure) {
        return WatchedDirectory.of(directory, (method, file) -> {
            if (method.equals("create")) {
                throw failure;
            }
        });
    }

    /** As on a disk whose file system has become read-only. */
    @Test
    void aLocationThatRefusesPacksIsPassedOver() throws IOException {
        makeInMemory();
        byte[] stored = bytes();
        boolean[] refuses = {true};
        Directory refusing = WatchedDirectory.of(second, (method, file) -> {
            if (refuses[0] && method.equals("create")) {
                throw new IOException("Read-only file system");
            }
        });
        var stores = new VolumeStores(
                DataLocations.of(first, refusing), metadata, new HeapChunkIndex(), InstantSource.system());
        // The mark of the epoch is made before.
        refuses[0] = false;
        try (Volume volume = Volume.open(config, stores, Verification.CHECKSUMS)) {
            refuses[0] = true;
            GarbageTrial.store(volume, "a", stored);
            volume.sync();
            assertEquals(
                    List.of(DeviceCondition.OK, "Read-only file system"),
                    volume.condition().devices().stream()
                            .map(DeviceCondition::state)
                            .limit(2)
                            .toList());
            assertArrayEquals(stored, GarbageTrial.read(volume, "a", BYTES));
        }
        assertEquals(List.of(VolumeIdentity.NAME), second.list());
    }

    @Test
    void onlyPacksAreSpread() throws IOException {
        List<String> names = new ArrayList<>();
        prepare();
        try (Volume volume = Volume.open(with)) {
            volume.context().engine().data().forEach(names::add);
            assertEquals(names.stream().distinct().toList(), names);
            assertFalse(volume.condition().devices().isEmpty());
        }
        assertEquals(
                List.of(VolumeIdentity.NAME),
                FileDirectory.open(further).names().stream()
                        .filter(name -> !name.equals("ballast"))
                        .toList());
    }

    /** The location is the root of a file system, perhaps: {@code lost+found} stays, and a link of somebody. */
    @Test
    void whatOthersHaveInALocationStaysWhenItIsLeft() throws IOException {
        prepare();
        Path empty = Files.createDirectories(further.resolve("lost+found"));
        Path linked = Files.createDirectory(folder.resolve("linked"));
        Path link = Files.createSymbolicLink(further.resolve("0000beef"), linked);
        byte[] stored = bytes();
        try (Volume volume = Volume.open(with)) {
            GarbageTrial.store(volume, "a", stored);
            volume.sync();
            volume.collector().collect(CollectionLimits.leaving(further), (done, of, returned) -> true);
        }
        assertEquals(List.of(), packs(further));
        assertTrue(Files.isDirectory(empty));
        assertTrue(Files.isSymbolicLink(link));
        try (Stream<Path> left = Files.list(further)) {
            // The folders of packs, the mark and the ballast are gone.
            assertEquals(Set.of(empty, link), left.collect(Collectors.toSet()));
        }
        try (Volume volume = Volume.open(config)) {
            assertArrayEquals(stored, GarbageTrial.read(volume, "a", BYTES));
        }
    }

    /** Its disk is not mounted: the folder is there, and has no pack. */
    @Test
    void aLocationWhoseDiskIsGoneIsNotLeft() throws IOException {
        prepare();
        byte[] stored = bytes();
        try (Volume volume = Volume.open(with)) {
            GarbageTrial.store(volume, "a", stored);
        }
        movePacks();
        try (Volume volume = Volume.open(with)) {
            Path away = Files.move(further, folder.resolve("away"));
            Files.createDirectory(further);
            IOException refused = assertThrows(IOException.class, () -> leave(volume));
            assertTrue(refused.getMessage().contains("is not there"), refused.getMessage());
            assertFalse(volume.context().engine().data().locations().get(1).isLeaving());
            Files.delete(further);
            Files.move(away, further);
            assertArrayEquals(stored, GarbageTrial.read(volume, "a", BYTES));
            leave(volume);
            assertArrayEquals(stored, GarbageTrial.read(volume, "a", BYTES));
        }
        assertFalse(Files.exists(further));
        try (Volume volume = Volume.open(config)) {
            assertArrayEquals(stored, GarbageTrial.read(volume, "a", BYTES));
        }
    }

    private void leave(Volume volume) throws IOException {
        volume.collector().collect(CollectionLimits.leaving(further), (done, of, returned) -> true);
    }

    /** The command that uses it again is answered while the containers are being moved. */
    @Test
    void aLocationThatIsUsedAgainWhileItIsBeingLeftStays() throws IOException {
        prepare();
        byte[] stored = bytes();
        try (Volume volume = Volume.open(with)) {
            GarbageTrial.store(volume, "a", stored);
        }
        movePacks();
        try (Volume volume = Volume.open(with)) {
            Location location = volume.context().engine().data().locations().get(1);
            IOException refused = assertThrows(
                    IOException.class,
                    () -> volume.collector().collect(CollectionLimits.leaving(further), (done, of, returned) -> {
                        useAgainIfLeaving(volume, location);
                        return true;
                    }));
            assertTrue(refused.getMessage().contains("used it again"), refused.getMessage());
            assertEquals(
                    List.of(DataLocation.State.USED),
                    volume.context().metadata().locations().all().stream()
                            .map(DataLocation::state)
                            .toList());
            assertTrue(volume.context().engine().data().locations().contains(location));
            assertArrayEquals(stored, GarbageTrial.read(volume, "a", BYTES));
        }
        try (Volume volume = Volume.open(with)) {
            assertArrayEquals(stored, GarbageTrial.read(volume, "a", BYTES));
            leave(volume);
            IOException gone = assertThrows(IOException.class, () -> volume.addDataLocation(further));
            assertTrue(gone.getMessage().contains(further.toString()), gone.getMessage());
        }
        try (Volume volume = Volume.open(config)) {
            assertArrayEquals(stored, GarbageTrial.read(volume, "a", BYTES));
        }
    }

    private void useAgainIfLeaving(Volume volume, Location location) {
        if (location.isLeaving()) {
            try {
                volume.addDataLocation(further);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Another program fills the disk of a location between two looks at its space. */
    @Test
    void aLocationThatOthersFillIsLeftWithoutAShortage() throws IOException {
        makeInMemory();
        first.noSpaceAfter(1L << 41);
        second.noSpaceAfter(1L << 40);
        HookedDirectory filled = new HookedDirectory(first);
        boolean[] others = {false};
        filled.hook = (call, name) -> {
            if (others[0] && call == HookedDirectory.Call.APPEND) {
                for (String file : first.list()) {
                    first.trim(file);
                }
                first.noSpaceAfter(1 << 10);
            }
        };
        Map<String, byte[]> contents = new TreeMap<>();
        try (Volume volume = Volume.open(
                config,
                new VolumeStores(
                        DataLocations.of(filled, second), metadata, new HeapChunkIndex(), InstantSource.system()),
                Verification.CHECKSUMS)) {
            for (String name : List.of("begun", "there", "later")) {
                contents.put(name, bytes());
            }
            GarbageTrial.store(volume, "begun", contents.get("begun"));
            others[0] = true;
            GarbageTrial.store(volume, "there", contents.get("there"));
            volume.sync();
            GarbageTrial.store(volume, "later", contents.get("later"));
            volume.sync();
            assertTrue(first.refusedAppends() > 0, "the disk was not full");
            assertEquals(List.of(), GarbageTrial.problems(volume, contents));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
        try (Volume volume = Volume.open(
                config,
                new VolumeStores(
                        DataLocations.of(first.crash(3), second.crash(4)),
                        metadata,
                        new HeapChunkIndex(),
                        InstantSource.system()),
                Verification.CHECKSUMS)) {
            assertEquals(List.of(), GarbageTrial.problems(volume, contents));
        }
    }
}
