package org.opendedup.sar.hot.copies;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.opendedup.sar.index.SsdShare;
import org.opendedup.sar.io.FileDevice;

/**
 * One bound for what a fingerprint index and the copies of SAR have on one SSD. What the index uses is taken from the
 * copies, in steps, a step ahead: the index grows into room that is free already. It has at most
 * {@value #MOST_INDEX_PERCENT} percent, and never more than the copies have left. If they lie on different devices,
 * neither concerns the other. Until it is told where the copies are, nothing is shared. Safe for use by many threads.
 */
public final class SsdBudget {
    /** Largest share of the index, in percent: copies speed up reads, and an index that is full only becomes slower. */
    public static final int MOST_INDEX_PERCENT = 50;

    /** Number of steps of a bound; copies are not demoted for each page of the index. */
    private static final int STEPS = 64;

    private static final long LEAST_STEP_BYTES = 1 << 20;

    /** Bytes that are reserved ahead: an index with less room than this takes itself for full. */
    private static final long AHEAD_BYTES = 4 << 20;

    /** Raw files have a bound of their own. */
    private static final String RAW = "raw";

    private final Path index;
    private boolean isShared;
    private long capacityBytes;
    private long indexBytes;
    private long reservedBytes;
    private LongSupplier copies = () -> 0;
    private LongConsumer resize = bytes -> {};

    /** @param index location of the index; it may be missing still */
    public SsdBudget(Path index) {
        this.index = index;
    }

    /**
     * Notes where the copies are. To be called before they are opened there.
     *
     * @param capacityBytes bound of both
     * @return what the copies may use of it, in bytes
     */
    public long place(Path location, long capacityBytes) throws IOException {
        // Without the lock: an SSD that hangs must not stop an index that is elsewhere.
        boolean isOneDevice = FileDevice.ofNearest(location).equals(FileDevice.ofNearest(index));
        long found = isOneDevice ? bytesIn(location) : 0;
        synchronized (this) {
            isShared = isOneDevice;
            copies = () -> found;
            resize = bytes -> {};
            return bound(capacityBytes);
        }
    }

    private static long bytesIn(Path location) throws IOException {
        if (!Files.isDirectory(location)) {
            return 0;
        }
        long bytes = 0;
        try (Stream<Path> files = Files.walk(location)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                bytes += file.startsWith(location.resolve(RAW)) ? 0 : Files.size(file);
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return bytes;
    }

    /**
     * Notes that the copies are open.
     *
     * @param used tells how many bytes they have
     * @param changed told what they may use, when that changes
     */
    public synchronized void opened(LongSupplier used, LongConsumer changed) {
        copies = used;
        resize = changed;
        changed.accept(copiesBytes());
    }

    /** Notes that the copies are not used any more. They may still be there. */
    public synchronized void closed() {
        long last = isShared ? copies.getAsLong() : 0;
        copies = () -> last;
        resize = bytes -> {};
    }

    /** Sets the bound of both, in bytes; returns what the copies may use of it. */
    public synchronized long bound(long bytes) {
        capacityBytes = bytes;
        reservedBytes = wanted();
        return copiesBytes();
    }

    private long mostShare() {
        return capacityBytes * MOST_INDEX_PERCENT / 100;
    }

    private long step() {
        return Math.max(LEAST_STEP_BYTES, capacityBytes / STEPS);
    }

    private long wanted() {
        return indexBytes == 0 ? 0 : Math.min(mostShare(), ((indexBytes + AHEAD_BYTES) / step() + 1) * step());
    }

    private long copiesBytes() {
        return isShared ? capacityBytes - reservedBytes : capacityBytes;
    }

    /** Notes by how many bytes the files of the index have grown or shrunk. */
    public synchronized void indexGrew(long bytes) {
        indexBytes += bytes;
        long wanted = wanted();
        if (wanted > reservedBytes || wanted < reservedBytes - step()) {
            reservedBytes = wanted;
            if (isShared) {
                resize.accept(copiesBytes());
            }
        }
    }

    /** Returns the most bytes that the files of the index may have now. */
    public synchronized long mostIndexBytes() {
        if (!isShared) {
            return Long.MAX_VALUE;
        }
        long left = capacityBytes - Math.max(copies.getAsLong(), copiesBytes());
        // Before the index has told what it has, nothing is reserved for it.
        return Math.max(0, Math.min(mostShare(), indexBytes == 0 ? capacityBytes - copies.getAsLong() : left));
    }

    /** Returns how the SSD is shared; all zeros if it is not. */
    public synchronized SsdShare share() {
        return isShared ? new SsdShare(capacityBytes, indexBytes, mostIndexBytes(), copiesBytes()) : SsdShare.NONE;
    }
}
