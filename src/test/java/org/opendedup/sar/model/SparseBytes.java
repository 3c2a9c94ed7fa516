package org.opendedup.sar.model;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * The bytes of a file: the existing pages of 4 KiB, and a size. Pages never change once they are in the map, so a copy
 * shares them and a history of versions is cheap.
 */
public final class SparseBytes {
    public static final int PAGE_BYTES = 4096;
    private static final byte[] ZEROS = new byte[PAGE_BYTES];

    private final TreeMap<Long, byte[]> pages;
    private long size;

    public SparseBytes() {
        this(new TreeMap<>(), 0);
    }

    private SparseBytes(TreeMap<Long, byte[]> pages, long size) {
        this.pages = pages;
        this.size = size;
    }

    public SparseBytes copy() {
        return new SparseBytes(new TreeMap<>(pages), size);
    }

    public long size() {
        return size;
    }

    /** The page's bytes, zero after the size. Must not be changed. */
    public byte[] page(long number) {
        return pages.getOrDefault(number, ZEROS);
    }

    public void write(long offset, byte[] bytes) {
        int done = 0;
        while (done < bytes.length) {
            long number = (offset + done) / PAGE_BYTES;
            int within = (int) ((offset + done) % PAGE_BYTES);
            int length = Math.min(PAGE_BYTES - within, bytes.length - done);
            byte[] page = page(number).clone();
            System.arraycopy(bytes, done, page, within, length);
            pages.put(number, page);
            done += length;
        }
        if (bytes.length > 0) {
            size = Math.max(size, offset + bytes.length);
        }
    }

    /** Makes the existing bytes from {@code from} to {@code to} zero. */
    public void zero(long from, long to) {
        long end = Math.min(to, size);
        for (Map.Entry<Long, byte[]> entry :
                pages.tailMap(from / PAGE_BYTES, true).entrySet()) {
            long start = entry.getKey() * PAGE_BYTES;
            if (start >= end || from >= end) {
                return;
            }
            byte[] page = entry.getValue().clone();
            Arrays.fill(page, (int) Math.max(0, from - start), (int) Math.min(PAGE_BYTES, end - start), (byte) 0);
            entry.setValue(page);
        }
    }

    /** Up to {@code length} bytes from {@code offset} on; fewer at the end. */
    public byte[] read(long offset, int length) {
        byte[] result = new byte[(int) Math.max(0, Math.min(length, size - offset))];
        int done = 0;
        while (done < result.length) {
            int within = (int) ((offset + done) % PAGE_BYTES);
            int part = Math.min(PAGE_BYTES - within, result.length - done);
            System.arraycopy(page((offset + done) / PAGE_BYTES), within, result, done, part);
            done += part;
        }
        return result;
    }

    /** Size and a sum of the bytes, as text; a few different bytes always give another sum. */
    String describe() {
        StringBuilder description = new StringBuilder().append(size);
        for (Map.Entry<Long, byte[]> page : pages.entrySet()) {
            CRC32C sum = new CRC32C();
            sum.update(page.getValue());
            description.append(' ').append(page.getKey()).append(':').append(sum.getValue());
        }
        return description.toString();
    }

    public void truncate(long newSize) {
        if (newSize < size) {
            long lastPage = newSize / PAGE_BYTES;
            pages.tailMap(lastPage, false).clear();
            int kept = (int) (newSize % PAGE_BYTES);
            Map.Entry<Long, byte[]> last = pages.floorEntry(lastPage);
            if (last != null && last.getKey() == lastPage) {
                byte[] page = last.getValue().clone();
                Arrays.fill(page, kept, PAGE_BYTES, (byte) 0);
                pages.put(lastPage, page);
            }
        }
        size = newSize;
    }
}
