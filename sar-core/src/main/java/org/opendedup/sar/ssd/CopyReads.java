package org.opendedup.sar.ssd;

import java.util.Arrays;

/** Counts the reads of the SSD's log that requests take, as {@link SsdReader} makes them. For use by one thread. */
public final class CopyReads {
    /** Places of the copies that the request wants, as {@link PackedEntry#place} without heat. */
    private long[] wanted = new long[64];

    private int count;
    private long requests;
    private long bytes;

    /** Adds a copy that the request wants. */
    public void want(MapEntry copy) {
        if (count == wanted.length) {
            wanted = Arrays.copyOf(wanted, 2 * count);
        }
        wanted[count++] = PackedEntry.place(copy.segment, copy.offset, copy.length, 0);
    }

    /** Reads what the request wants: in the order of the log, neighbours in one read. */
    public void read() {
        Arrays.sort(wanted, 0, count);
        for (int i = 0; i < count; ) {
            int segment = PackedEntry.segment(wanted[i]);
            int from = PackedEntry.offset(wanted[i]);
            int end = from;
            do {
                end = Math.max(end, end(i));
                i++;
            } while (i < count
                    && PackedEntry.segment(wanted[i]) == segment
                    && SsdReader.isOneRead(from, end, PackedEntry.offset(wanted[i]), end(i)));
            requests++;
            bytes += end - from;
        }
        count = 0;
    }

    private int end(int i) {
        return PackedEntry.offset(wanted[i]) + PackedEntry.length(wanted[i]);
    }

    /** Returns the reads so far. */
    public long requests() {
        return requests;
    }

    /** Returns the bytes of these reads, with the gaps that are read along. */
    public long bytes() {
        return bytes;
    }
}
