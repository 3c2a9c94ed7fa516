package org.opendedup.sar.cluster;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.opendedup.sar.common.ArrayInputStream;

/**
 * The bytes of some blocks, one after another; reads ahead where it is read in order. For one thread. Memory: two
 * blocks for each lane of the cluster at most.
 */
final class BlockInput extends ArrayInputStream {
    private final Volumes volumes;
    private final List<BlockRef> blocks;
    /** Where each block begins, and its number. */
    private final NavigableMap<Long, Integer> begins = new TreeMap<>();
    /** Blocks that were asked for, by their numbers. */
    private final NavigableMap<Integer, Future<byte[]>> asked = new TreeMap<>();

    private final long length;
    private long position;
    private int number = -1;
    private byte[] present = new byte[0];
    private long presentAt;

    BlockInput(Volumes volumes, List<BlockRef> blocks) {
        this.volumes = volumes;
        this.blocks = blocks;
        long end = 0;
        for (int i = 0; i < blocks.size(); i++) {
            begins.put(end, i);
            end += blocks.get(i).length();
        }
        length = end;
    }

    /**
     * Goes to a position.
     *
     * @throws EOFException if the blocks have fewer than {@code bytes} bytes from there on
     */
    void seek(long to, long bytes) throws EOFException {
        if (to < 0 || bytes < 0 || to > length - bytes) {
            throw new EOFException(
                    "the archive's blocks have " + length + " bytes, and a file has " + bytes + " from " + to + " on");
        }
        position = to;
    }

    @Override
    public int read(byte[] target, int offset, int count) throws IOException {
        if (count == 0) {
            return 0;
        }
        if (position >= length) {
            return -1;
        }
        load();
        int from = (int) (position - presentAt);
        int some = Math.min(count, present.length - from);
        System.arraycopy(present, from, target, offset, some);
        position += some;
        return some;
    }

    private void load() throws IOException {
        var wanted = Objects.requireNonNull(begins.floorEntry(position));
        int next = wanted.getValue();
        if (next == number) {
            return;
        }
        asked.headMap(next).values().forEach(other -> other.cancel(false));
        asked.headMap(next).clear();
        int last = next == number + 1 ? Math.min(blocks.size(), next + Volumes.LANES) : next + 1;
        asked.tailMap(last).values().forEach(other -> other.cancel(false));
        asked.tailMap(last).clear();
        for (int ahead = next; ahead < last; ahead++) {
            BlockRef block = blocks.get(ahead);
            asked.computeIfAbsent(ahead, any -> volumes.lanes().submit(() -> volumes.read(block)));
        }
        present = result(Objects.requireNonNull(asked.remove(next)));
        presentAt = wanted.getKey();
        number = next;
    }

    /** Returns what a task of the cluster's lanes gives, or throws what it threw. */
    static <T> T result(Future<T> task) throws IOException {
        try {
            return task.get();
        } catch (InterruptedException e) {
            throw (IOException) new InterruptedIOException("interrupted").initCause(e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
