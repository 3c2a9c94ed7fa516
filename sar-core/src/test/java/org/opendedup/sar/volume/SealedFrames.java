package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.io.CrashDirectory;

/** The frames that were ever in the packs of an encrypted volume: under which key and number, and which bytes. */
final class SealedFrames {
    private static final int TAG_BYTES = 16;

    private final Map<Sealing, Integer> seen = new HashMap<>();
    private int repeated;

    /** What decides about the key, and the number under it. */
    private record Sealing(ContainerIdentity identity, long keySalt, int firstSlot) {}

    /** Notes the frames that are there at present. */
    void look(CrashDirectory packs) throws IOException {
        for (String name : packs.list()) {
            if (name.endsWith(".pack")) {
                lookAt(packs.contents(name));
            }
        }
    }

    private void lookAt(byte[] bytes) {
        for (int at = 0; at + FrameFormat.HEADER_BYTES <= bytes.length; at++) {
            FrameFormat.Header header =
                    FrameFormat.magicAt(bytes, at) ? FrameFormat.readHeader(bytes, at, bytes.length) : null;
            if (header != null && header.isEncrypted() && FrameFormat.crcHolds(bytes, at, header)) {
                int from = at + FrameFormat.HEADER_BYTES;
                int end = from + header.contentBytes() + TAG_BYTES;
                long keySalt = ByteBuffer.wrap(bytes).getLong(end);
                int sealed = Arrays.hashCode(Arrays.copyOfRange(bytes, from, end));
                Integer before = seen.putIfAbsent(new Sealing(header.identity(), keySalt, header.firstSlot()), sealed);
                repeated += before == null || before == sealed ? 0 : 1;
            }
        }
    }

    /** Returns how many keys and numbers were seen. */
    int count() {
        return seen.size();
    }

    /** Returns how often other bytes were seen under a key and number. */
    int repeated() {
        return repeated;
    }

    /** Returns how many frames were sealed again under a key that differs in the random key salt only. */
    long madeAgain() {
        return seen.size()
                - seen.keySet().stream()
                        .map(sealing -> new Sealing(sealing.identity, 0, sealing.firstSlot))
                        .distinct()
                        .count();
    }
}
