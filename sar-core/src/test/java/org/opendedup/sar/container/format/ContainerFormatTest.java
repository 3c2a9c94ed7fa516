package org.opendedup.sar.container.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.container.StoreFixture;
import org.opendedup.sar.container.TestChunks;
import org.opendedup.sar.io.CrashDirectory;

/**
 * Compares the formats of containers and packs, version 1, with files kept since they were fixed: a container for each
 * codec, and a pack of two containers. With {@code -Dsar.golden=DIR} the files are written to that folder, for a new
 * version of the format; those of an old version never change.
 */
final class ContainerFormatTest {
    private static final String PACK = "pack-v1.bin";

    private final StoreFixture fixture = new StoreFixture();
    private final TestChunks chunks = new TestChunks();
    private final CrashDirectory written = new CrashDirectory(0);

    @AfterEach
    void endWorkers() {
        fixture.close();
    }

    private static String goldenName(Compression.Codec codec) {
        return "container-v1-" + codec.name().toLowerCase(Locale.ROOT) + ".bin";
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
    void aContainerOfVersionOneIsReadByEveryLaterProgram(Compression.Codec codec) throws IOException {
        write(codec, 1);
        keep(goldenName(codec), fixture.contents(written, 1));
        byte[] kept = golden(goldenName(codec));
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
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            chunks.assertAllReadable(store);
            assertEquals(20, store.directory(1).slots());
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

    @Test
    void theSameChunksMakeTheSameContainer() throws IOException {
        write(Compression.Codec.NONE, 1);
        assertArrayEquals(golden(goldenName(Compression.Codec.NONE)), fixture.contents(written, 1));
    }
}
