package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compression.Codec;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.FrameFormat;

/** Streams of which parts shrink and others do not: what is stored compressed. */
class StreamCompressionTest extends StoreTest {
    private static final int CHUNK = 4096;
    /** Chunks that may be stored untried, and some for frames of two workers that end in another order. */
    private static final int MAX_UNTRIED = (512 << 10) / CHUNK + 4;

    /** Writes with a level at which trying takes long. */
    @BeforeEach
    void compressHard() {
        fixture.options = new ContainerOptions(
                new Compression(Codec.ZSTD, 6, CHUNK), 40_000, 200, 3, 64 * 1024, ContainerCipher.NONE);
    }

    /** Appends chunks that are a frame each; returns their ids. */
    private List<Long> append(ContainerWriter writer, int count, boolean shrinks) throws IOException {
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] chunk = new byte[CHUNK];
            random.nextBytes(chunk);
            if (shrinks) {
                byte[] line = ("line " + random.nextLong() + "\n").getBytes(StandardCharsets.US_ASCII);
                for (int at = 0; at < CHUNK; at += line.length) {
                    System.arraycopy(line, 0, chunk, at, Math.min(line.length, CHUNK - at));
                }
            }
            ids.add(chunks.append(writer, chunk));
        }
        return ids;
    }

    /** Returns how each chunk is stored, in their order. All containers are sealed. */
    private List<Codec> codecs(List<Long> ids) throws IOException {
        Map<Long, ContainerBytes> read = new HashMap<>();
        List<Codec> codecs = new ArrayList<>();
        for (long id : ids) {
            long container = ChunkId.container(id);
            if (!read.containsKey(container)) {
                read.put(
                        container,
                        ContainerBytes.read(disk, container, fixture.entry(disk, container), fixture.cipher));
            }
            ContainerBytes stored = read.get(container);
            int frame = stored.table().frameOf(ChunkId.slot(id));
            int offset = (int) stored.table().fileOffset(frame);
            FrameFormat.Header header = FrameFormat.readHeader(stored.bytes(), offset, stored.bytes().length);
            assertNotNull(header);
            codecs.add(header.codec());
        }
        return codecs;
    }

    @Test
    void textAfterRandomBytesIsCompressedAgain() throws IOException {
        Codec codec = Codec.ZSTD;
        List<Long> text = new ArrayList<>();
        List<Long> noise;
        try (ContainerStore store = fixture.open(disk)) {
            try (ContainerWriter writer = store.writer(1)) {
                noise = append(writer, 3000, false);
                text.addAll(append(writer, 1000, true));
            }
            chunks.assertAllReadable(store);
            fixture.sealAll(store);
            chunks.assertAllReadable(store);
        }
        Codec[] raw = new Codec[3000];
        Arrays.fill(raw, Codec.NONE);
        assertEquals(List.of(raw), codecs(noise));
        List<Codec> stored = codecs(text);
        int first = stored.indexOf(codec);
        assertTrue(first >= 0 && first <= MAX_UNTRIED, "first compressed: " + first);
        assertEquals(List.of(codec), stored.stream().skip(first + 4).distinct().toList());
        try (ContainerStore store = fixture.open(disk)) {
            chunks.assertAllReadable(store);
        }
    }

    /** Each lane decides for itself: a stream of text beside one of random bytes loses nothing. */
    @Test
    void theStreamBesideItIsCompressed() throws IOException {
        List<Long> text = new ArrayList<>();
        try (ContainerStore store = fixture.open(disk)) {
            try (ContainerWriter film = store.writer(1);
                    ContainerWriter log = store.writer(2)) {
                for (int i = 0; i < 100; i++) {
                    append(film, 30, false);
                    text.addAll(append(log, 3, true));
                }
            }
            fixture.sealAll(store);
            chunks.assertAllReadable(store);
        }
        assertEquals(List.of(Codec.ZSTD), codecs(text).stream().distinct().toList());
    }

    /** Where trying takes no time, nothing is stored untried. */
    @ParameterizedTest
    @EnumSource(
            value = Codec.class,
            names = {"ZSTD", "LZ4"})
    void aFastCompressorTriesAll(Codec codec) throws IOException {
        fixture.options = StoreFixture.options(codec);
        List<Long> text = alternate();
        assertEquals(List.of(codec), codecs(text).stream().distinct().toList());
    }

    /** The control: of text behind random bytes in one lane, some frames are stored untried. */
    @Test
    void someTextIsStoredUntried() throws IOException {
        List<Codec> stored = codecs(alternate());
        long raw = stored.stream().filter(codec -> codec == Codec.NONE).count();
        assertTrue(raw > 0 && raw <= 20 * (420 / 16 + 4), raw + " raw");
    }

    /** Stores random bytes and text in turns in one lane; returns the text. */
    private List<Long> alternate() throws IOException {
        List<Long> text = new ArrayList<>();
        try (ContainerStore store = fixture.open(disk)) {
            try (ContainerWriter writer = store.writer(1)) {
                for (int i = 0; i < 20; i++) {
                    append(writer, 400 + i, false);
                    text.addAll(append(writer, 40, true));
                }
            }
            fixture.sealAll(store);
            chunks.assertAllReadable(store);
        }
        return text;
    }
}
