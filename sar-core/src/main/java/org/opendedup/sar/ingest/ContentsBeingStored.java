package org.opendedup.sar.ingest;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * The contents that are on their way: not found in the index, and not inserted into it yet. A thread claims a content
 * before it stores it, so that each is stored once however many threads bring it at the same time; a thread whose claim
 * fails takes the copy of the other. Safe for use by many threads.
 *
 * <p>A thread that claimed a content settles it before it waits for another's, so that no two wait for each other. A
 * content may have ended between a thread's look-up in the index and its claim: {@link #ended} tells when it must look
 * up again.
 */
final class ContentsBeingStored {
    /** Contents share a counter by chance: then an index is asked once more than is necessary. */
    private static final int COUNTERS = 1 << 16;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final ConcurrentMap<Content, Content> contents = new ConcurrentHashMap<>();
    private final AtomicIntegerArray ended = new AtomicIntegerArray(COUNTERS);

    /** A content, known by its fingerprint, that one thread stores. */
    static final class Content {
        private final long first;
        private final long second;
        private final long third;
        private final long fourth;
        private final CompletableFuture<Long> copy = new CompletableFuture<>();

        Content(byte[] fingerprints, int offset) {
            first = (long) LONG.get(fingerprints, offset);
            second = (long) LONG.get(fingerprints, offset + 8);
            third = (long) LONG.get(fingerprints, offset + 16);
            fourth = (long) LONG.get(fingerprints, offset + 24);
        }

        /** Tells the copy to the threads that wait for it. Only the first call has an effect. */
        void settle(long chunkId) {
            copy.complete(chunkId);
        }

        /**
         * Waits until the content is settled, and returns its copy; {@link ChunkId#NONE} if it was not stored. An
         * interrupt does not end the wait.
         */
        long await() {
            return copy.join();
        }

        @Override
        public boolean equals(@Nullable Object object) {
            return object instanceof Content other
                    && first == other.first
                    && second == other.second
                    && third == other.third
                    && fourth == other.fourth;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(first);
        }
    }

    /**
     * Returns a number that changes when a content with this fingerprint ends. If it is another one after the claim
     * than it was before the look-up, the index may lead to a copy now.
     */
    int ended(byte[] fingerprints, int offset) {
        return ended.get(counter(Fingerprints.fingerprintPrefix(fingerprints, offset)));
    }

    private static int counter(int prefix) {
        return prefix & (COUNTERS - 1);
    }

    /**
     * Claims a content. Whoever succeeds must {@link #end} it.
     *
     * @return null for success; else the content of the thread that stores it
     */
    @Nullable
    Content claim(Content content) {
        return contents.putIfAbsent(content, content);
    }

    /** Ends a content that was claimed: the index leads to it, or it was not stored. */
    void end(Content content) {
        // Before another can claim it, who would see the former number else, and store it a second time.
        ended.getAndIncrement(counter((int) content.first));
        contents.remove(content);
        content.settle(ChunkId.NONE);
    }
}
