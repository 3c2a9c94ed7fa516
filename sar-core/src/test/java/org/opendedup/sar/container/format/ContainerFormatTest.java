package org.opendedup.sar.container.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.Compaction;
import org.opendedup.sar.container.ContainerBytes;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.container.KnownChunks;
import org.opendedup.sar.container.Replacements;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.container.StoreFixture;
import org.opendedup.sar.container.TestChunks;
import org.opendedup.sar.container.TestCiphers;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.CrashDirectory;

/**
 * Compares the formats of containers, versions 2 to 4, and packs, version 1, with files kept since they were fixed: a
 * container for each codec, one of generation 2 with removed chunks, one with lost chunks, one for each cipher, and a
 * pack of two containers. With {@code -Dsar.golden=DIR} the files are written to that folder, for a new version of the
 * format; those of an old version never change.
 */
final class ContainerFormatTest {
    private static final String WRITTEN_ANEW = "container-v2-generation2.bin";
    private static final String PACK = "pack-v1-container-v2.bin";
    private static final String WITH_LOST = "container-v3-lost.bin";

    private static final Compaction.Results NOTHING_DAMAGED = new Compaction.Results() {
        @Override
        public void copied(long container, long bytes, long saved) {}

        @Override
        public void incompressible(long container) {
            throw new AssertionError("container " + container);
        }

        @Override
        public void damaged(long container, int firstSlot, int slots, IOException why) {
            throw new AssertionError(why);
        }
    };

    @RegisterExtension
    final StoreFixture fixture = new StoreFixture();

    private final TestChunks chunks = new TestChunks();
    private final CrashDirectory written = new CrashDirectory(0);

    private static String goldenName(AeadCipher algorithm) {
        return "container-v4-" + algorithm.name().toLowerCase(Locale.ROOT).replace('_', '-') + ".bin";
    }

    private static String goldenName(Compression.Codec codec) {
        return "container-v2-" + codec.name().toLowerCase(Locale.ROOT) + ".bin";
    }

    private byte[] golden(String name) throws IOException {
        try (InputStream in = getClass().getResourceAsStream(name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        }
    }

    private static void keep(String name, byte[] bytes) throws IOException {
        String target = System.getProperty("sar.golden");
        if (target != null) {
            Files.write(Path.of(target, name), bytes);
        }
    }

    /** Writes a pack of containers with 20 chunks each. */
    private void write(Compression.Codec codec, int containers) throws IOException {
        fixture.options = StoreFixture.options(codec);
        Random random = new Random(20261121);
        try (ContainerStore store = fixture.open(written)) {
            for (int container = 0; container < containers; container++) {
                try (ContainerWriter writer = store.writer(1)) {
                    for (int i = 0; i < 20; i++) {
                        chunks.append(writer, TestChunks.chunk(random, 1500));
                    }
                }
                fixture.sealAll(store);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Compression.Codec.class)
    void aContainerOfVersionTwoIsReadByEveryLaterProgram(Compression.Codec codec) throws IOException {
        write(codec, 1);
        keep(goldenName(codec), fixture.contents(written, 1));
        try (ContainerStore store = openWith(golden(goldenName(codec)))) {
            chunks.assertAllReadable(store);
            assertEquals(20, store.directory(1).slots());
        }
    }

    /** Opens a store with these bytes of container 1, of the writing that its entry names. */
    private ContainerStore openWith(byte[] kept) throws IOException {
        StoredContainer entry = fixture.entry(written, 1);
        CrashDirectory disk = new CrashDirectory(0);
        // Behind another container, at another place than that where it was written.
        int offset = 5 * PackFormat.ALIGNMENT;
        byte[] pack = new byte[offset + kept.length];
        System.arraycopy(kept, 0, pack, offset, kept.length);
        disk.put(PackFormat.fileName(7), pack);
        StoredContainer moved = new StoredContainer(
                entry.writing(), StoredContainer.State.SEALED, 7, offset, kept.length, entry.slots(), entry.rawBytes());
        fixture.table(disk).commit(new ContainerChanges(Map.of(1L, moved), Set.of()));
        return fixture.openWithoutTables(disk);
    }

    @ParameterizedTest
    @EnumSource(AeadCipher.class)
    void anEncryptedContainerIsReadByEveryLaterProgram(AeadCipher algorithm) throws IOException {
        VolumeKeys keys = TestCiphers.keys(1, algorithm);
        fixture.cipher = TestCiphers.counting(keys, 0x1122334455667788L);
        write(Compression.Codec.NONE, 1);
        keep(goldenName(algorithm), fixture.contents(written, 1));
        byte[] kept = golden(goldenName(algorithm));
        assertArrayEquals(kept, fixture.contents(written, 1));
        assertEquals(ContainerFormat.ENCRYPTED_VERSION, kept[4], "programs that do not know it refuse it");
        try (ContainerStore store = openWith(kept)) {
            chunks.assertAllReadable(store);
            assertEquals(20, store.directory(1).slots());
        }
        // The control: the key of another volume.
        fixture.cipher = ContainerCipher.of(TestCiphers.keys(2, algorithm));
        try (ContainerStore store = openWith(kept)) {
            assertThrows(CorruptionException.class, () -> chunks.assertAllReadable(store));
        }
    }

    /** Generation 2, without slot 0, the slots of frame 1 and those of the last frame. */
    private BitSet writeAnew() throws IOException {
        write(Compression.Codec.NONE, 1);
        FrameTable table = ContainerBytes.of(1, fixture.contents(written, 1), ContainerCipher.NONE)
                .table();
        BitSet removed = new BitSet();
        removed.set(0);
        removed.set(table.firstSlot(1), table.firstSlot(2));
        removed.set(table.firstSlot(table.frames() - 1), table.slots());
        ContainerBytes.remove(
                written,
                fixture.table(written),
                1,
                removed,
                new Compression(Compression.Codec.NONE, 0, 0),
                ContainerCipher.NONE);
        return removed;
    }

    @Test
    void aContainerThatWasWrittenAnewIsReadByEveryLaterProgram() throws IOException {
        BitSet removed = writeAnew();
        keep(WRITTEN_ANEW, fixture.contents(written, 1));
        byte[] kept = golden(WRITTEN_ANEW);
        assertArrayEquals(kept, fixture.contents(written, 1));
        assertTrue(removed.cardinality() > 4 && removed.cardinality() < 16, removed::toString);
        try (ContainerStore store = openWith(kept)) {
            chunks.forget(1, removed);
            chunks.assertAllReadable(store);
            FrameTable table = store.frameTable(1);
            assertEquals(2, table.writing().generation());
            assertEquals(20, table.slots());
            for (int slot = 0; slot < 20; slot++) {
                assertEquals(removed.get(slot), store.directory(1).length(slot) == 0, "slot " + slot);
            }
            assertFalse(store.frame(1, 0, true).holds(0));
            assertFalse(table.isRemoved(0));
            assertTrue(table.isRemoved(1));
            assertTrue(table.isRemoved(table.frames() - 1));
        }
    }

    /** Generation 2, whose slot 1 is lost, as are all slots of frame 1. */
    private BitSet lose() throws IOException {
        write(Compression.Codec.NONE, 1);
        BitSet lost = new BitSet();
        try (ContainerStore store = fixture.open(written);
                Compaction compaction = store.compaction(0)) {
            FrameTable table = store.frameTable(1);
            lost.set(1);
            lost.set(table.firstSlot(1), table.firstSlot(2));
            Frame first = store.frame(1, 0, true);
            Replacements replacements = new Replacements();
            replacements.addFrame(0);
            replacements.addFrame(1);
            for (int slot = 0; slot < first.count(); slot++) {
                if (!lost.get(slot)) {
                    int from = first.offset(slot);
                    replacements.put(slot, Arrays.copyOfRange(first.data(), from, from + first.length(slot)));
                }
            }
            BitSet all = new BitSet();
            all.set(0, table.slots());
            compaction.examine(1, lost, new KnownChunks());
            compaction.heal(all, lost, replacements);
            compaction.writeLoaded(NOTHING_DAMAGED);
            compaction.force();
            fixture.commit(store);
        }
        return lost;
    }

    @Test
    void aContainerWithLostChunksIsReadByEveryLaterProgram() throws IOException {
        BitSet lost = lose();
        keep(WITH_LOST, fixture.contents(written, 1));
        byte[] kept = golden(WITH_LOST);
        assertArrayEquals(kept, fixture.contents(written, 1));
        assertEquals(ContainerFormat.VERSION, kept[4], "programs that do not know lost chunks refuse it");
        StoredContainer entry = fixture.entry(written, 1);
        try (ContainerStore store = openWith(kept)) {
            SealedContainer directory = store.directory(1);
            long listed = 0;
            for (int slot = 0; slot < 20; slot++) {
                assertEquals(lost.get(slot), directory.isLost(slot), "slot " + slot);
                assertEquals(lost.get(slot), directory.length(slot) == 0);
                Frame frame = store.frame(1, directory.frameTable().frameOf(slot), true);
                assertEquals(lost.get(slot), frame.isLost(slot));
                assertEquals(lost.get(slot), !frame.holds(slot));
                listed += directory.listedLength(slot);
            }
            assertEquals(entry.rawBytes(), listed, "lost chunks count in the container table");
            assertEquals(0, directory.frameTable().rawLength(1));
            assertFalse(directory.frameTable().isRemoved(1));
            chunks.forget(1, lost);
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void aPackOfVersionOneIsReadByEveryLaterProgram() throws IOException {
        write(Compression.Codec.NONE, 2);
        String name = fixture.pack(written, 1);
        keep(PACK, written.contents(name));
        byte[] kept = golden(PACK);
        // Compressors may produce other bytes in other versions; uncompressed bytes may not change.
        assertArrayEquals(kept, written.contents(name));
        PackFormat.checkHeader(kept, fixture.entry(written, 1).pack());
        written.put(name, kept);
        try (ContainerStore store = fixture.openWithoutTables(written)) {
            chunks.assertAllReadable(store);
            assertEquals(20, store.directory(1).slots());
            assertEquals(20, store.directory(2).slots());
        }
    }
}
