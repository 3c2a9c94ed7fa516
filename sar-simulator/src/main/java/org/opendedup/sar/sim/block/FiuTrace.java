package org.opendedup.sar.sim.block;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.trace.TraceFormatException;

/**
 * Reads FIU block traces (Koller and Rangaswami, FAST'10; SNIA IOTTA 391): see {@link FiuLine} for a line. Counts lines
 * that can't be read; too many are an error. Drops exact repetitions of the line before. Joins the lines of one
 * request, each of which has one block. Reads files one after the other, also gzipped or in a tar archive; a file whose
 * times restart continues at the next full day. For one thread.
 */
public final class FiuTrace implements BlockTrace {
    /** Bad lines that are allowed: this number plus a hundredth of all lines. */
    private static final long ALLOWED_BAD_LINES = 10;

    private static final long BAD_LINES_SHARE = 100;
    private static final long DAY_NANOS = 86_400_000_000_000L;
    /** Longest time between lines of one request, in nanoseconds; they follow each other within microseconds. */
    private static final long MAX_GAP_NANOS = 1_000_000;

    private static final int MAX_DEVICES = 255;

    private final Iterator<Path> files;
    private final boolean keepDuplicates;
    private final FiuLine line = new FiuLine();
    private @Nullable LineBuffer lines;
    private String file = "";
    /** The previous line, unchanged. */
    private byte[] previous = new byte[512];

    private int previousLength;
    /** Whether {@link #line} holds the first block of the next request. */
    private boolean hasLine;

    private long[] devices = new long[0];
    private long baseNanos;
    private long lastNanos;
    private boolean isFirstOfFile;

    private long linesRead;
    private long badLines;
    private long duplicates;
    private long archiveHeaders;
    private long requests;

    /**
     * Counters of the reader.
     *
     * @param lines lines of all files
     * @param badLines lines that could not be read
     * @param duplicates exact repetitions of the line before, dropped or not
     * @param archiveHeaders places where bytes that are not text were skipped
     * @param requests requests after joining lines
     */
    public record Counters(long lines, long badLines, long duplicates, long archiveHeaders, long requests) {}

    /**
     * Reads files in this order.
     *
     * @param keepDuplicates whether a line that repeats the one before is a separate request
     */
    public FiuTrace(List<Path> files, boolean keepDuplicates) {
        this.files = List.copyOf(files).iterator();
        this.keepDuplicates = keepDuplicates;
    }

    @Override
    public boolean next(BlockRequest into) throws IOException {
        if (!hasLine && !readLine()) {
            return false;
        }
        long device = deviceIndex(line.device);
        long block = line.block;
        long pid = line.pid;
        long number = line.device;
        into.begin(timeOf(line), line.isWrite, device << BlockRequest.DEVICE_BITS | block);
        into.add(line.content);
        hasLine = readLine();
        while (hasLine
                && into.count() < BlockRequest.MAX_BLOCKS
                && line.block == block + into.count()
                && line.device == number
                && line.pid == pid
                && line.isWrite == into.isWrite()
                && timeOf(line) - into.timeNanos() <= MAX_GAP_NANOS) {
            into.add(line.content);
            hasLine = readLine();
        }
        requests++;
        return true;
    }

    /**
     * Returns the time of a line, never earlier than the request before: a few lines of the traces are out of order.
     */
    private long timeOf(FiuLine read) {
        long time = baseNanos + read.timeNanos;
        if (isFirstOfFile && time < lastNanos) {
            baseNanos = (lastNanos + DAY_NANOS - 1) / DAY_NANOS * DAY_NANOS;
            time = baseNanos + read.timeNanos;
        }
        isFirstOfFile = false;
        lastNanos = Math.max(lastNanos, time);
        return lastNanos;
    }

    private long deviceIndex(long number) throws IOException {
        for (int i = 0; i < devices.length; i++) {
            if (devices[i] == number) {
                return i;
            }
        }
        if (devices.length == MAX_DEVICES) {
            throw new IOException(file + ": more than " + MAX_DEVICES + " devices");
        }
        devices = Arrays.copyOf(devices, devices.length + 1);
        devices[devices.length - 1] = number;
        return devices.length - 1L;
    }

    /** Reads the next good line into {@link #line}; returns false at the end of the last file. */
    private boolean readLine() throws IOException {
        while (true) {
            LineBuffer from = lines;
            if (from == null) {
                if (!files.hasNext()) {
                    return false;
                }
                from = open(files.next());
            }
            if (!from.next()) {
                close();
                continue;
            }
            if (isGood(from)) {
                return true;
            }
        }
    }

    private boolean isGood(LineBuffer from) throws IOException {
        if (from.equalsLine(previous, previousLength)) {
            linesRead++;
            duplicates++;
            return keepDuplicates && parse(from);
        }
        remember(from);
        if (parse(from) || (from.skipArchive() && parse(from))) {
            linesRead++;
            return true;
        }
        if (from.start() < from.end()) {
            linesRead++;
            countBad(from.line());
        }
        return false;
    }

    private boolean parse(LineBuffer from) {
        return line.parse(from.bytes(), from.start(), from.end());
    }

    private void countBad(long number) throws TraceFormatException {
        badLines++;
        if (badLines > ALLOWED_BAD_LINES + linesRead / BAD_LINES_SHARE) {
            throw new TraceFormatException(
                    file,
                    number,
                    "not a line of an FIU trace, as were " + (badLines - 1) + " of the " + linesRead
                            + " before; allowed are " + ALLOWED_BAD_LINES + " and one in " + BAD_LINES_SHARE);
        }
    }

    private void remember(LineBuffer from) {
        previousLength = from.end() - from.start();
        if (previous.length < previousLength) {
            previous = new byte[previousLength];
        }
        System.arraycopy(from.bytes(), from.start(), previous, 0, previousLength);
    }

    private LineBuffer open(Path path) throws IOException {
        file = path.toString();
        isFirstOfFile = true;
        previousLength = 0;
        if (!Files.isReadable(path) || Files.isDirectory(path)) {
            throw new IOException(file + " is no file that can be read");
        }
        InputStream in = Files.newInputStream(path);
        if (file.endsWith(".gz") || file.endsWith(".tgz")) {
            in = new GZIPInputStream(new BufferedInputStream(in, 1 << 16), 1 << 16);
        }
        LineBuffer opened = new LineBuffer(file, in);
        lines = opened;
        return opened;
    }

    public Counters counters() {
        return new Counters(linesRead, badLines, duplicates, archiveHeaders, requests);
    }

    @Override
    public void close() throws IOException {
        if (lines != null) {
            archiveHeaders += lines.skippedHeaders();
            lines.close();
            lines = null;
        }
    }
}
