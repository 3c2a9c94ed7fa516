package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.Frame;

/** A chunk stored under a wrong fingerprint is detected only by callers that verify fingerprints. */
class FingerprintVerificationTest extends StoreTest {
    private static final int FRAME_BYTES = 4096;

    @Test
    void aWrongFingerprintIsFoundByWhoAsksForIt() throws IOException {
        fixture.options = new ContainerOptions(
                new Compression(Compression.Codec.NONE, 0, FRAME_BYTES),
                64 * FRAME_BYTES,
                64,
                2,
                16L * FRAME_BYTES,
                ContainerCipher.NONE);
        try (ContainerStore store = fixture.open(disk)) {
            byte[] chunk = new byte[FRAME_BYTES];
            long id = 0;
            try (ContainerWriter writer = store.writer(1)) {
                for (int i = 0; i < 3; i++) {
                    id = writer.append(chunk, 0, chunk.length, new byte[32], 0);
                }
            }
            fixture.sealAll(store);
            long container = ChunkId.container(id);
            assertEquals(1, store.frame(container, 0, false).count());
            assertThrows(CorruptionException.class, () -> store.frame(container, 0, true));
            assertEquals(0, damagedFrames(store, container, false));
            assertEquals(3, damagedFrames(store, container, true));
        }
    }

    private static int damagedFrames(ContainerStore store, long container, boolean verify) throws IOException {
        List<Integer> damaged = new ArrayList<>();
        store.readFrames(container, new int[] {0, 1, 2}, 3, 1 << 20, new FrameConsumer() {
            @Override
            public void frame(int number, Frame frame) {}

            @Override
            public void damaged(int number, IOException cause) {
                damaged.add(number);
            }

            @Override
            public boolean verifiesFingerprints() {
                return verify;
            }
        });
        return damaged.size();
    }
}
