package org.opendedup.sar.index.chunkstash;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;

/**
 * The log of a ChunkStash index: records in files of bounded length, the segments, which are only appended to. A place
 * is a {@code long}: the number of a segment in the upper half, the offset of a record in the lower.
 *
 * <p>A segment begins with {@code magic:8 version:u32 previousEnd:u32 generation:u64 segment:u32 crc:u32}. A record
 * begins with {@code length:u32 crc:u32 type:u8}; its length includes these. All is little-endian. The checksum covers
 * the generation, the place and everything after itself, so bytes of another log or place are not taken for a record.
 *
 * <p>After a crash a prefix of the records is there: a segment is forced before the next one is made, and its end is
 * written in the header of that. Each opening begins a new segment, so what a crash tore is never appended to.
 *
 * <p>Reads are safe by many threads while one appends; {@link #delete} and {@link #close} only when no read runs.
 */
final class StashLog implements Closeable {
    static final int RECORD_HEADER_BYTES = 9;
    static final int TYPE_AT = 8;
    static final int SEGMENT_HEADER_BYTES = 32;

    /** Usual bytes of a segment. */
    static final int SEGMENT_BYTES = 64 << 20;

    static final String PREFIX = "log-";
    private static final long MAGIC = 0x3048_5341_5453_4353L; // "SCSTASH0"
    private static final int VERSION = 1;
    private static final int CRC_AT = 4;
    private static final int SEGMENT_CRC_AT = 28;

    /** A longer record is damage. */
    private static final int MOST_RECORD_BYTES = 256 << 20;

    private final Directory directory;
    private final long generation;
    private final int segmentBytes;
    private final NavigableMap<Integer, Segment> segments = new TreeMap<>();
    private @Nullable Output output;
    private int lastNumber;
    private boolean failed;
    private long appendedBytes;
    private long length;

    /** A file of the log. */
    private static final class Segment {
        final Input input;
        /** Bytes from its beginning that are valid. */
        long end;
        /** Bytes of records that are in use. */
        long used;

        Segment(Input input, long end) {
            this.input = input;
            this.end = end;
        }
    }

    /** @param segmentBytes length at which a segment is followed by another */
    StashLog(Directory directory, long generation, int segmentBytes) {
        this.directory = directory;
        this.generation = generation;
        this.segmentBytes = segmentBytes;
    }

    static int segment(long place) {
        return (int) (place >>> Integer.SIZE);
    }

    private static long offset(long place) {
        return place & 0xffff_ffffL;
    }

    private static long place(int segment, long offset) {
        return (long) segment << Integer.SIZE | offset;
    }

    private String name(int segment) {
        return name(generation, segment);
    }

    /** Returns the name of a file of a log. */
    static String name(long generation, int segment) {
        return String.format(Locale.ROOT, "%s%x-%08d", PREFIX, generation, segment);
    }

    /** Returns the place after the last record. */
    long end() {
        return segments.isEmpty()
                ? 0
                : place(segments.lastKey(), segments.lastEntry().getValue().end);
    }

    /** Returns the bytes that were appended since the log was opened. */
    long appendedBytes() {
        return appendedBytes;
    }

    /** Returns whether it has no record. */
    boolean isEmpty() {
        return segments.values().stream().allMatch(segment -> segment.end == SEGMENT_HEADER_BYTES);
    }

    /** Returns the number of segments. */
    int segments() {
        return segments.size();
    }

    /** Returns the bytes of its files. */
    long length() {
        return length;
    }

    /**
     * Returns the first segment, so that it can be moved elsewhere. It is not the one that is appended to: if there is
     * no other one, another is begun.
     *
     * @return its number; 0 if there is no record
     */
    int oldest() throws IOException {
        if (segments.isEmpty()) {
            return 0;
        }
        int first = segments.firstKey();
        if (first == lastNumber && output != null) {
            if (segments.firstEntry().getValue().end == SEGMENT_HEADER_BYTES) {
                return 0;
            }
            begin();
        }
        return first;
    }

    /** Returns the numbers and ends of the segments, in ascending order, without that of {@code except}. */
    List<long[]> ends(int except) {
        List<long[]> ends = new ArrayList<>();
        segments.forEach((number, segment) -> {
            if (number != except) {
                ends.add(new long[] {number, segment.end});
            }
        });
        return ends;
    }

    /**
     * Appends a record.
     *
     * @param record a whole record, position 0, whose length and checksum are set here
     * @return its place
     * @throws NoSpaceException if the disk is full; the log is unchanged
     */
    long append(ByteBuffer record) throws IOException {
        if (failed) {
            throw new IOException("the log of the fingerprint index in " + directory + " cannot be written");
        }
        try {
            Output out = output;
            if (out == null || out.position() >= segmentBytes) {
                out = begin();
            }
            Segment segment = segments.lastEntry().getValue();
            long place = place(segments.lastKey(), segment.end);
            record.order(ByteOrder.LITTLE_ENDIAN).putInt(0, record.limit());
            record.putInt(CRC_AT, checksum(place, record));
            out.append(record.position(0));
            segment.end = out.position();
            appendedBytes += record.limit();
            length += record.limit();
            return place;
        } catch (NoSpaceException e) {
            throw e;
        } catch (IOException e) {
            failed = true;
            throw e;
        }
    }

    /** Begins a new segment. The one before is durable then, with its name. */
    private Output begin() throws IOException {
        Output before = output;
        if (before != null) {
            before.force();
            directory.sync();
        }
        int number = lastNumber + 1;
        long previousEnd = segments.isEmpty() ? 0 : segments.lastEntry().getValue().end;
        ByteBuffer header = ByteBuffer.allocate(SEGMENT_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(MAGIC).putInt(VERSION).putInt((int) previousEnd).putLong(generation);
        header.putInt(number).putInt(crcOf(header, SEGMENT_CRC_AT)).flip();
        String name = name(number);
        Output out = directory.create(name);
        try {
            out.append(header);
            segments.put(number, new Segment(directory.open(name), out.position()));
            length += out.position();
        } catch (IOException e) {
            out.close();
            directory.delete(name);
            throw e;
        }
        if (before != null) {
            before.close();
        }
        lastNumber = number;
        output = out;
        return out;
    }

    private static int crcOf(ByteBuffer bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), 0, length);
        return (int) crc.getValue();
    }

    private int checksum(long place, ByteBuffer record) {
        CRC32C crc = new CRC32C();
        ByteBuffer salt = ByteBuffer.allocate(2 * Long.BYTES + Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        crc.update(
                salt.putLong(generation).putLong(place).putInt(record.limit()).flip());
        crc.update(record.array(), RECORD_HEADER_BYTES - 1, record.limit() - RECORD_HEADER_BYTES + 1);
        return (int) crc.getValue();
    }

    /** Makes all records durable. */
    void force() throws IOException {
        Output out = output;
        if (out != null) {
            try {
                out.force();
                directory.sync();
            } catch (IOException e) {
                failed = true;
                throw e;
            }
        }
    }

    /** Reads a whole record and verifies it. */
    ByteBuffer read(long place, int length) throws IOException {
        ByteBuffer record = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        readPart(place, 0, record);
        record.flip();
        if (record.getInt(0) != length || record.getInt(CRC_AT) != checksum(place, record)) {
            throw damaged(place, "a record of " + length + " bytes with its checksum", "other bytes");
        }
        return record;
    }

    /** Reads a part of a record, which is not verified. */
    void readPart(long place, int from, ByteBuffer target) throws IOException {
        Segment segment = requireBytes(place, from + target.remaining());
        segment.input.readFully(offset(place) + from, target);
    }

    /** Returns the segment of a place at which there are some bytes. */
    private Segment requireBytes(long place, int bytes) throws CorruptionException {
        Segment segment = segments.get(segment(place));
        if (segment == null || offset(place) + bytes > segment.end) {
            throw damaged(place, "a record", "no such place in the log");
        }
        return segment;
    }

    /** @throws CorruptionException if the log ends before the given number of bytes from a place */
    void requirePlace(long place, int bytes) throws CorruptionException {
        requireBytes(place, bytes);
    }

    CorruptionException damaged(long place, String expected, String found) {
        return new CorruptionException(directory + "/" + name(segment(place)), offset(place), expected, found);
    }

    /** Called when the known part of a log is open. */
    @FunctionalInterface
    interface Opened {
        void run() throws IOException;
    }

    /** Receives a record. */
    @FunctionalInterface
    interface Visitor {
        void visit(long place, ByteBuffer record) throws IOException;
    }

    /**
     * Opens the log as a crash or a close left it, and visits its records.
     *
     * @param known numbers and ends of the segments of a checkpoint, in ascending order; their records are not visited
     * @param opened called when these are open, before a record is visited
     * @throws CorruptionException if a record is damaged that a later one followed
     */
    void open(List<long[]> known, Opened opened, Visitor visitor) throws IOException {
        List<Integer> numbers = new ArrayList<>();
        String prefix = String.format(Locale.ROOT, "%s%x-", PREFIX, generation);
        for (String name : directory.list()) {
            if (name.startsWith(prefix)) {
                numbers.add(Integer.parseInt(name.substring(prefix.length())));
            } else if (name.startsWith(PREFIX)) {
                directory.delete(name); // Of a log that was cleared.
            }
        }
        for (long[] each : known) {
            int number = (int) each[0];
            if (!numbers.remove((Integer) number) || directory.length(name(number)) < each[1]) {
                throw damaged(place(number, 0), each[1] + " bytes", "fewer");
            }
            segments.put(number, new Segment(directory.open(name(number)), each[1]));
            length += directory.length(name(number));
            lastNumber = number;
        }
        for (int number : numbers) {
            if (number < lastNumber) {
                directory.delete(name(number)); // A recycled one, which a crash left.
            }
        }
        numbers.removeIf(number -> number < lastNumber);
        opened.run();
        if (!segments.isEmpty()) {
            scan(lastNumber, visitor);
        }
        for (int i = 0; i < numbers.size(); i++) {
            int number = numbers.get(i);
            boolean isLast = i == numbers.size() - 1;
            if (number != lastNumber + 1) {
                throw damaged(place(lastNumber + 1, 0), "a segment of the log", "no file");
            }
            if (!openNext(number, isLast)) {
                directory.delete(name(number));
                return;
            }
            lastNumber = number;
            scan(number, visitor);
        }
    }

    /** Opens a segment that no checkpoint knows; returns false if its header was torn. */
    private boolean openNext(int number, boolean isLast) throws IOException {
        long present = segments.isEmpty() ? 0 : segments.lastEntry().getValue().end;
        if (directory.length(name(number)) < SEGMENT_HEADER_BYTES) {
            if (isLast) {
                return false;
            }
            throw damaged(place(number, 0), "the header of a segment", "a shorter file");
        }
        Input input = directory.open(name(number));
        ByteBuffer header = ByteBuffer.allocate(SEGMENT_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        input.readFully(0, header);
        if (header.getInt(SEGMENT_CRC_AT) != crcOf(header, SEGMENT_CRC_AT) || header.getLong(0) != MAGIC) {
            input.close();
            if (isLast) {
                return false;
            }
            throw damaged(place(number, 0), "the header of a segment", "other bytes");
        }
        segments.put(number, new Segment(input, SEGMENT_HEADER_BYTES));
        length += input.length();
        int previousEnd = header.getInt(12);
        if (previousEnd != present) {
            throw damaged(place(number - 1, present), "records up to byte " + previousEnd, "a damaged one");
        }
        return true;
    }

    /** Visits the records of a segment from its known end on; sets its end to that of the last valid one. */
    private void scan(int number, Visitor visitor) throws IOException {
        Segment segment = required(number);
        long length = segment.input.length();
        ByteBuffer start = ByteBuffer.allocate(RECORD_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (segment.end + RECORD_HEADER_BYTES <= length) {
            segment.input.readFully(segment.end, start.clear());
            int bytes = start.getInt(0);
            if (bytes < RECORD_HEADER_BYTES || bytes > MOST_RECORD_BYTES || segment.end + bytes > length) {
                return;
            }
            long place = place(number, segment.end);
            ByteBuffer record = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
            segment.input.readFully(segment.end, record);
            record.flip();
            if (record.getInt(CRC_AT) != checksum(place, record)) {
                return;
            }
            segment.end += bytes;
            visitor.visit(place, record);
        }
    }

    private Segment required(int number) {
        return Objects.requireNonNull(segments.get(number), "a segment of the log");
    }

    /** Notes that a record is in use. */
    void use(long place, int length) {
        required(segment(place)).used += length;
    }

    /** Notes that a record is not in use any more. */
    void release(long place, int length) {
        required(segment(place)).used -= length;
    }

    /** Returns the bytes of a segment that are in use. */
    long used(int segment) {
        return required(segment).used;
    }

    /**
     * Returns the segment that should be recycled: the one with the least in use, if that is less than half of it, or
     * if there are many short ones; 0 if none. Never the one that is appended to.
     *
     * @param mostShort number of short segments that may stay
     */
    int victim(int mostShort) {
        int emptiest = 0;
        double leastShare = 0.5;
        int shortest = 0;
        int shorts = 0;
        for (var entry : segments.entrySet()) {
            Segment segment = entry.getValue();
            if (entry.getKey() == lastNumber) {
                continue;
            }
            double share = (double) segment.used / segment.end;
            if (share < leastShare) {
                leastShare = share;
                emptiest = entry.getKey();
            }
            if (segment.end < segmentBytes / 8) {
                shorts++;
                shortest = shortest == 0 || segment.used < required(shortest).used ? entry.getKey() : shortest;
            }
        }
        return emptiest != 0 || shorts <= mostShort ? emptiest : shortest;
    }

    /** Deletes a segment, whose records are not in use any more. */
    void delete(int number) throws IOException {
        Segment segment = segments.remove(number);
        if (segment != null) {
            length -= number == lastNumber ? segment.end : segment.input.length();
            segment.input.close();
            directory.delete(name(number));
        }
    }

    /** Closes the log without forcing. Idempotent. */
    @Override
    public void close() throws IOException {
        if (output != null) {
            output.close();
        }
        for (Segment segment : segments.values()) {
            segment.input.close();
        }
    }
}
