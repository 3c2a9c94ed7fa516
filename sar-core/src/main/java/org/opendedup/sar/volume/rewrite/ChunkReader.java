package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.hot.promotion.HomeFrames;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads chunks that are to be stored once more, container by container, in turn with the readers of the volume. Each is
 * verified by its fingerprint: a damaged chunk must not get a new copy with a new checksum.
 */
public record ChunkReader(HomeFrames home) {
    private static final Logger log = LoggerFactory.getLogger(ChunkReader.class);

    /** Returns the chunks in the requested order, without those that cannot be read. */
    public Map<Long, byte[]> read(List<Long> wanted) throws InterruptedIOException {
        var byContainer = new TreeMap<Long, List<Long>>();
        for (Long chunk : wanted) {
            byContainer
                    .computeIfAbsent(ChunkId.container(chunk), id -> new ArrayList<>())
                    .add(chunk);
        }
        var read = new HashMap<Long, byte[]>();
        for (Map.Entry<Long, List<Long>> container : byContainer.entrySet()) {
            try {
                readContainer(container.getKey(), container.getValue(), read);
            } catch (InterruptedIOException e) {
                throw e;
            } catch (IOException e) {
                log.warn("chunks of container {} stay where they are: {}", container.getKey(), e.getMessage());
            }
        }
        var chunks = new LinkedHashMap<Long, byte[]>();
        for (Long chunk : wanted) {
            byte[] data = read.get(chunk);
            if (data != null) {
                chunks.put(chunk, data);
            }
        }
        return chunks;
    }

    /** Reads chunks of one container, a few frames a turn at the disk: readers of the volume get theirs in between. */
    private void readContainer(long container, List<Long> wanted, Map<Long, byte[]> read) throws IOException {
        wanted.sort(null);
        int[] frames = new int[HomeFrames.FRAMES_PER_TURN];
        int count = 0;
        ChunkCopies copies = new ChunkCopies(wanted, read);
        for (long chunk : wanted) {
            int frame = home.frameOf(chunk);
            if (count > 0 && frames[count - 1] == frame) {
                continue;
            }
            if (count == frames.length) {
                home.read(container, frames, count, copies);
                count = 0;
            }
            frames[count++] = frame;
        }
        home.read(container, frames, count, copies);
    }

    /** Copies the bytes of chunks from their frames. */
    private record ChunkCopies(List<Long> wanted, Map<Long, byte[]> read) implements FrameConsumer {
        @Override
        public void frame(int number, Frame frame) {
            for (Long chunk : wanted) {
                int slot = ChunkId.slot(chunk);
                if (frame.holds(slot)) {
                    int from = frame.offset(slot);
                    read.put(chunk, Arrays.copyOfRange(frame.data(), from, from + frame.length(slot)));
                }
            }
        }

        @Override
        public void damaged(int frame, IOException failure) {
            log.warn("chunks stay where they are: {}", failure.getMessage());
        }

        @Override
        public boolean verifiesFingerprints() {
            return true;
        }
    }
}
