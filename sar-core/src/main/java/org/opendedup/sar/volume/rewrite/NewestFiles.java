package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.Inode;

/**
 * Finds the files that were changed last, and puts them together to sequences that are probably read one after another:
 * a large file is a sequence of its own; small ones whose inode numbers follow each other, as those of one tree do, are
 * one together.
 */
final class NewestFiles {
    /** Most files: 100 bytes each. */
    private static final int MAX_FILES = 100_000;
    /** Files of this many bytes are read alone; the time of a seek is little beside theirs. */
    private static final long LARGE_BYTES = 8L << 20;
    /** Inodes read at a time. */
    private static final int SCAN = 4096;

    /** A file; by the time at which its bytes, its name or its attributes changed last. */
    private record Newest(long inode, long bytes, long changedNs) {}

    /**
     * Files that are read one after another.
     *
     * @param inodes their numbers, ascending
     * @param bytes bytes of all of them that are in chunks
     * @param changedNs when the newest of them was changed
     */
    record Sequence(List<Long> inodes, long bytes, long changedNs) {}

    private final PriorityQueue<Newest> newest =
            new PriorityQueue<>(Comparator.comparingLong(Newest::changedNs).thenComparingLong(Newest::inode));

    private final long maxBytes;
    private long bytes;

    private NewestFiles(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** Returns the newest files with together about {@code maxBytes} bytes; the newest sequence first. */
    static List<Sequence> of(Namespace namespace, long maxBytes) throws IOException {
        NewestFiles files = new NewestFiles(maxBytes);
        long next = Inode.ROOT;
        do {
            next = namespace.someInodes(next, SCAN, files::add);
        } while (next != 0);
        return files.sequences();
    }

    private void add(Inode inode) {
        if (!inode.isFile() || inode.links() == 0 || inode.dataBytes() == 0) {
            return;
        }
        // The time of modification may be any: backup programs set it to that of the original.
        newest.add(new Newest(inode.id(), inode.dataBytes(), inode.times().changedNs()));
        bytes += inode.dataBytes();
        while (newest.size() > MAX_FILES
                || newest.size() > 1 && bytes - newest.element().bytes() >= maxBytes) {
            bytes -= newest.remove().bytes();
        }
    }

    private List<Sequence> sequences() {
        List<Newest> ordered = new ArrayList<>(newest);
        ordered.sort(Comparator.comparingLong(Newest::inode));
        List<Sequence> sequences = new ArrayList<>();
        List<Newest> small = new ArrayList<>();
        for (Newest file : ordered) {
            if (file.bytes() >= LARGE_BYTES) {
                sequences.add(sequence(List.of(file)));
            } else {
                small.add(file);
            }
        }
        if (!small.isEmpty()) {
            sequences.add(sequence(small));
        }
        sequences.sort(Comparator.comparingLong(Sequence::changedNs).reversed());
        return sequences;
    }

    private static Sequence sequence(List<Newest> files) {
        return new Sequence(
                files.stream().map(Newest::inode).toList(),
                files.stream().mapToLong(Newest::bytes).sum(),
                files.stream().mapToLong(Newest::changedNs).max().orElseThrow());
    }
}
