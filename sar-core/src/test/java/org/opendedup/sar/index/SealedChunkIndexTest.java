package org.opendedup.sar.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.volume.store.ChunkIndexes;

/** The contract over encrypted fingerprints, and what the files of an index say of them. */
class SealedChunkIndexTest extends ChunkIndexContract {
    private static final int CHUNKS = 3000;
    private static final int OF_SEGMENT = 250;
    private static final String GOLDEN = "720f501fe55690d9d97af3bb38c09ede8c5b50a7b4771e4e2a646972eb174e1c";

    @Override
    protected ChunkIndex open() {
        return new SealedChunkIndex(new HeapChunkIndex(), TestKeys.of(1));
    }

    @Override
    protected ChunkIndex reopen() {
        return index;
    }

    @Override
    protected boolean isPersistent() {
        return false;
    }

    @Test
    void aFingerprintIsEncryptedAsSpecified() throws IOException {
        HeapChunkIndex files = new HeapChunkIndex();
        byte[] fingerprint = new byte[Fingerprints.BYTES];
        for (int i = 0; i < fingerprint.length; i++) {
            fingerprint[i] = (byte) i;
        }
        new SealedChunkIndex(files, TestKeys.of(1)).insert(fingerprint, 0, ChunkId.of(1, 1));
        files.forEachAfter(
                null, 1, (stored, chunk) -> assertEquals(GOLDEN, HexFormat.of().formatHex(stored)));
    }

    /** Nor is the begin or the end of one: RocksDB stores a key without what it has in common with the last one. */
    @ParameterizedTest
    @EnumSource
    void noFingerprintIsInAnyFileOfTheIndex(IndexClass kind) throws IOException {
        assertEquals(0, found(kind, TestKeys.of(1)));
        assertTrue(found(kind, null) > CHUNKS / 2, "the control");
    }

    /** Returns the number of fingerprints in the files of an index, of which the first or the last eight bytes are. */
    private long found(IndexClass kind, @Nullable VolumeKeys keys) throws IOException {
        Path place = folder.resolve(kind + (keys == null ? "-plain" : "-sealed"));
        for (boolean isNew : new boolean[] {true, false}) {
            try (ChunkIndex files = ChunkIndexes.open(
                            kind,
                            place.resolve("index"),
                            64 << 20,
                            IndexParameters.NONE,
                            IndexSpace.UNBOUNDED,
                            place.resolve("behind"));
                    ChunkIndex used = keys == null ? files : new SealedChunkIndex(files, keys)) {
                for (int container = 1; container <= CHUNKS / OF_SEGMENT; container++) {
                    int first = (container - 1) * OF_SEGMENT;
                    if (isNew) {
                        TestSegments.store(used, first, OF_SEGMENT, container);
                        used.cover(container, new byte[10]);
                    } else {
                        assertEquals(OF_SEGMENT, TestSegments.found(used, first, OF_SEGMENT, container));
                    }
                }
                used.flush();
            }
        }
        StringBuilder bytes = new StringBuilder();
        try (Stream<Path> all = Files.walk(place)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                bytes.append(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
            }
        }
        assertFalse(bytes.isEmpty());
        String text = bytes.toString();
        long found = 0;
        for (int content = 0; content < CHUNKS; content++) {
            byte[] fingerprint = TestSegments.fingerprint(content);
            found += isIn(text, fingerprint, 0) || isIn(text, fingerprint, Fingerprints.BYTES - Long.BYTES) ? 1 : 0;
        }
        return found;
    }

    private static boolean isIn(String text, byte[] fingerprint, int offset) {
        byte[] part = ByteBuffer.allocate(Long.BYTES)
                .put(fingerprint, offset, Long.BYTES)
                .array();
        return text.contains(new String(part, StandardCharsets.ISO_8859_1));
    }
}
