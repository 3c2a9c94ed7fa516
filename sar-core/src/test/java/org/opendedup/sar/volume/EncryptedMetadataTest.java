package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.backup.MetadataMend;
import org.opendedup.sar.volume.backup.MetadataReport;
import org.opendedup.sar.volume.backup.MetadataRestore;
import org.opendedup.sar.volume.backup.MetadataSalvager;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;

/** An encrypted volume: what its metadata and its index say to who has no key, and every way to bring them back. */
class EncryptedMetadataTest {
    private static final String SECRET = "secret";
    private static final Owner OWNER = new Owner(1, 1);

    @TempDir
    Path folder;

    private final byte[] content = new byte[1 << 20];

    private VolumeConfig config(@Nullable VolumeKeys keys) {
        return VolumeConfigs.in(folder, 1L << 40, Chunking.SHA256).withKeys(keys);
    }

    /** Makes a volume with a secret in everything that has a name. */
    private VolumeConfig make(@Nullable VolumeKeys keys) throws IOException {
        new Random(TestSeed.next()).nextBytes(content);
        VolumeConfig config = config(keys);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            fill(volume);
        }
        return config;
    }

    private void fill(Volume volume) throws IOException {
        GarbageTrial.store(volume, "secret file", content);
        long inode = volume.lookup(Inode.ROOT, bytes("secret file")).inode();
        volume.setExtendedAttribute(inode, bytes("user.secret name"), bytes("secret value"), SetMode.CREATE_OR_REPLACE);
        volume.makeDirectory(Inode.ROOT, bytes("secret folder"), 0755, OWNER);
        volume.makeSymbolicLink(Inode.ROOT, bytes("secret link"), bytes("secret target"), OWNER);
        volume.sync();
    }

    private void assertAllIsThere(Volume volume) throws IOException {
        assertArrayEquals(content, GarbageTrial.read(volume, "secret file"));
        long inode = volume.lookup(Inode.ROOT, bytes("secret file")).inode();
        assertArrayEquals(bytes("secret value"), volume.extendedAttribute(inode, bytes("user.secret name")));
        assertEquals(
                List.of("user.secret name"),
                volume.extendedAttributes(inode).stream()
                        .map(name -> new String(name, UTF_8))
                        .toList());
        long link = volume.lookup(Inode.ROOT, bytes("secret link")).inode();
        assertArrayEquals(bytes("secret target"), volume.readSymbolicLink(link));
        Set<String> names = new HashSet<>();
        volume.list(
                Inode.ROOT, 0, false, (name, target, type, cookie, attributes) -> names.add(new String(name, UTF_8)));
        assertEquals(Set.of(".", "..", "secret file", "secret folder", "secret link"), names);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    @ParameterizedTest
    @EnumSource
    void noNameAndNoFingerprintIsInAnyFile(IndexClass kind) throws IOException {
        assertEquals(Set.of(), found(config(TestKeys.of(1)).withIndex(kind)));
        PrivateFiles.deleteFolder(folder);
        assertEquals(Set.of(SECRET, "fingerprint"), found(config(null).withIndex(kind)), "the control");
    }

    /** Returns what is found in the files of metadata, index and backups of a volume that was checked and backed up. */
    private Set<String> found(VolumeConfig config) throws IOException {
        new Random(TestSeed.next()).nextBytes(content);
        Volume.create(config);
        List<String> fingerprints = new ArrayList<>();
        Set<String> found = new HashSet<>();
        try (Volume volume = Volume.open(config)) {
            fill(volume);
            volume.context().index().flush();
            var unused = volume.context()
                    .index()
                    .forEachAfter(
                            null,
                            10,
                            (fingerprint, chunk) -> fingerprints.add(new String(fingerprint, 0, 8, ISO_8859_1)));
            assertFalse(fingerprints.isEmpty());
            assertEquals(
                    List.of(),
                    volume.maintenance().check().run((step, done, of) -> {}).findings());
            volume.maintenance().backups().backUp(4);
            search(config, fingerprints, found);
        }
        try (Volume volume = Volume.open(config)) {
            assertAllIsThere(volume);
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
        search(config, fingerprints, found);
        return found;
    }

    private static void search(VolumeConfig config, List<String> fingerprints, Set<String> found) throws IOException {
        VolumeConfig.Locations locations = config.locations();
        for (Path place :
                List.of(locations.metadata(), locations.hashDb(), MetadataBackups.folderIn(locations.data()))) {
            try (Stream<Path> all = Files.walk(place)) {
                for (Path file : all.filter(Files::isRegularFile).toList()) {
                    String text = new String(Files.readAllBytes(file), ISO_8859_1);
                    if (text.contains(SECRET)) {
                        found.add(SECRET);
                    }
                    if (fingerprints.stream().anyMatch(text::contains)) {
                        found.add("fingerprint");
                    }
                }
            }
        }
    }

    @Test
    void duplicatesAreFoundAfterAMountAndInAnIndexThatWasMadeAnew() throws Exception {
        VolumeConfig config = make(TestKeys.of(1));
        for (String name : List.of("after a mount", "after a rebuild")) {
            try (Volume volume = Volume.open(config)) {
                TestWait.until(() -> volume.condition().index().complete());
                long before = volume.statistics().chunks();
                GarbageTrial.store(volume, name, content);
                assertEquals(before, volume.statistics().chunks(), name);
                assertEquals(List.of(), VolumeChecker.check(volume));
            }
            PrivateFiles.deleteFolder(config.locations().hashDb());
        }
    }

    /** Who exchanges entries of the index makes content be stored again, and nothing else. */
    @Test
    void anIndexWhoseEntriesWereExchangedNeverGivesOtherBytes() throws IOException {
        VolumeConfig config = make(TestKeys.of(1));
        try (Volume volume = Volume.open(config)) {
            TestWait.until(() -> volume.condition().index().complete());
            ChunkIndex index = volume.context().index();
            List<byte[]> fingerprints = new ArrayList<>();
            List<Long> chunks = new ArrayList<>();
            var unused = index.forEachAfter(null, 1000, (fingerprint, chunk) -> {
                fingerprints.add(fingerprint);
                chunks.add(chunk);
            });
            GarbageTrial.store(volume, "before", content);
            assertArrayEquals(content, GarbageTrial.read(volume, "before"), "the control");
            for (int i = 0; i < chunks.size(); i++) {
                index.insert(fingerprints.get(i), 0, chunks.get((i + 1) % chunks.size()));
            }
            long chunksBefore = volume.context().metadata().totals().stored().chunks();
            GarbageTrial.store(volume, "after", content);
            volume.sync();
            assertArrayEquals(content, GarbageTrial.read(volume, "after"));
            assertArrayEquals(content, GarbageTrial.read(volume, "before"));
            // The control: no entry led to the right copy.
            assertTrue(volume.context().metadata().totals().stored().chunks() > chunksBefore);
        }
    }

    @Test
    void anotherKeyAndNoneAreRefused() throws IOException {
        VolumeConfig config = make(TestKeys.of(1));
        for (VolumeKeys keys : new VolumeKeys[] {TestKeys.of(2), null}) {
            assertThrows(IOException.class, () -> Volume.open(config.withKeys(keys)));
            assertThrows(IOException.class, () -> check(config.withKeys(keys)).check());
            assertThrows(IOException.class, () -> check(config.withKeys(keys)).repair());
            assertThrows(
                    IOException.class,
                    () -> MetadataMend.mend(config.locations(), keys, List.of(), (step, done, of) -> {}));
            assertThrows(
                    IOException.class,
                    () -> MetadataSalvager.salvage(config.locations(), keys, List.of(), (step, done, of) -> {}));
        }
        try (Volume volume = Volume.open(config)) {
            assertAllIsThere(volume);
        }
        assertEquals(List.of(), check(config).check().findings());
    }

    private static OfflineCheck check(VolumeConfig config) {
        return new OfflineCheck(config, (step, done, of) -> {}, InstantSource.system());
    }

    /** The inode of the folder is replaced by that of the file: each is sealed, but not under that key. */
    @Test
    void aRecordThatWasExchangedIsFoundAndIsLostInASalvage() throws IOException {
        VolumeConfig config = make(TestKeys.of(1));
        long file;
        long exchanged;
        try (Volume volume = Volume.open(config)) {
            file = volume.lookup(Inode.ROOT, bytes("secret file")).inode();
            exchanged = volume.lookup(Inode.ROOT, bytes("secret folder")).inode();
            volume.maintenance().backups().backUp(4);
        }
        Path metadata = config.locations().metadata();
        try (KeyValueStore database = KeyValueStores.openRocksDb(metadata, 8 << 20, false);
                Batch batch = database.batch()) {
            batch.put(
                    Family.INODE,
                    Keys.of(exchanged),
                    Objects.requireNonNull(database.get(Family.INODE, Keys.of(file))));
            batch.commit();
        }
        try (Volume volume = Volume.open(config)) {
            CorruptionException refused =
                    assertThrows(CorruptionException.class, () -> volume.lookup(Inode.ROOT, bytes("secret folder")));
            assertTrue(refused.getMessage().contains("changed or exchanged"), refused.getMessage());
            assertArrayEquals(content, GarbageTrial.read(volume, "secret file"));
        }
        List<Finding> findings = check(config).check().findings();
        assertTrue(
                findings.stream().anyMatch(finding -> finding.what().contains("inode " + exchanged)),
                findings::toString);

        MetadataReport salvaged =
                MetadataSalvager.salvage(config.locations(), config.keys(), List.of(), (step, done, of) -> {});
        assertFalse(salvaged.lost().isEmpty());
        try (Volume volume = Volume.open(config)) {
            assertAllIsThere(volume);
            assertEquals(List.of(), VolumeChecker.check(volume));
        }

        MetadataRestore.restore(
                config.locations(),
                config.keys(),
                MetadataBackups.folderIn(config.locations().data()),
                MetadataBackups.automatic(config.locations().data()).backups().get(0));
        try (Volume volume = Volume.open(config)) {
            assertAllIsThere(volume);
        }
    }

    /** A repair keeps what it replaces in a file. */
    @Test
    void whatARepairReplacesIsKeptSealed() throws IOException {
        VolumeConfig config = make(TestKeys.of(1));
        Path metadata = config.locations().metadata();
        byte[] key;
        try (Volume volume = Volume.open(config)) {
            key = Keys.of(volume.lookup(Inode.ROOT, bytes("secret link")).inode());
        }
        try (KeyValueStore database =
                        KeyValueStores.sealed(KeyValueStores.openRocksDb(metadata, 8 << 20, false), config.keys());
                Batch batch = database.batch()) {
            Inode link = Inode.decode(Keys.longAt(key, 0), Objects.requireNonNull(database.get(Family.INODE, key)));
            batch.put(Family.INODE, key, Inode.encode(link.withLinks(7)));
            batch.commit();
        }
        OfflineCheck.RepairReport repaired = check(config).repair();
        assertEquals(List.of(), check(config).check().findings());
        assertFalse(repaired.quarantines().isEmpty());
        for (String name : repaired.quarantines()) {
            String kept = Files.readString(metadata.resolve(name));
            assertTrue(kept.contains("inode " + HexFormat.of().formatHex(key) + " "), kept);
            assertFalse(kept.contains(HexFormat.of().formatHex(bytes(SECRET))), kept);
        }
    }
}
