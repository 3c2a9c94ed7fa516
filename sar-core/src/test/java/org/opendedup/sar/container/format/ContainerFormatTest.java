package org.opendedup.sar.container.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.container.StoreFixture;
import org.opendedup.sar.container.TestChunks;
import org.opendedup.sar.io.CrashDirectory;

/**
 * Compares the container format, version 1, with files kept since it was fixed. With {@code -Dsar.golden=DIR} the files
 * are written to that folder, for a new version of the format; those of an old version never change.
 */
final class ContainerFormatTest {
    private static final String NAME = ContainerFormat.fileName(1, ContainerFormat.SEALED_SUFFIX);

    private final StoreFixture fixture = new StoreFixture();
    private final TestChunks chunks = new TestChunks();

    @AfterEach
    void endWorkers() {
        fixture.close();
    }

    private static String goldenName(Compression.Codec codec) {
        return "container-v1-" + codec.name().toLowerCase(Locale.ROOT) + ".bin";
    }

    private byte[] golden(Compression.Codec codec) throws IOException {
        try (InputStream in = getClass().getResourceAsStream(goldenName(codec))) {
            return Objects.requireNonNull(in, goldenName(codec)).readAllBytes();
        }
    }

    private byte[] write(Compression.Codec codec) throws IOException {
        CrashDirectory disk = new CrashDirectory(0);
        fixture.options = StoreFixture.options(codec);
        Random random = new Random(20261121);
        try (ContainerStore store = fixture.open(disk)) {
            try (ContainerWriter writer = store.writer(1)) {
                for (int i = 0; i < 20; i++) {
                    chunks.append(writer, TestChunks.chunk(random, 1500));
                }
            }
            store.sealAll();
        }
        return disk.contents(NAME);
    }

    @ParameterizedTest
    @EnumSource(Compression.Codec.class)
    void aFileOfVersionOneIsReadByEveryLaterProgram(Compression.Codec codec) throws IOException {
        byte[] written = write(codec);
        String target = System.getProperty("sar.golden");
        if (target != null) {
            Files.write(Path.of(target, goldenName(codec)), written);
        }
        CrashDirectory disk = new CrashDirectory(0);
        disk.put(NAME, golden(codec));
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            chunks.assertAllReadable(store);
            assertEquals(20, store.directory(1).slots());
        }
    }

    @Test
    void theSameChunksMakeTheSameFile() throws IOException {
        // Compressors may produce other bytes in other versions; uncompressed bytes may not change.
        byte[] expected = golden(Compression.Codec.NONE);
        assertArrayEquals(expected, write(Compression.Codec.NONE));
    }

    @Test
    void fileNamesLeadBackToTheirContainers() {
        for (long id : new long[] {1, 0xf0a, ChunkId.MAX_CONTAINER}) {
            String name = ContainerFormat.fileName(id, ContainerFormat.SEALED_SUFFIX);
            assertEquals(OptionalLong.of(id), ContainerFormat.containerOf(name, ContainerFormat.SEALED_SUFFIX));
            assertTrue(ContainerFormat.containerOf(name, ContainerFormat.OPEN_SUFFIX)
                    .isEmpty());
        }
        assertEquals("000000000f/000000000f0a.container", ContainerFormat.fileName(0xf0a, ".container"));
        for (String other : new String[] {
            "0000000010/000000000f0a.container", "x.container", "000000000f/00000000zz0a.container", ""
        }) {
            assertTrue(
                    ContainerFormat.containerOf(other, ContainerFormat.SEALED_SUFFIX)
                            .isEmpty(),
                    other);
        }
    }
}
