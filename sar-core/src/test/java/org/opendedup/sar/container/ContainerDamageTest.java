package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;

/** A damaged container file never returns wrong bytes: only right ones, or a {@link CorruptionException}. */
@TestCiphers.PlainAndEncrypted
final class ContainerDamageTest extends StoreTest {
    private byte[] sound = new byte[0];

    @BeforeEach
    void makeSmallContainer() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            try (ContainerWriter writer = store.writer(1)) {
                // One and a half times the size of a frame: at least two frames, whatever sizes the seed gives.
                for (int bytes = 0; bytes < 6_200; ) {
                    byte[] chunk = TestChunks.chunk(random, 1000);
                    chunks.append(writer, chunk);
                    bytes += chunk.length;
                }
            }
            fixture.sealAll(store);
        }
        sound = fixture.contents(disk, 1);
    }

    /** Reads every chunk, with and without the frame table of the index. Returns the number of refused chunks. */
    private int readDamaged(byte[] file) throws IOException {
        fixture.replace(disk, 1, file);
        int refused = 0;
        try (ContainerStore withTables = fixture.open(disk);
                ContainerStore without = fixture.openWithoutTables(disk)) {
            for (ContainerStore store : List.of(withTables, without)) {
                for (Map.Entry<Long, byte[]> each : chunks.byId.entrySet()) {
                    refused += rightOrRefused(store, each.getKey(), each.getValue());
                }
                refused += directoryRightOrRefused(store);
            }
        }
        return refused;
    }

    private static int rightOrRefused(ContainerStore store, long id, byte[] expected) throws IOException {
        byte[] found;
        try {
            Frame frame = store.frame(1, store.frameOf(id), false);
            int slot = ChunkId.slot(id);
            found = Arrays.copyOfRange(frame.data(), frame.offset(slot), frame.offset(slot) + frame.length(slot));
        } catch (CorruptionException refused) {
            return 1;
        }
        assertArrayEquals(expected, found);
        return 0;
    }

    private int directoryRightOrRefused(ContainerStore store) throws IOException {
        SealedContainer sealed;
        try {
            sealed = store.directory(1);
        } catch (CorruptionException refused) {
            return 1;
        }
        for (Map.Entry<Long, byte[]> each : chunks.byId.entrySet()) {
            int slot = ChunkId.slot(each.getKey());
            assertEquals(each.getValue().length, sealed.length(slot));
            int at = slot * Fingerprints.BYTES;
            assertArrayEquals(
                    TestChunks.fingerprint(each.getValue()),
                    Arrays.copyOfRange(sealed.fingerprints(), at, at + Fingerprints.BYTES));
        }
        return 0;
    }

    @Test
    void aFlippedBitAnywhereIsNoticedAndNeverReadAsRight() throws IOException {
        assertEquals(0, readDamaged(sound));
        for (int at = 0; at < sound.length; at += 1 + random.nextInt(4)) {
            byte[] damaged = sound.clone();
            damaged[at] ^= (byte) (1 << random.nextInt(8));
            int where = at;
            assertTrue(readDamaged(damaged) > 0, () -> "byte " + where + " is covered by no check");
        }
    }

    @Test
    void aTruncatedFileIsNoticedAndNeverReadAsRight() throws IOException {
        for (int length = 0; length < sound.length; length += 1 + random.nextInt(50)) {
            assertTrue(readDamaged(Arrays.copyOf(sound, length)) > 0);
        }
    }

    @Test
    void aDamagedFrameIsGivenAsSuchAndItsNeighboursAreGivenWhole() throws IOException {
        FrameTable table;
        try (ContainerStore store = fixture.open(disk)) {
            table = store.frameTable(1);
        }
        assertTrue(table.frames() >= 2);
        byte[] damaged = sound.clone();
        damaged[(int) table.fileOffset(0) + table.fileLength(0) / 2] ^= 1;
        fixture.replace(disk, 1, damaged);
        List<Integer> whole = new ArrayList<>();
        List<Integer> refused = new ArrayList<>();
        try (ContainerStore store = fixture.open(disk)) {
            int[] all = IntStream.range(0, table.frames()).toArray();
            store.readFrames(1, all, all.length, 1 << 20, new FrameConsumer() {
                @Override
                public void frame(int frame, Frame contents) {
                    whole.add(frame);
                }

                @Override
                public void damaged(int frame, IOException failure) {
                    refused.add(frame);
                    assertTrue(failure.getMessage().contains("container 1, slots 0 to"), failure.getMessage());
                    assertTrue(failure.getMessage().contains("at byte 4128"), failure.getMessage());
                }
            });
        }
        assertEquals(List.of(0), refused);
        assertEquals(table.frames() - 1, whole.size());
    }

    @Test
    void anUnknownVersionIsRefused() throws IOException {
        for (int start : new int[] {0, sound.length - ContainerFormat.FOOTER_BYTES}) {
            int length = start == 0 ? ContainerFormat.HEADER_BYTES : ContainerFormat.FOOTER_BYTES;
            for (byte version : new byte[] {1, 9}) {
                byte[] other = sound.clone();
                other[start + 4] = version;
                Bytes crc = new Bytes(Integer.BYTES);
                crc.putInt(Bytes.crc(other, start, length - Integer.BYTES));
                System.arraycopy(crc.array(), 0, other, start + length - Integer.BYTES, Integer.BYTES);
                fixture.replace(disk, 1, other);
                try (ContainerStore store = fixture.openWithoutTables(disk)) {
                    assertThrows(UnsupportedFormatException.class, () -> store.directory(1), "version " + version);
                }
            }
        }
    }
}
