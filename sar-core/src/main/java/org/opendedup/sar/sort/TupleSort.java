package org.opendedup.sar.sort;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.Sealer;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;

/**
 * Sorts more tuples of longs than memory holds, by their first long; tuples with the same first long keep the order in
 * which they were added. Sorted runs are written to files, which are merged when they are read; few tuples stay in
 * memory. The files are scratch: no other program run reads them. Those of an encrypted volume are sealed in blocks,
 * with a key that nothing remembers after the sort. For one thread.
 */
public final class TupleSort implements Closeable {
    /** Bits of a tuple's position in memory, when tuples are ordered. */
    private static final int POSITION_BITS = 20;
    /** Runs of one level that are merged into one run of the next, so that a tuple is written once for each level. */
    private static final int RUNS_OF_LEVEL = 32;
    /** Tuples that are read or written at a time: 40 KiB of five longs, so 1.2 MiB for the files of a level. */
    private static final int BUFFER_TUPLES = 1024;

    private static final byte[] NOTHING = {};

    private final Directory scratch;
    private final String name;
    private final int width;
    private final int capacity;
    private final ByteBuffer buffer;
    private final SortSteps steps;
    /** Null: the runs are not sealed. */
    private final @Nullable Sealer sealer;
    /** Bytes of a run's block that has as many tuples as a block has. */
    private final int blockBytes;
    /** Number of the next block that is written, unique in the sort: that of its run, then that of the block in it. */
    private long nextBlock;

    private long[] tuples = new long[0];
    private int count;
    private int runsMade;
    /** Numbers of the runs, by level; runs of a higher level have tuples that were added earlier. */
    private final List<List<Integer>> levels = new ArrayList<>();

    private final List<Merge> open = new ArrayList<>();
    /** Positions of the tuples in order, once they are sorted in memory; null before, and if there are files. */
    private long @Nullable [] sorted;

    /**
     * @param scratch directory of the runs; they are deleted by {@link #close}
     * @param name name of the runs' files, to which a number is appended
     * @param width longs of a tuple
     * @param memoryBytes bytes of tuples in memory; ordering them needs half as much in addition
     * @param steps called before each write
     * @param keys of an encrypted volume; null: it is not encrypted, or the runs lie where its files are stored
     *     unsealed
     */
    public TupleSort(
            Directory scratch, String name, int width, int memoryBytes, SortSteps steps, @Nullable VolumeKeys keys) {
        this.steps = steps;
        this.scratch = scratch;
        this.name = name;
        this.width = width;
        capacity = Math.max(1, Math.min(1 << POSITION_BITS, memoryBytes / (width * Long.BYTES)));
        sealer = keys == null ? null : keys.sealer(Purpose.SCRATCH, VolumeKeys.newContext());
        blockBytes = BUFFER_TUPLES * width * Long.BYTES + overhead();
        buffer = buffer();
    }

    /** Returns the bytes of a block in a file that are no tuples. */
    private int overhead() {
        return sealer == null ? 0 : Sealer.TAG_BYTES;
    }

    /** Returns a buffer for the tuples of a block and for what follows them. */
    private ByteBuffer buffer() {
        return ByteBuffer.allocate(blockBytes).order(ByteOrder.LITTLE_ENDIAN).limit(blockBytes - overhead());
    }

    /** Adds a tuple, which is copied. Not to be called after the first call of {@link #sorted}. */
    public void add(long[] tuple) throws IOException {
        assert tuple.length == width : tuple.length;
        if (count == capacity) {
            writeRun();
        }
        if ((count + 1) * width > tuples.length) {
            tuples = Arrays.copyOf(tuples, Math.min(capacity, Math.max(64, 2 * count)) * width);
        }
        System.arraycopy(tuple, 0, tuples, count * width, width);
        count++;
    }

    private void writeRun() throws IOException {
        try (Output output = addRun(0)) {
            for (long place : order()) {
                write(output, tuples, at(place));
            }
            flush(output);
        }
        count = 0;
        for (int level = 0; levels.get(level).size() == RUNS_OF_LEVEL; level++) {
            mergeLevel(level);
        }
    }

    private Output addRun(int level) throws IOException {
        if (level == levels.size()) {
            levels.add(new ArrayList<>());
        }
        int run = runsMade++;
        levels.get(level).add(run);
        nextBlock = firstBlock(run);
        return scratch.create(file(run));
    }

    private String file(int run) {
        return name + "-" + run;
    }

    private static long firstBlock(int run) {
        return (long) run << Integer.SIZE;
    }

    /**
     * Returns the tuples' positions in sorted order, each in the low bits of an entry, with the rank of its first long
     * above.
     */
    private long[] order() {
        long[] keys = new long[count];
        for (int i = 0; i < count; i++) {
            keys[i] = tuples[i * width];
        }
        Arrays.sort(keys);
        int distinct = 0;
        for (int i = 0; i < count; i++) {
            if (i == 0 || keys[i] != keys[i - 1]) {
                keys[distinct++] = keys[i];
            }
        }
        long[] order = new long[count];
        for (int i = 0; i < count; i++) {
            long rank = Arrays.binarySearch(keys, 0, distinct, tuples[i * width]);
            order[i] = rank << POSITION_BITS | i;
        }
        Arrays.sort(order);
        return order;
    }

    /** Returns where a tuple begins in memory, from an entry of {@link #order}. */
    private int at(long place) {
        return (int) (place & (1 << POSITION_BITS) - 1) * width;
    }

    private void write(Output output, long[] source, int at) throws IOException {
        if (!buffer.hasRemaining()) {
            flush(output);
        }
        for (int i = 0; i < width; i++) {
            buffer.putLong(source[at + i]);
        }
    }

    private void flush(Output output) throws IOException {
        steps.step();
        if (sealer != null) {
            int length = buffer.position();
            sealer.seal(nextBlock++, NOTHING, buffer.array(), 0, length);
            buffer.limit(length + overhead()).position(length + overhead());
        }
        output.append(buffer.flip());
        buffer.clear().limit(blockBytes - overhead());
    }

    /** Merges the runs of a level into one of the next. */
    private void mergeLevel(int level) throws IOException {
        List<Integer> runs = levels.get(level);
        try (Merge merge = new Merge(runs, Long.MIN_VALUE);
                Output output = addRun(level + 1)) {
            while (merge.next()) {
                write(output, merge.tuple, 0);
            }
            flush(output);
        }
        delete(runs);
    }

    private void delete(List<Integer> runs) throws IOException {
        for (int run : runs) {
            if (scratch.exists(file(run))) {
                scratch.delete(file(run));
            }
        }
        runs.clear();
    }

    /** Returns all runs, those with the tuples added first at the front. */
    private List<Integer> allRuns() {
        List<Integer> all = new ArrayList<>();
        for (int level = levels.size() - 1; level >= 0; level--) {
            all.addAll(levels.get(level));
        }
        return all;
    }

    /** Iterates over all tuples, in order. */
    public interface Cursor {
        /** Moves to the next tuple; false if there is none. */
        boolean next() throws IOException;

        /** Returns a long of the current tuple. */
        long get(int column);
    }

    /** Returns the tuples whose first long is at least {@code from}. The cursor is valid until {@link #close}. */
    public Cursor sorted(long from) throws IOException {
        // With their order, half of them take three quarters of the memory.
        if (runsMade == 0 && count <= capacity / 2) {
            if (sorted == null) {
                sorted = order();
            }
            return new InMemory(sorted, from);
        }
        if (count > 0) {
            writeRun();
        }
        tuples = new long[0];
        Merge merge = new Merge(allRuns(), from);
        open.add(merge);
        return merge;
    }

    /** Deletes the files. */
    @Override
    public void close() throws IOException {
        for (Merge merge : open) {
            merge.close();
        }
        open.clear();
        for (List<Integer> runs : levels) {
            delete(runs);
        }
    }

    private final class InMemory implements Cursor {
        private final long[] order;
        private int next;
        private int at;

        InMemory(long[] order, long from) {
            this.order = order;
            while (next < order.length && tuples[at(order[next])] < from) {
                next++;
            }
        }

        @Override
        public boolean next() {
            if (next == order.length) {
                return false;
            }
            at = at(order[next++]);
            return true;
        }

        @Override
        public long get(int column) {
            return tuples[at + column];
        }
    }

    private final class Merge implements Cursor, Closeable {
        private final long[] tuple = new long[width];
        private final PriorityQueue<Run> waiting = new PriorityQueue<>();
        private final List<Run> all = new ArrayList<>();

        /** @param runs those with the tuples added first at the front */
        Merge(List<Integer> runs, long from) throws IOException {
            for (int number : runs) {
                Run run = new Run(scratch.open(file(number)), number, all.size());
                all.add(run);
                run.seek(from);
                if (run.next()) {
                    waiting.add(run);
                }
            }
        }

        @Override
        public boolean next() throws IOException {
            Run run = waiting.poll();
            if (run == null) {
                return false;
            }
            System.arraycopy(run.tuple, 0, tuple, 0, width);
            if (run.next()) {
                waiting.add(run);
            }
            return true;
        }

        @Override
        public long get(int column) {
            return tuple[column];
        }

        @Override
        public void close() throws IOException {
            for (Run run : all) {
                run.input.close();
            }
        }
    }

    /** A sorted file. */
    private final class Run implements Comparable<Run> {
        private final Input input;
        private final int number;
        private final int age;
        private final long blocks;
        /** The tuples of a block that are not read yet. */
        private final ByteBuffer read = buffer().limit(0);

        private final long[] tuple = new long[width];
        /** Number of the next block. */
        private long block;

        /** @param age lower if its tuples were added earlier */
        Run(Input input, int number, int age) throws IOException {
            this.input = input;
            this.number = number;
            this.age = age;
            blocks = (input.length() + blockBytes - 1) / blockBytes;
        }

        /** Moves to the first tuple whose first long is at least {@code from}. */
        void seek(long from) throws IOException {
            long low = 0;
            long high = blocks;
            while (low < high) {
                long middle = (low + high) >>> 1;
                block = middle;
                if (fill() && read.getLong(0) < from) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            // The tuples before the first block that begins with one, too, may be such.
            block = Math.max(0, low - 1);
            read.limit(0);
            while ((read.hasRemaining() || fill()) && read.getLong(read.position()) < from) {
                read.position(read.position() + width * Long.BYTES);
            }
        }

        boolean next() throws IOException {
            if (!read.hasRemaining() && !fill()) {
                return false;
            }
            for (int i = 0; i < width; i++) {
                tuple[i] = read.getLong();
            }
            return true;
        }

        /** Reads the next block. */
        private boolean fill() throws IOException {
            if (block == blocks) {
                return false;
            }
            long at = block * blockBytes;
            int bytes = (int) Math.min(blockBytes, input.length() - at);
            read.clear().limit(bytes);
            input.readFully(at, read);
            read.flip().limit(bytes - overhead());
            if (sealer != null) {
                open(sealer, read.limit());
            }
            block++;
            return true;
        }

        private void open(Sealer opener, int bytes) throws CorruptionException {
            byte[] tuples = read.array();
            if (!opener.open(firstBlock(number) + block, NOTHING, tuples, 0, bytes, tuples, 0)) {
                throw new CorruptionException(
                        "scratch file " + file(number), block * blockBytes, "what was written there", "other bytes");
            }
        }

        @Override
        public int compareTo(Run other) {
            int byKey = Long.compare(tuple[0], other.tuple[0]);
            return byKey != 0 ? byKey : Integer.compare(age, other.age);
        }
    }
}
