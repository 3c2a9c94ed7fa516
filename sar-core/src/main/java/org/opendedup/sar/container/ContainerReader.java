package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.ContainerFormat.Footer;
import org.opendedup.sar.container.ContainerFormat.Identity;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads container files: frame tables, directories, frames. Knows nothing of what is still in memory. */
final class ContainerReader implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ContainerReader.class);

    private static final int MAX_INPUTS = 256;
    /** The largest coalesced read: a container of the usual size; at 150 MB/s 28 ms, a few times the seek it saves. */
    private static final int MAX_REQUEST_BYTES = 4 << 20;
    /** Frames that one worker decodes at once: so few that all workers are at it as soon as something was read. */
    private static final int DECODED_AT_ONCE = 8;
    /** Pooled read buffers: one of the largest requests for each of four readers. */
    private static final int POOLED_BYTES = 4 * MAX_REQUEST_BYTES;

    private final Directory directory;
    private final Compressor compressor;
    private final FrameTableSource tables;
    private final FrameTableCache tableCache;
    private final InputCache inputs;
    private final BufferPool buffers = new BufferPool(POOLED_BYTES);
    private final ReadStatistics statistics = new ReadStatistics();

    ContainerReader(Directory directory, Compressor compressor, FrameTableSource tables, long tableCacheBytes) {
        this.directory = directory;
        this.compressor = compressor;
        this.tables = tables;
        this.tableCache = new FrameTableCache(tableCacheBytes);
        this.inputs = new InputCache(MAX_INPUTS, this::open);
    }

    ReadStatistics statistics() {
        return statistics;
    }

    /** A container is renamed while it is being read, so it bears one of two names. */
    private Input open(long container) throws IOException {
        try {
            return directory.open(ContainerFormat.fileName(container, ContainerFormat.SEALED_SUFFIX));
        } catch (NoSuchFileException notSealed) {
            return openUnsealed(container);
        }
    }

    private Input openUnsealed(long container) throws IOException {
        try {
            return directory.open(ContainerFormat.fileName(container, ContainerFormat.OPEN_SUFFIX));
        } catch (NoSuchFileException renamedOrMissing) {
            String sealed = ContainerFormat.fileName(container, ContainerFormat.SEALED_SUFFIX);
            if (directory.exists(sealed)) {
                return directory.open(sealed);
            }
            throw new CorruptionException("container " + container, -1, "a file " + sealed, "none");
        }
    }

    private void read(Input input, long offset, ByteBuffer target) throws IOException {
        statistics.add(target.remaining());
        input.readFully(offset, target);
    }

    /** The frame table of a sealed container: from the cache, the source, or the file. */
    FrameTable frameTable(long container) throws IOException {
        FrameTable cached = tableCache.get(container);
        if (cached != null) {
            return cached;
        }
        FrameTable table = keptTable(container);
        if (table == null) {
            table = storedTable(container);
        }
        tableCache.put(container, table);
        return table;
    }

    @Nullable
    FrameTable cachedFrameTable(long container) {
        return tableCache.get(container);
    }

    void cache(long container, FrameTable table) {
        tableCache.put(container, table);
    }

    /** What the source has. A damaged copy there is no loss: the container has its own. */
    private @Nullable FrameTable keptTable(long container) throws IOException {
        try {
            byte[] bytes = tables.frameTable(container);
            return bytes == null ? null : FrameTable.decode(bytes, "frame table of container " + container);
        } catch (IOException unusableCopy) {
            log.warn("{}; taken from container {} itself", unusableCopy.getMessage(), container);
            return null;
        }
    }

    private FrameTable storedTable(long container) throws IOException {
        try (InputCache.Lease lease = inputs.acquire(container)) {
            String place = placeOf(container);
            Footer footer = footer(container, lease.input(), place);
            byte[] bytes = new byte[footer.tableBytes()];
            read(lease.input(), footer.directoryOffset(), ByteBuffer.wrap(bytes));
            return checkGeneration(FrameTable.decode(bytes, place), footer, place);
        }
    }

    private static FrameTable checkGeneration(FrameTable table, Footer footer, String place)
            throws CorruptionException {
        int expected = footer.identity().generation();
        if (table.generation() != expected) {
            throw new CorruptionException(
                    place, footer.directoryOffset(), "generation " + expected, Integer.toString(table.generation()));
        }
        return table;
    }

    private static String placeOf(long container) {
        return "container " + container + " (" + ContainerFormat.fileName(container, ContainerFormat.SEALED_SUFFIX)
                + ")";
    }

    private Footer footer(long container, Input input, String place) throws IOException {
        long fileBytes = input.length();
        if (fileBytes < ContainerFormat.HEADER_BYTES + ContainerFormat.FOOTER_BYTES) {
            throw new CorruptionException(place, fileBytes, "a sealed container", "a file of " + fileBytes + " bytes");
        }
        byte[] footer = new byte[ContainerFormat.FOOTER_BYTES];
        read(input, fileBytes - footer.length, ByteBuffer.wrap(footer));
        return ContainerFormat.readFooter(footer, container, fileBytes, place);
    }

    /** The directory of a sealed container, header and footer checked as well. */
    SealedContainer directory(long container) throws IOException {
        try (InputCache.Lease lease = inputs.acquire(container)) {
            String place = placeOf(container);
            Input input = lease.input();
            Footer footer = footer(container, input, place);
            byte[] header = new byte[ContainerFormat.HEADER_BYTES];
            read(input, 0, ByteBuffer.wrap(header));
            Identity identity = ContainerFormat.readHeader(header, container, place);
            if (!identity.equals(footer.identity())) {
                throw new CorruptionException(place, 0, footer.identity().toString(), identity.toString());
            }
            byte[] bytes = new byte[footer.directoryBytes()];
            read(input, footer.directoryOffset(), ByteBuffer.wrap(bytes));
            SealedContainer sealed =
                    SealedContainer.decode(container, bytes, footer.tableBytes(), place, footer.directoryOffset());
            checkGeneration(sealed.frameTable(), footer, place);
            return sealed;
        }
    }

    /** Reads and decodes one frame. */
    Frame frame(long container, FrameTable table, int frame, boolean verifyFingerprints) throws IOException {
        byte[] buffer = buffers.take(table.fileLength(frame));
        try (InputCache.Lease lease = inputs.acquire(container)) {
            readRange(container, table, frame, frame, lease.input(), buffer);
            return decode(container, table, frame, buffer, 0, verifyFingerprints);
        } finally {
            buffers.giveBack(buffer);
        }
    }

    private Frame decode(
            long container, FrameTable table, int frame, byte[] buffer, int offset, boolean verifyFingerprints)
            throws CorruptionException {
        return FrameFormat.decode(
                buffer, offset, new FrameFormat.Expected(container, table, frame), compressor, verifyFingerprints);
    }

    /** Reads from the beginning of one frame to the end of another. A file too short for it is damaged. */
    private void readRange(long container, FrameTable table, int from, int to, Input input, byte[] buffer)
            throws IOException {
        long offset = table.fileOffset(from);
        int length = Math.toIntExact(table.fileOffset(to) + table.fileLength(to) - offset);
        try {
            read(input, offset, ByteBuffer.wrap(buffer, 0, length));
        } catch (EOFException e) {
            CorruptionException truncated = new FrameFormat.Expected(container, table, from)
                    .corrupt(length + " bytes", "the end of the file after " + input.length() + " bytes");
            truncated.initCause(e);
            throw truncated;
        }
    }

    /** Reads frames, in rising order, with as few requests as the gap and the largest request allow. */
    void frames(
            long container,
            FrameTable table,
            int[] frames,
            int count,
            int maxGapBytes,
            FrameConsumer consumer,
            Decoding decoding) {
        int from = 0;
        while (from < count) {
            int to = from + 1;
            while (to < count && joins(table, frames[from], frames[to - 1], frames[to], maxGapBytes)) {
                to++;
            }
            readRun(container, table, Arrays.copyOfRange(frames, from, to), consumer, decoding);
            from = to;
        }
    }

    private static boolean joins(FrameTable table, int first, int last, int next, int maxGapBytes) {
        long gap = table.fileOffset(next) - table.fileOffset(last) - table.fileLength(last);
        long request = table.fileOffset(next) + table.fileLength(next) - table.fileOffset(first);
        return gap <= maxGapBytes && request <= MAX_REQUEST_BYTES;
    }

    /** Reads frames that lie together by one request, and has them decoded. */
    private void readRun(long container, FrameTable table, int[] frames, FrameConsumer consumer, Decoding decoding) {
        long start = table.fileOffset(frames[0]);
        int last = frames[frames.length - 1];
        int bytes = Math.toIntExact(table.fileOffset(last) + table.fileLength(last) - start);
        decoding.awaitRoom(bytes);
        byte[] buffer = buffers.take(bytes);
        try (InputCache.Lease lease = inputs.acquire(container)) {
            readRange(container, table, frames[0], last, lease.input(), buffer);
        } catch (IOException e) {
            buffers.giveBack(buffer);
            decoding.noteFreed(bytes);
            readSingly(container, table, frames, consumer, e);
            return;
        }
        AtomicInteger pieces = new AtomicInteger((frames.length + DECODED_AT_ONCE - 1) / DECODED_AT_ONCE);
        for (int from = 0; from < frames.length; from += DECODED_AT_ONCE) {
            int[] piece = Arrays.copyOfRange(frames, from, Math.min(frames.length, from + DECODED_AT_ONCE));
            decoding.submit(() -> {
                try {
                    for (int frame : piece) {
                        deliver(container, table, frame, buffer, (int) (table.fileOffset(frame) - start), consumer);
                    }
                } finally {
                    if (pieces.decrementAndGet() == 0) {
                        buffers.giveBack(buffer);
                        decoding.noteFreed(bytes);
                    }
                }
            });
        }
    }

    private void deliver(
            long container, FrameTable table, int frame, byte[] buffer, int offset, FrameConsumer consumer) {
        Frame decoded;
        try {
            decoded = decode(container, table, frame, buffer, offset, consumer.verifiesFingerprints());
        } catch (IOException e) {
            consumer.damaged(frame, e);
            return;
        }
        consumer.frame(frame, decoded);
    }

    /** A bad sector under one frame must not cost its neighbours: reads each by itself, unless there was only one. */
    private void readSingly(
            long container, FrameTable table, int[] frames, FrameConsumer consumer, IOException runFailure) {
        if (frames.length == 1) {
            consumer.damaged(frames[0], runFailure);
            return;
        }
        for (int number : frames) {
            Frame decoded;
            try {
                decoded = frame(container, table, number, consumer.verifiesFingerprints());
            } catch (IOException e) {
                consumer.damaged(number, e);
                continue;
            }
            consumer.frame(number, decoded);
        }
    }

    @Override
    public void close() throws IOException {
        inputs.close();
    }
}
