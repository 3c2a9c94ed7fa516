package org.opendedup.sar.volume.send;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import org.opendedup.sar.volume.stream.StreamMessage;

/**
 * A part of a stream: chunks, which are read and written together, and then what uses them. A struct of arrays. Filled
 * by one thread, then used by another.
 */
final class Window {
    /** Most chunks: what is offered to the receiver at a time. */
    static final int MOST_CHUNKS = 4096;

    /** Most bytes of chunks, unless a single one has more. */
    static final int MOST_BYTES = 8 << 20;

    /** Most bytes of messages, about, and those of one more. */
    private static final int MOST_MESSAGE_BYTES = 1 << 20;

    private final List<StreamMessage> messages = new ArrayList<>();
    private long messageBytes;
    private long[] ids = new long[64];
    private int[] lengths = new int[64];
    private int[] prefixes = new int[64];
    private long[] inodes = new long[64];
    private int count;
    private long bytes;

    boolean isEmpty() {
        return count == 0 && messages.isEmpty();
    }

    boolean isFull() {
        return messageBytes >= MOST_MESSAGE_BYTES;
    }

    boolean hasRoomForChunk(int length) {
        return count == 0 || count < MOST_CHUNKS && bytes + length <= MOST_BYTES;
    }

    /**
     * Adds a chunk.
     *
     * @param inode the file that needs it first, for messages of errors
     */
    void add(long chunkId, int length, int fingerprintPrefix, long inode) {
        if (count == ids.length) {
            ids = Arrays.copyOf(ids, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
            prefixes = Arrays.copyOf(prefixes, 2 * count);
            inodes = Arrays.copyOf(inodes, 2 * count);
        }
        ids[count] = chunkId;
        lengths[count] = length;
        prefixes[count] = fingerprintPrefix;
        inodes[count++] = inode;
        bytes += length;
    }

    /** @param weight its bytes in memory, about */
    void add(StreamMessage message, long weight) {
        messages.add(message);
        messageBytes += weight;
    }

    List<StreamMessage> messages() {
        return messages;
    }

    int count() {
        return count;
    }

    long bytes() {
        return bytes;
    }

    long chunkId(int chunk) {
        return ids[chunk];
    }

    int length(int chunk) {
        return lengths[chunk];
    }

    int fingerprintPrefix(int chunk) {
        return prefixes[chunk];
    }

    long inode(int chunk) {
        return inodes[chunk];
    }

    /** Returns the chunks alone that {@code wanted} has the numbers of. */
    Window with(IntPredicate wanted) {
        Window some = new Window();
        for (int chunk = 0; chunk < count; chunk++) {
            if (wanted.test(chunk)) {
                some.add(ids[chunk], lengths[chunk], prefixes[chunk], inodes[chunk]);
            }
        }
        return some;
    }
}
