package org.opendedup.sar.container;

import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Assertions;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.Frame;

/** Random chunks, and the id that each one got. Safe for use by many threads. */
public final class TestChunks {
    final Map<Long, byte[]> byId = new ConcurrentHashMap<>();

    /** Half of the chunks compress well, the others hardly. */
    public static byte[] chunk(Random random, int maxBytes) {
        byte[] chunk = new byte[1 + random.nextInt(maxBytes)];
        random.nextBytes(chunk);
        if (random.nextBoolean()) {
            for (int i = 0; i < chunk.length; i++) {
                chunk[i] = (byte) ("storage ".charAt(i % 8) + (chunk[i] == 0 ? 1 : 0));
            }
        }
        return chunk;
    }

    static byte[] fingerprint(byte[] chunk) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(chunk);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    public long append(ContainerWriter writer, byte[] chunk) throws IOException {
        long id = writer.append(chunk, 0, chunk.length, fingerprint(chunk), 0);
        Assertions.assertNull(byId.put(id, chunk), () -> "given out twice: " + ChunkId.toString(id));
        return id;
    }

    /** Forgets chunks of a container, which were removed. */
    public void forget(long container, BitSet removed) {
        removed.stream().forEach(slot -> byId.remove(ChunkId.of(container, slot)));
    }

    static byte[] read(ContainerStore store, long id) throws IOException {
        long container = ChunkId.container(id);
        Frame frame = store.frame(container, store.frameOf(id), true);
        int slot = ChunkId.slot(id);
        int from = frame.offset(slot);
        byte[] chunk = Arrays.copyOfRange(frame.data(), from, from + frame.length(slot));
        Assertions.assertEquals(Fingerprints.fingerprintPrefix(fingerprint(chunk), 0), frame.fingerprintPrefix(slot));
        return chunk;
    }

    public void assertAllReadable(ContainerStore store) throws IOException {
        for (Map.Entry<Long, byte[]> each : byId.entrySet()) {
            Assertions.assertArrayEquals(
                    each.getValue(), read(store, each.getKey()), () -> ChunkId.toString(each.getKey()));
        }
    }
}
