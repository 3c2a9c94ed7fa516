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
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;

/**
 * Sorts more tuples of longs than memory holds, by their first long; tuples with the same first long keep the order in
 * which they were added. Sorted runs are written to files, which are merged when they are read; few tuples stay in
 * memory. The files are scratch: no other program run reads them. For one thread.
 */
public final class TupleSort implements Closeable {
    /** Bits of a tuple's position in memory, when tuples are ordered. */
    private static final int POSITION_BITS = 20;
    /** Runs of one level that are merged into one run of the next, so that a tuple is written once for each level. */
    private static final int RUNS_OF_LEVEL = 32;
    /** Tuples that are read or written at a time: 40 KiB of five longs, so 1.2 MiB for the files of a level. */
    private static final int BUFFER_TUPLES = 1024;

    private final Directory scratch;
    private final String name;
    private final int width;
    private final int capacity;
    private final ByteBuffer buffer;
    private final SortSteps steps;
    private long[] tuples = new long[0];
    private int count;
    private int runsMade;
    /** Names of the runs' files, by level; runs of a higher level have tuples that were added earlier. */
    private final List<List<String>> levels = new ArrayList<>();

    private final List<Merge> open = new ArrayList<>();
    /** Positions of the tuples in order, once they are sorted in memory; null before, and if there are files. */
    private long @Nullable [] sorted;

    /**
     * @param scratch directory of the runs; they are deleted by {@link #close}
     * @param name name of the runs' files, to which a number is appended
     * @param width longs of a tuple
     * @param memoryBytes bytes of tuples in memory; ordering them needs half as much in addition
     * @param steps called before each write
     */
    public TupleSort(Directory scratch, String name, int width, int memoryBytes, SortSteps steps) {
        this.steps = steps;
        this.scratch = scratch;
        this.name = name;
        this.width = width;
        capacity = Math.max(1, Math.min(1 << POSITION_BITS, memoryBytes / (width * Long.BYTES)));
        buffer = buffer();
    }

    private ByteBuffer buffer() {
        return ByteBuffer.allocate(BUFFER_TUPLES * width * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
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
        String run = nextRun();
        try (Output output = scratch.create(run)) {
            addRun(0, run);
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

    private void addRun(int level, String run) {
        if (level == levels.size()) {
            levels.add(new ArrayList<>());
        }
        levels.get(level).add(run);
    }

    private String nextRun() {
        return name + "-" + runsMade++;
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
        output.append(buffer.flip());
        buffer.clear();
    }

    /** Merges the runs of a level into one of the next. */
    private void mergeLevel(int level) throws IOException {
        List<String> runs = levels.get(level);
        String merged = nextRun();
        addRun(level + 1, merged);
        try (Merge merge = new Merge(runs, Long.MIN_VALUE);
                Output output = scratch.create(merged)) {
            while (merge.next()) {
                write(output, merge.tuple, 0);
            }
            flush(output);
        }
        delete(runs);
    }

    private void delete(List<String> runs) throws IOException {
        for (String run : runs) {
            if (scratch.exists(run)) {
                scratch.delete(run);
            }
        }
        runs.clear();
    }

    /** Returns all runs, those with the tuples added first at the front. */
    private List<String> allRuns() {
        List<String> all = new ArrayList<>();
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
        for (List<String> runs : levels) {
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

        /** @param runs names of the runs, those with the tuples added first at the front */
        Merge(List<String> runs, long from) throws IOException {
            for (String name : runs) {
                Run run = new Run(scratch.open(name), all.size());
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

    /** A sorted file. Runs of tuples that were added earlier have lower numbers. */
    private final class Run implements Comparable<Run> {
        private final Input input;
        private final int number;
        private final long length;
        private final ByteBuffer read = buffer().limit(0);
        private final long[] tuple = new long[width];
        /** Number of the next tuple that is read from the file. */
        private long position;

        Run(Input input, int number) throws IOException {
            this.input = input;
            this.number = number;
            length = input.length() / width / Long.BYTES;
        }

        /** Moves to the first tuple whose first long is at least {@code from}. */
        void seek(long from) throws IOException {
            long low = 0;
            long high = length;
            while (low < high) {
                long middle = (low + high) >>> 1;
                if (keyAt(middle) < from) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            position = low;
        }

        private long keyAt(long number) throws IOException {
            read.clear().limit(Long.BYTES);
            input.readFully(number * width * Long.BYTES, read);
            long key = read.getLong(0);
            read.limit(0);
            return key;
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

        private boolean fill() throws IOException {
            int wanted = (int) Math.min(BUFFER_TUPLES, length - position);
            if (wanted == 0) {
                return false;
            }
            read.clear().limit(wanted * width * Long.BYTES);
            input.readFully(position * width * Long.BYTES, read);
            read.flip();
            position += wanted;
            return true;
        }

        @Override
        public int compareTo(Run other) {
            int byKey = Long.compare(tuple[0], other.tuple[0]);
            return byKey != 0 ? byKey : Integer.compare(number, other.number);
        }
    }
}
