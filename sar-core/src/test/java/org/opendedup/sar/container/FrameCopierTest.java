package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameContent;
import org.opendedup.sar.container.format.FrameCopier;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.RawFrame;

/** Frames of the next generations of a container: what stays is whole, and what is removed is not readable. */
@TestCiphers.PlainAndEncrypted
class FrameCopierTest {
    private static final ContainerIdentity FIRST =
            new ContainerIdentity(12, 0x0123456789abcdefL, ContainerFormat.FIRST_GENERATION);

    private final List<Compressor> compressors = new ArrayList<>();
    /** Chunks of the container by slot, also the removed ones. */
    private final TreeMap<Integer, byte[]> chunks = new TreeMap<>();

    @Parameter
    ContainerCipher cipher;

    @AfterEach
    void freeCompressors() {
        compressors.forEach(Compressor::close);
    }

    private ContainerWriting generation(int generation) {
        return new ContainerWriting(cipher, new ContainerIdentity(12, FIRST.salt(), generation));
    }

    private Compressor compressor(Compression.Codec codec) {
        Compressor compressor = new Compressor(new Compression(codec, 1, 4096));
        compressors.add(compressor);
        return compressor;
    }

    private FrameDecoder decoder(Compressor decompressor) {
        return new FrameDecoder(decompressor, cipher);
    }

    private Compressor anyCompressor(Random random) {
        Compression.Codec[] codecs = Compression.Codec.values();
        return compressor(codecs[random.nextInt(codecs.length)]);
    }

    /** Returns a container of {@code frames} frames, some of them behind missing slots and bytes. */
    private ContainerBytes write(Random random, int frames, Compressor compressor, boolean gaps) throws IOException {
        ContainerWriting writing = generation(1);
        Bytes out = ContainerFormat.begin(writing, 0);
        FrameTable.Builder table = new FrameTable.Builder(FIRST.writing());
        Bytes chunkLists = new Bytes(1024);
        RawFrame raw = new RawFrame(64);
        Bytes encoded = new Bytes(64);
        int slot = 0;
        for (int frame = 0; frame < frames; frame++) {
            if (gaps && random.nextInt(4) == 0) {
                slot += 1 + random.nextInt(3);
                byte[] others = new byte[1 + random.nextInt(200)];
                out.putBytes(others, 0, others.length);
            }
            raw.start(slot);
            for (int count = 1 + random.nextInt(9); count > 0; count--) {
                byte[] chunk = TestChunks.chunk(random, 1500);
                raw.add(chunk, 0, chunk.length, TestChunks.fingerprint(chunk), 0);
                chunks.put(slot++, chunk);
            }
            FrameFormat.encode(raw, writing, compressor, encoded);
            table.add(raw.firstSlot(), raw.count(), out.length(), encoded.length(), raw.bytes());
            raw.putList(chunkLists);
            out.putBytes(encoded.array(), 0, encoded.length());
        }
        return ContainerBytes.sealed(writing, out, table, chunkLists, cipher);
    }

    /** Chooses chunks, often all those of a frame. */
    private static BitSet choose(Random random, FrameTable table) {
        BitSet chosen = new BitSet();
        for (int frame = 0; frame < table.frames(); frame++) {
            int first = table.firstSlot(frame);
            int end = first + table.slotCount(frame);
            switch (random.nextInt(4)) {
                case 0 -> chosen.set(first, end);
                case 1 -> {
                    for (int slot = first; slot < end; slot++) {
                        chosen.set(slot, random.nextBoolean());
                    }
                }
                default -> {}
            }
        }
        return chosen;
    }

    /** Checks that a container has the chunks that are not removed, and nothing else. */
    private void check(ContainerBytes container, FrameTable original, BitSet removed, Compressor compressor)
            throws IOException {
        FrameTable table = container.table();
        SealedContainer directory = container.directory();
        assertEquals(original.frames(), table.frames());
        assertEquals(original.slots(), table.slots());
        long rawBytes = 0;
        for (int frame = 0; frame < table.frames(); frame++) {
            int first = original.firstSlot(frame);
            int end = first + original.slotCount(frame);
            assertEquals(first, table.firstSlot(frame));
            assertEquals(original.slotCount(frame), table.slotCount(frame));
            boolean stays = removed.nextClearBit(first) < end;
            assertEquals(!stays, table.isRemoved(frame), "frame " + frame);
            Frame decoded = null;
            if (stays) {
                decoded = decoder(compressor)
                        .decode(container.bytes(), (int) table.fileOffset(frame), container.expected(frame), true);
            } else {
                int at = (int) table.fileOffset(frame);
                FrameDecoder.Expected expected = container.expected(frame);
                assertThrows(
                        CorruptionException.class,
                        () -> decoder(compressor).decode(container.bytes(), at, expected, false));
            }
            for (int slot = first; slot < end; slot++) {
                assertEquals(stays ? frame : -1, table.frameOf(slot));
                rawBytes += check(slot, removed.get(slot), decoded, directory);
            }
        }
        assertEquals(rawBytes, container.rawBytes());
    }

    private int check(int slot, boolean removed, Frame frame, SealedContainer directory) {
        byte[] chunk = chunks.get(slot);
        byte[] fingerprint = removed ? new byte[Fingerprints.BYTES] : TestChunks.fingerprint(chunk);
        int at = slot * Fingerprints.BYTES;
        assertArrayEquals(
                fingerprint, Arrays.copyOfRange(directory.fingerprints(), at, at + Fingerprints.BYTES), "slot " + slot);
        assertEquals(removed ? 0 : chunk.length, directory.length(slot));
        if (frame != null) {
            assertEquals(!removed, frame.holds(slot), "slot " + slot);
            assertEquals(Fingerprints.fingerprintPrefix(fingerprint, 0), frame.fingerprintPrefix(slot));
            int from = frame.offset(slot);
            assertArrayEquals(
                    removed ? new byte[0] : chunk,
                    Arrays.copyOfRange(frame.data(), from, from + frame.length(slot)),
                    "slot " + slot);
        }
        return removed ? 0 : chunk.length;
    }

    @RepeatedTest(40)
    void whatStaysIsWholeInEveryGeneration() throws IOException {
        Random random = new Random(TestSeed.next());
        ContainerBytes container = write(random, 1 + random.nextInt(12), anyCompressor(random), true);
        FrameTable original = container.table();
        BitSet removed = new BitSet();
        check(container, original, removed, anyCompressor(random));
        for (int generation = 2; generation < 7; generation++) {
            BitSet more = choose(random, original);
            removed.or(more);
            // What earlier generations removed stays removed, whether it is named again or not.
            Compressor recompress = random.nextInt(3) == 0 ? anyCompressor(random) : null;
            container = container.without(random.nextBoolean() ? more : removed, anyCompressor(random), recompress);
            assertEquals(generation, container.identity().generation());
            check(container, original, removed, anyCompressor(random));
        }
    }

    @Test
    void aFrameThatLosesNothingIsNotCompressedAgain() throws IOException {
        Random random = new Random(TestSeed.next());
        ContainerBytes first = write(random, 5, compressor(Compression.Codec.ZSTD), false);
        ContainerBytes second = first.without(new BitSet(), compressor(Compression.Codec.NONE), null);
        for (int frame = 0; frame < 5; frame++) {
            assertEquals(first.table().fileLength(frame), second.table().fileLength(frame));
            assertArrayEquals(content(first, frame), content(second, frame), "frame " + frame);
        }
    }

    /** Returns chunk list and payload of a frame. */
    private byte[] content(ContainerBytes container, int frame) {
        int at = (int) container.table().fileOffset(frame);
        FrameFormat.Header header = FrameFormat.readHeader(container.bytes(), at, container.bytes().length);
        assertNotNull(header);
        FrameContent content = new FrameContent(cipher);
        assertNull(content.open(container.bytes(), at, header));
        return Arrays.copyOfRange(content.bytes(), content.list(), content.list() + header.contentBytes());
    }

    @Test
    void theProbeDecidesWhichRawFramesAreCompressedHarder() throws IOException {
        Random random = new Random(TestSeed.next());
        Compressor none = compressor(Compression.Codec.NONE);
        Compressor zstd = compressor(Compression.Codec.ZSTD);
        ContainerBytes raw = write(random, 12, none, false);
        ContainerWriting next = generation(2);
        // A probe that finds nothing to shrink, one that finds all of it, and none.
        FrameCopier refusing = new FrameCopier(decoder(none), none);
        FrameCopier probing = new FrameCopier(decoder(none), zstd);
        FrameCopier trying = new FrameCopier(decoder(none), null);
        boolean shrank = false;
        for (int frame = 0; frame < 12; frame++) {
            int offset = (int) raw.table().fileOffset(frame);
            FrameDecoder.Expected expected = raw.expected(frame);
            Bytes kept = refusing.copy(raw.bytes(), offset, expected, new BitSet(), next, zstd, true);
            assertEquals(raw.table().fileLength(frame), kept.length());
            assertFalse(refusing.isCompressedAnew());
            Bytes probed = probing.copy(raw.bytes(), offset, expected, new BitSet(), next, zstd, true);
            Bytes tried = trying.copy(raw.bytes(), offset, expected, new BitSet(), next, zstd, true);
            assertEquals(tried.length(), probed.length());
            assertTrue(Arrays.equals(tried.array(), 0, tried.length(), probed.array(), 0, probed.length()));
            shrank |= probing.isCompressedAnew();
        }
        assertTrue(shrank, "half of the chunks compress well");
        // A frame that is compressed already needs no probe.
        ContainerBytes compressed = write(random, 12, compressor(Compression.Codec.LZ4), false);
        Compressor lz4 = compressor(Compression.Codec.LZ4);
        for (int frame = 0; frame < 12; frame++) {
            int offset = (int) compressed.table().fileOffset(frame);
            FrameDecoder.Expected expected = compressed.expected(frame);
            BitSet first = new BitSet();
            first.set(compressed.table().firstSlot(frame));
            Bytes refused = refusing.copy(compressed.bytes(), offset, expected, first, next, lz4, true);
            Bytes tried = trying.copy(compressed.bytes(), offset, expected, first, next, lz4, true);
            boolean wasRaw = FrameFormat.readHeader(compressed.bytes(), offset, compressed.bytes().length)
                            .codec()
                    == Compression.Codec.NONE;
            assertTrue(refused == null || wasRaw || refused.length() == tried.length(), "frame " + frame);
        }
    }

    @Test
    void aFrameThatGetsLittleSmallerStaysAsItIs() throws IOException {
        Random random = new Random(TestSeed.next());
        ContainerBytes first = write(random, 5, compressor(Compression.Codec.ZSTD), false);
        ContainerBytes second =
                first.without(new BitSet(), compressor(Compression.Codec.NONE), compressor(Compression.Codec.NONE));
        for (int frame = 0; frame < 5; frame++) {
            assertEquals(first.table().fileLength(frame), second.table().fileLength(frame));
        }
        assertTrue(FrameCopier.isWorth(3200, 3100) && !FrameCopier.isWorth(3200, 3101));
        check(second, first.table(), new BitSet(), compressor(Compression.Codec.ZSTD));
    }

    @Test
    void aFlippedBitIsRefused() throws IOException {
        Random random = new Random(TestSeed.next());
        Compressor compressor = anyCompressor(random);
        ContainerBytes container = write(random, 2, compressor, false);
        FrameTable table = container.table();
        BitSet removed = new BitSet();
        // The first chunk is to be removed: it is checked too.
        removed.set(table.firstSlot(1));
        boolean some = table.slotCount(1) > 1;
        ContainerWriting next = generation(2);
        FrameCopier copier = new FrameCopier(decoder(compressor), null);
        int offset = (int) table.fileOffset(1);
        int bytes = table.fileLength(1);
        BitSet without = some ? removed : new BitSet();
        assertNotNull(copier.copy(container.bytes(), offset, container.expected(1), without, next, compressor, false));
        for (int i = 0; i < 300; i++) {
            byte[] damaged = container.bytes().clone();
            int bit = i < 8 ? i : random.nextInt(bytes * 8);
            damaged[offset + bit / 8] ^= (byte) (1 << bit % 8);
            CorruptionException refused = assertThrows(
                    CorruptionException.class,
                    () -> copier.copy(damaged, offset, container.expected(1), without, next, compressor, false),
                    "bit " + bit);
            assertTrue(refused.getMessage().contains("container 12"), refused.getMessage());
            assertEquals(0, copier.rawBytes());
        }
    }

    /** Damage that the frame's checksum was made over. */
    @Test
    void aWrongFingerprintIsRefusedAlsoOfAChunkThatIsToBeRemoved() throws IOException {
        Compressor compressor = compressor(Compression.Codec.NONE);
        RawFrame raw = new RawFrame(64);
        raw.start(0);
        byte[] chunk = {1, 2, 3};
        raw.add(chunk, 0, 3, TestChunks.fingerprint(chunk), 0);
        raw.add(chunk, 0, 3, new byte[Fingerprints.BYTES], 0);
        Bytes encoded = new Bytes(64);
        FrameFormat.encode(raw, generation(1), compressor, encoded);
        FrameTable.Builder table = new FrameTable.Builder(FIRST.writing());
        table.add(0, 2, ContainerFormat.HEADER_BYTES, encoded.length(), 6);
        FrameDecoder.Expected expected = new ContainerBytes(FIRST, new byte[0], table.build(), cipher).expected(0);
        BitSet wrong = new BitSet();
        wrong.set(1);
        FrameCopier copier = new FrameCopier(decoder(compressor), null);
        ContainerWriting next = generation(2);
        assertThrows(
                CorruptionException.class,
                () -> copier.copy(encoded.array(), 0, expected, wrong, next, compressor, false));
        // Only the fingerprint is wrong: a reader that does not verify takes the frame.
        assertTrue(
                decoder(compressor).decode(encoded.array(), 0, expected, false).holds(1));
    }

    @Test
    void aDamagedFrameOfWhichNothingStaysIsRemoved() throws IOException {
        Random random = new Random(TestSeed.next());
        Compressor compressor = compressor(Compression.Codec.ZSTD);
        ContainerBytes container = write(random, 3, compressor, false);
        container.bytes()[(int) container.table().fileOffset(1) + 60] ^= 1;
        BitSet removed = new BitSet();
        int first = container.table().firstSlot(1);
        removed.set(first, first + container.table().slotCount(1));
        check(container.without(removed, compressor, null), container.table(), removed, compressor);
        removed.clear(first);
        assertThrows(CorruptionException.class, () -> container.without(removed, compressor, null));
    }

    @Test
    void aRemovedChunkIsNotHeldNorAreSlotsOfOtherFrames() {
        RawFrame raw = new RawFrame(8);
        raw.start(4);
        raw.addRemoved();
        byte[] chunk = {1, 2, 3};
        raw.add(chunk, 0, 3, TestChunks.fingerprint(chunk), 0);
        Frame frame = raw.toFrame(9);
        assertFalse(frame.holds(3));
        assertFalse(frame.holds(4));
        assertTrue(frame.holds(5));
        assertFalse(frame.holds(6));
        assertEquals(0, frame.fingerprintPrefix(4));
    }
}
