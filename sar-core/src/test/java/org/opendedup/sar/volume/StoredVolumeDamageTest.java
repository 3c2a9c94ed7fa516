package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.objects.FolderObjectStore;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.lease.LeaseObject;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.UnmountedStores;

/**
 * Objects of a volume in an object store are missing or damaged. A machine that has nothing of the volume checks it,
 * mounts it and reads its files: nothing wrong is read, and each damage that costs something is said by the check.
 */
@Timeout(300)
class StoredVolumeDamageTest {
    private static final Owner OWNER = new Owner(1, 1);
    /** Commits after which a checkpoint is put when the volume is closed. */
    private static final int CHECKPOINT_COMMITS = 70;
    /** Of a file in a folder that is an object store. */
    private static final int TRAILER_BYTES = 40;

    private static final List<String> NAMES = List.of("a", "b", "c");
    private static final String RIGHT = "right";
    private static final String WRONG = "wrong";
    /** Number of damaged objects of a proving run, about. */
    private static final int PROVED = 20;

    @MemoryFolder
    Path folder;

    private int machines;

    private VolumeConfig machine(Path store) {
        return machine(store, 0);
    }

    private VolumeConfig machine(Path store, long cacheBytes) {
        return VolumeConfigs.in(folder.resolve("machine" + machines++), 4L << 30, Chunking.VARIABLE_SHA256)
                .in(new RemoteSettings(store.toString(), Promise.REMOTE, cacheBytes));
    }

    private static byte[] bytes(String name) {
        byte[] bytes = new byte[300_000];
        new Random(name.hashCode()).nextBytes(bytes);
        return bytes;
    }

    private static void write(Volume volume, String name) throws IOException {
        Attributes made = volume.makeNode(Inode.ROOT, name.getBytes(US_ASCII), Modes.REGULAR | 0644, 0, OWNER);
        OpenFile file = volume.open(made.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(bytes(name)));
        volume.sync(file);
        volume.close(file);
        volume.forget(made.inode(), 1);
    }

    /** Returns {@link #RIGHT}, or why the file cannot be read. */
    private static String read(Volume volume, String name) {
        try {
            Attributes found = volume.lookup(Inode.ROOT, name.getBytes(US_ASCII));
            OpenFile file = volume.open(found.inode(), false);
            try {
                ByteBuffer bytes = ByteBuffer.allocate((int) found.size());
                volume.read(file, 0, bytes);
                return Arrays.equals(bytes.array(), bytes(name)) ? RIGHT : WRONG;
            } finally {
                volume.close(file);
                volume.forget(found.inode(), 1);
            }
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Makes a volume with three owners, of whom the last one is gone: it has left a pack in parts. */
    private Path volume() throws IOException {
        Path store = Files.createDirectories(folder.resolve("made"));
        VolumeConfig first = machine(store);
        Volume.create(first);
        try (Volume volume = Volume.open(first)) {
            commitOften(volume, "d");
            write(volume, "a");
        }
        try (Volume volume = Volume.open(machine(store))) {
            write(volume, "b");
        }
        Path left = folder.resolve("store");
        try (Volume volume = Volume.open(machine(store))) {
            write(volume, "c");
            // As the next renewal does, within 3 s.
            volume.lease().confirm();
            copy(store, left);
            copyLease(store, left);
        }
        // A machine that is dead for long: nobody waits for its lease.
        LeaseObject lease = new LeaseObject(left.toString(), FolderObjectStore.open(left));
        assertTrue(lease.breakNow(lease.current().orElseThrow().owner()).isPresent());
        return left;
    }

    /** Of an object nothing is given back before it pays to write the rest anew: that is no space to be mended. */
    @Test
    void whatACollectionLeavesInPacksIsNoFinding() throws IOException {
        Path store = Files.createDirectories(folder.resolve("collected"));
        VolumeConfig first = machine(store);
        Volume.create(first);
        byte[] whole = new byte[24 << 20];
        new Random(5).nextBytes(whole);
        try (Volume volume = Volume.open(first)) {
            GarbageTrial.store(volume, "a", whole);
        }
        try (Volume volume = Volume.open(first)) {
            Attributes found = volume.lookup(Inode.ROOT, "a".getBytes(US_ASCII));
            volume.change(found.inode(), AttributeChange.ofTruncation(17 << 20, Instant.now()));
            volume.forget(found.inode(), 1);
            volume.sync();
            assertTrue(GarbageTrial.collect(volume, 0).removed() > 0, "control: a container is removed");
        }
        assertEquals(
                1,
                objects(store).stream().filter(name -> name.endsWith(".pack~")).count(),
                "control: all in one");
        assertEquals(List.of(), check(machine(store)).check().findings());
    }

    private static void commitOften(Volume volume, String name) throws IOException {
        for (int i = 0; i < CHECKPOINT_COMMITS; i++) {
            volume.makeDirectory(Inode.ROOT, (name + i).getBytes(US_ASCII), 0755, OWNER);
            volume.sync();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                copyFile(each, to.resolve(from.relativize(each)));
            }
        }
    }

    /** Copies the lease again until it was not replaced meanwhile. */
    private static void copyLease(Path from, Path to) throws IOException {
        while (true) {
            for (String object : objects(to)) {
                if (object.startsWith("lease")) {
                    Files.delete(to.resolve(object));
                }
            }
            for (String object : objects(from)) {
                if (object.startsWith("lease")) {
                    copyFile(from.resolve(object), to.resolve(object));
                }
            }
            if (new LeaseObject(to.toString(), FolderObjectStore.open(to))
                    .current()
                    .isPresent()) {
                return;
            }
        }
    }

    private static void copyFile(Path from, Path to) throws IOException {
        try {
            Files.copy(from, to);
        } catch (NoSuchFileException e) {
            assertTrue(from.getFileName().toString().startsWith("lease"), "only a lease is replaced meanwhile: " + e);
        }
    }

    private enum Damage {
        MISSING,
        CUT,
        EMPTY,
        FLIPPED,
        OTHER;

        /** @param other another object of the same kind */
        void make(Path object, Path other) throws IOException {
            byte[] bytes = Files.readAllBytes(object);
            switch (this) {
                case MISSING -> Files.delete(object);
                case CUT -> Files.write(object, Arrays.copyOf(bytes, bytes.length / 2));
                case EMPTY -> Files.write(object, new byte[0]);
                case FLIPPED -> {
                    bytes[(bytes.length - TRAILER_BYTES) / 2] ^= 4;
                    Files.write(object, bytes);
                }
                case OTHER -> Files.copy(other, object, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    /** What a machine finds that has nothing of the volume. */
    private record Found(
            @Nullable String checkFails,
            List<Finding> findings,
            @Nullable String mountFails,
            Map<String, String> files) {
        boolean isSaid() {
            return checkFails != null
                    || findings.stream().anyMatch(finding -> finding.severity() != Finding.Severity.NOTE);
        }

        boolean finds(Finding.Kind kind) {
            return findings.stream().anyMatch(finding -> finding.kind() == kind);
        }

        boolean isWell() {
            return mountFails == null && files.values().stream().allMatch(RIGHT::equals);
        }
    }

    private Found look(Path store, boolean readsObjects) throws IOException {
        String checkFails = null;
        List<Finding> findings = List.of();
        try {
            findings = check(machine(store)).check(readsObjects).findings();
        } catch (IOException e) {
            checkFails = String.valueOf(e.getMessage());
        }
        Map<String, String> files = new TreeMap<>();
        try (Volume volume = Volume.open(machine(store))) {
            for (String name : NAMES) {
                files.put(name, read(volume, name));
            }
            return new Found(checkFails, findings, null, files);
        } catch (IOException e) {
            return new Found(checkFails, findings, String.valueOf(e.getMessage()), files);
        }
    }

    @Test
    void eachDamageIsSaidAndNothingWrongIsRead() throws IOException {
        Path store = volume();
        Found whole = look(copyOf(store), true);
        assertTrue(whole.isWell() && !whole.isSaid(), whole::toString);
        List<String> objects = objects(store);
        int damages = Damage.values().length;
        for (int step : TestSeed.steps(objects.size() * damages, PROVED).toArray()) {
            String object = objects.get(step / damages);
            Damage damage = Damage.values()[step % damages];
            Path copy = copyOf(store);
            damage.make(copy.resolve(object), store.resolve(otherOf(object, objects)));
            Found found = look(copy, true);
            Supplier<String> trial = () -> damage + " " + object + ": " + found;
            assertFalse(found.files().containsValue(WRONG), trial);
            assertTrue(found.isWell() || found.isSaid(), trial);
            String failure = found.mountFails();
            assertTrue(failure == null || failure.contains("metadata/") || failure.contains("lease"), trial);
        }
    }

    /** With an fsync that was acknowledged by the store. */
    @Test
    void theLossOfTheLastLogSegmentIsSaid() throws IOException {
        Path store = volume();
        String last = objects(store).stream()
                .filter(object -> object.contains("/log/"))
                .reduce((one, next) -> next)
                .orElseThrow();
        Path copy = copyOf(store);
        Files.delete(copy.resolve(last));
        Found found = look(copy, false);
        assertTrue(String.valueOf(found.checkFails()).contains("the lease says"), found::toString);
        assertTrue(String.valueOf(found.mountFails()).contains("the lease says"), found::toString);
        // Without the lease nothing says that there was one.
        try (ObjectStore objects = FolderObjectStore.open(copy)) {
            objects.delete(List.of("lease"));
        }
        Found control = look(copy, false);
        assertNull(control.mountFails());
        assertEquals(RIGHT, control.files().get("b"));
    }

    @Test
    void controlDamageWithinAPackIsFoundByReadingObjectsOnly() throws IOException {
        Path store = volume();
        String pack = objects(store).stream()
                .filter(object -> object.startsWith("packs/"))
                .findFirst()
                .orElseThrow();
        Damage.FLIPPED.make(store.resolve(pack), store);
        assertFalse(look(copyOf(store), false).isSaid());
        Found found = look(copyOf(store), true);
        assertTrue(found.isSaid() && !found.isWell(), found::toString);
    }

    private static List<String> objects(Path store) throws IOException {
        try (Stream<Path> all = Files.walk(store)) {
            return all.filter(Files::isRegularFile)
                    .map(each -> store.relativize(each).toString())
                    .sorted()
                    .toList();
        }
    }

    /** Returns another object of the same kind. */
    private static String otherOf(String object, List<String> objects) {
        String kind = object.replaceAll("[^/]*$", "").replaceAll("[0-9a-f]{8,}/.*", "");
        return objects.stream()
                .filter(each -> each.startsWith(kind) && !each.equals(object))
                .findFirst()
                .orElse(object);
    }

    @Test
    void aCheckSeesTheStoreAndNotWhatThisMachineHas() throws IOException {
        Path store = Files.createDirectories(folder.resolve("store"));
        VolumeConfig config = machine(store, Long.MAX_VALUE);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            write(volume, "a");
            assertEquals(List.of(), check(config).check(true).findings(), "while it is mounted");
        }
        Path pack = store.resolve(objects(store).stream()
                .filter(object -> object.startsWith("packs/"))
                .findFirst()
                .orElseThrow());
        Files.delete(pack);
        List<Finding> findings = check(config).check().findings();
        assertEquals(Finding.Kind.MISSING_PACK, findings.get(0).kind());
        assertEquals(List.of("/a"), findings.get(0).files().get(0).paths());
        try (Volume volume = Volume.open(config)) {
            assertEquals(RIGHT, read(volume, "a"), "this machine has it");
        }
        assertFalse(Files.exists(config.locations().metadata().resolveSibling("metadata.check")));
    }

    @Test
    void anotherMachineRepairs() throws IOException {
        Path store = volume();
        // A crash between the put of a whole pack and the deletion of its parts.
        Path tail = store.resolve(objects(store).stream()
                .filter(object -> object.startsWith("tails/"))
                .findFirst()
                .orElseThrow());
        String whole = objects(store).stream()
                .filter(object -> object.startsWith("packs/"))
                .findFirst()
                .orElseThrow();
        Path left = store.resolve(whole.replace("packs/", "tails/").replace("~", ""))
                .resolve(tail.getFileName());
        Files.createDirectories(left.getParent());
        Files.copy(tail, left);
        VolumeConfig damaging = machine(store);
        try (UnmountedStores stores = UnmountedStores.change(damaging);
                KeyValueStore.Batch batch = stores.metadata().batch()) {
            try (KeyValueStore.Cursor cursor =
                    stores.metadata().scan(KeyValueStore.Family.CONTAINER, Keys.FIRST, Keys.END)) {
                while (cursor.next()) {
                    batch.delete(KeyValueStore.Family.CONTAINER, cursor.key());
                }
            }
            batch.commit();
        }
        Found damaged = look(copyOf(store), false);
        assertTrue(damaged.isSaid() && damaged.finds(Finding.Kind.LEFT_OBJECTS), damaged::toString);
        OfflineCheck.RepairReport report = check(machine(store)).repair();
        assertTrue(report.rebuilt().changes() > 0, report::toString);
        Found found = look(store, true);
        assertTrue(found.isWell() && !found.isSaid(), found::toString);
        assertFalse(found.finds(Finding.Kind.LEFT_OBJECTS), found::toString);
    }

    @Test
    void anEarlierCheckpointIsUsedUntilThereIsANewOne() throws IOException {
        Path store = Files.createDirectories(folder.resolve("store"));
        VolumeConfig config = machine(store);
        Volume.create(config);
        for (String name : List.of("a", "b")) {
            try (Volume volume = Volume.open(config)) {
                write(volume, name);
                commitOften(volume, name);
            }
        }
        try (Volume volume = Volume.open(config)) {
            write(volume, "c");
        }
        String newest = objects(store).stream()
                .filter(object -> object.contains("/checkpoints/"))
                .reduce((one, next) -> next)
                .orElseThrow();
        String manifest = Files.readString(store.resolve(newest), ISO_8859_1)
                .lines()
                .filter(line -> line.contains("MANIFEST"))
                .findFirst()
                .orElseThrow();
        String stored = manifest.substring(manifest.indexOf("metadata/files/")).split("[ \n]")[0] + "~";
        Damage.FLIPPED.make(store.resolve(stored), store);
        List<Finding> findings = check(machine(store)).check().findings();
        assertEquals(Finding.Kind.DAMAGED_OBJECT, findings.get(0).kind());
        // Whoever opens it next puts a new checkpoint.
        Found found = look(store, true);
        assertTrue(found.isWell(), found::toString);
        assertEquals(List.of(), check(machine(store)).check(true).findings());
    }

    @Test
    void aScrubPutsTheMetadataAgainWhereTheyAreDamaged() throws IOException {
        Path store = Files.createDirectories(folder.resolve("store"));
        VolumeConfig config = machine(store);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            commitOften(volume, "d");
            write(volume, "a");
        }
        try (Volume volume = Volume.open(config)) {
            for (String object : objects(store)) {
                if (object.startsWith("metadata/files/")) {
                    Damage.FLIPPED.make(store.resolve(object), store);
                }
            }
            IOException failure =
                    assertThrows(IOException.class, () -> check(machine(store)).check());
            assertTrue(String.valueOf(failure.getMessage()).contains("metadata/files/"), failure::toString);
            volume.maintenance().scrub().run((totals, rest, next) -> true);
            assertEquals(List.of(), check(machine(store)).check().findings());
        }
        try (Volume volume = Volume.open(machine(store))) {
            assertEquals(RIGHT, read(volume, "a"));
        }
    }

    private static OfflineCheck check(VolumeConfig config) {
        return new OfflineCheck(config, Progress.NONE, InstantSource.system());
    }

    private Path copyOf(Path store) throws IOException {
        Path copy = folder.resolve("copy");
        PrivateFiles.deleteFolder(copy);
        copy(store, copy);
        return copy;
    }
}
