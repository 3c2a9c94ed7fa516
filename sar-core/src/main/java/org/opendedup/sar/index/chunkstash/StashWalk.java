package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;

/** Visits entries of a ChunkStash index in the order of its pages. For use by one thread, with the index's lock. */
final class StashWalk {
    /** Attempts to find a page with a live entry, at random. */
    private static final int MOST_TRIES = 100;

    private final StashState state;
    private final StashDisk disk;

    StashWalk(StashState state, StashDisk disk) {
        this.state = state;
        this.disk = disk;
    }

    /**
     * Visits up to {@code count} live entries, those of the log first.
     *
     * @param position what the last call returned: a pointer or, of the disk index, a fingerprint; null to begin
     * @return where to go on; null if all were visited
     */
    byte @Nullable [] after(byte @Nullable [] position, int count, ChunkIndex.EntryVisitor visitor) throws IOException {
        int[] left = {count};
        byte[] from = new byte[Fingerprints.BYTES];
        if (position == null || position.length == Long.BYTES) {
            long pointer = position == null
                    ? PageDirectory.pointer(1, 0)
                    : ByteBuffer.wrap(position).getLong();
            long next = run(pointer, count, (fingerprint, chunk) -> {
                left[0]--;
                visitor.visit(fingerprint, chunk);
            });
            if (next != 0) {
                return ByteBuffer.allocate(Long.BYTES).putLong(next).array();
            }
        } else {
            from = position;
        }
        return afterOnDisk(from, left[0], visitor);
    }

    /** Visits entries of the disk index whose fingerprints the log does not have: those of the others do not count. */
    private byte @Nullable [] afterOnDisk(byte[] from, int count, ChunkIndex.EntryVisitor visitor) throws IOException {
        int left = count;
        byte[] at = from;
        while (true) {
            List<byte[]> fingerprints = new ArrayList<>();
            List<Long> chunks = new ArrayList<>();
            // One more than is wanted shows whether there is more.
            disk.forEachFrom(at, left + 1, (fingerprint, chunk) -> {
                fingerprints.add(fingerprint.clone());
                chunks.add(chunk);
            });
            for (int i = 0; i < fingerprints.size(); i++) {
                if (state.find(fingerprints.get(i), 0) == 0) {
                    if (left == 0) {
                        return fingerprints.get(i);
                    }
                    visitor.visit(fingerprints.get(i), chunks.get(i));
                    left--;
                }
            }
            if (fingerprints.isEmpty()) {
                return null;
            }
            at = fingerprints.get(fingerprints.size() - 1);
            if (!increment(at)) {
                return null;
            }
        }
    }

    /** Changes a fingerprint to the next one; returns false if there is none. */
    private static boolean increment(byte[] fingerprint) {
        for (int i = fingerprint.length - 1; i >= 0; i--) {
            if (++fingerprint[i] != 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Visits up to {@code count} live entries.
     *
     * @param from pointer from which on entries are visited
     * @return the pointer to go on from; 0 if all were visited
     */
    private long run(long from, int count, ChunkIndex.EntryVisitor visitor) throws IOException {
        int visited = 0;
        int first = PageDirectory.entry(from);
        for (int page = PageDirectory.page(from); page <= state.pages.highest(); page++) {
            if (state.pages.exists(page)) {
                byte[] entries = state.entries(page);
                for (int entry = first; entry < state.count(page); entry++) {
                    if (state.pages.isLive(page, entry)) {
                        if (visited == count) {
                            return PageDirectory.pointer(page, entry);
                        }
                        visit(page, entry, entries, visitor);
                        visited++;
                    }
                }
            }
            first = 0;
        }
        return 0;
    }

    private void visit(int page, int entry, byte[] entries, ChunkIndex.EntryVisitor visitor) {
        visitor.visit(
                fingerprint(entries, entry),
                ChunkId.of(state.pages.container(page), StashRecords.slot(entries, entry)));
    }

    private static byte[] fingerprint(byte[] entries, int entry) {
        int at = entry * StashRecords.ENTRY_BYTES;
        return Arrays.copyOfRange(entries, at + StashRecords.FINGERPRINT_AT, at + StashRecords.ENTRY_BYTES);
    }

    /** Visits a random live entry of the log or the disk index, if it finds one. */
    void sample(RandomGenerator random, ChunkIndex.EntryVisitor visitor) throws IOException {
        long onDisk = disk.use().chunks();
        if (onDisk > 0 && random.nextLong(onDisk + state.live()) < onDisk) {
            byte[] from = new byte[Fingerprints.BYTES];
            random.nextBytes(from);
            afterOnDisk(from, 1, visitor);
        } else {
            sampleLog(random, visitor);
        }
    }

    private void sampleLog(RandomGenerator random, ChunkIndex.EntryVisitor visitor) throws IOException {
        int highest = state.pages.highest();
        for (int i = 0; i < MOST_TRIES && highest > 0; i++) {
            int page = 1 + random.nextInt(highest);
            int count = state.pages.exists(page) ? state.count(page) : 0;
            int live = state.pages.exists(page) ? state.pages.live(page, count) : 0;
            if (live > 0) {
                byte[] entries = state.entries(page);
                int entry = random.nextInt(count);
                while (!state.pages.isLive(page, entry)) {
                    entry = (entry + 1) % count;
                }
                visit(page, entry, entries, visitor);
                return;
            }
        }
    }

    /** Visits the slots of a page that are kept. */
    void forEachKept(int page, ChunkIndex.SlotVisitor visitor) throws IOException {
        byte[] entries = state.entries(page);
        for (int entry = 0; entry < state.count(page); entry++) {
            if (state.pages.isKept(page, entry)) {
                visitor.visit(StashRecords.slot(entries, entry), fingerprint(entries, entry));
            }
        }
    }
}
