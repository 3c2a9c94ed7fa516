package org.opendedup.sar.volume.raw;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.ingest.ArrayRun;
import org.opendedup.sar.ingest.ByteRun;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.ingest.IngestPipeline.SmallFile;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.MigrationPolicy;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.commit.WriteStop;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.opendedup.sar.volume.node.Capacity;
import org.opendedup.sar.volume.node.ChangedBytes;
import org.opendedup.sar.volume.node.DirtyBudget;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.store.DeviceSpaces;

/**
 * Stores raw files in chunks, deduplicated (TDDFS paper, §3.3). The recipe is written under the file's own inode while
 * the backing file stays the truth. When the recipe has all bytes, and the backing file did not change meanwhile, the
 * record says so. Then the backing file is not needed any more ({@link RawFiles#end}), or stays as a faster copy.
 *
 * <p>A file that is opened for writing meanwhile is given up, and copied anew later. A crash leaves a part of a recipe,
 * which the next copy removes.
 */
public final class RawCopier {
    /** Maximum number of bytes that must have room before a copy begins; the rest are admitted as they are read. */
    private static final long ADMITTED_BYTES = 64L << 20;

    /** Maximum number of changed bytes that are read into memory and stored at once. */
    private static final int MAX_RANGE_BYTES = IngestPipeline.SEGMENT_BYTES;

    /** File systems note times of changes in steps of at most 10 ms: the kernel's tick. Twice of that. */
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Parts parts;
    private final MetadataStore metadata;
    private final RawFiles raws;
    private final NodeTable nodes;
    private final Committer committer;

    /**
     * What a copy uses.
     *
     * @param underWayBytes accepted bytes that are not in a container file yet
     * @param throttle slows copies while programs use the volume
     */
    public record Parts(
            MetadataStore metadata,
            RawFiles raws,
            NodeTable nodes,
            Committer committer,
            IngestPipeline pipeline,
            Reaper reaper,
            SpaceCollector collector,
            DeviceSpaces devices,
            WriteStop stop,
            DirtyBudget dirtyBudget,
            Capacity capacity,
            LongSupplier underWayBytes,
            BackgroundThrottle throttle) {}

    public RawCopier(Parts parts) {
        this.parts = parts;
        metadata = parts.metadata();
        raws = parts.raws();
        nodes = parts.nodes();
        committer = parts.committer();
    }

    /** Receives the bytes that a copy has read. */
    @FunctionalInterface
    interface Progress {
        /** Called after some bytes of the file were read. May throw to end the copy. */
        void read(long bytes) throws IOException;
    }

    /** Thrown to end a copy whose file is opened for writing. */
    private static final class BrokenException extends IOException {
        private static final long serialVersionUID = 1;

        BrokenException(long inode) {
            super("inode " + inode + " was opened for writing while it was copied");
        }
    }

    /**
     * Stores a raw file in chunks, unless its recipe is current.
     *
     * @return false if it is being written, or was written meanwhile
     * @throws NoSpaceException if there is no space for its chunks
     */
    boolean copy(Node node, Progress progress) throws IOException {
        committer.checkWritable();
        // Before any lock is acquired, because this may collect garbage.
        admit(Math.min(node.size(), ADMITTED_BYTES));
        Node.Contents contents = use(node);
        try {
            RawFile raw;
            synchronized (node) {
                raw = node.raw;
            }
            return raw == null || copy(node, contents, raw, progress);
        } catch (BrokenException e) {
            return false;
        } finally {
            node.leave();
        }
    }

    /**
     * Stores the bytes in chunks that were changed since a file was migrated (TDDFS paper, §3.3: only modified chunks
     * are deduplicated). The file may be in use.
     */
    void storeChanges(Node node, Progress progress) throws IOException {
        committer.checkWritable();
        ChangedBytes changed;
        long bytes;
        synchronized (node) {
            changed = node.changed;
            bytes = changed == null ? 0 : changed.bytes();
        }
        if (changed == null) {
            return;
        }
        Node.Contents contents = use(node);
        try {
            boolean isLocked = contents.storing.isHeldByCurrentThread();
            if (!isLocked) {
                // Not with a lock held, because this may collect garbage.
                admit(Math.min(bytes, ADMITTED_BYTES));
            }
            BackgroundThrottle.Piece piece = parts.throttle().begin();
            // In one pass, which a continuing writer cannot make endless.
            for (long at = 0; at < Long.MAX_VALUE; ) {
                contents.lockUncut();
                try {
                    at = storeRange(node, contents, at, progress);
                } finally {
                    contents.storing.unlock();
                }
                if (!isLocked) {
                    // A commit that stores the file must not wait for this rest.
                    piece.next();
                }
            }
        } finally {
            node.leave();
        }
    }

    /**
     * Stores the first changed range at or after an offset. The storing lock is held.
     *
     * @return the end of the range; {@link Long#MAX_VALUE} if there was none
     */
    private long storeRange(Node node, Node.Contents contents, long from, Progress progress) throws IOException {
        RawFile file;
        ByteRanges.Range next;
        IngestPipeline.Destination destination;
        synchronized (node) {
            ChangedBytes changed = node.changed;
            next = changed == null ? null : changed.next(from, MAX_RANGE_BYTES);
            if (changed == null || next == null) {
                return Long.MAX_VALUE;
            }
            file = changed.file();
            destination = new IngestPipeline.Destination(node.id, node.storedBytes, -1, true);
        }
        // A commit may wait for the storing lock, and must not wait for a fast tier that hangs.
        raws.limit().check();
        byte[] bytes = raws.limit().call("reading changed bytes", () -> {
            ByteBuffer read = ByteBuffer.allocate((int) next.bytes());
            ChangedBytes.read(file, List.of(next), next.from(), read);
            return read.array();
        });
        parts.devices().admitData(bytes.length, parts.underWayBytes().getAsLong());
        progress.read(bytes.length);
        ByteRun input = new ArrayRun(next.from(), bytes, !parts.throttle().isYielding());
        store(() -> pipeline().store(input, destination, (start, to) -> noteStored(node, Math.min(to, next.to()))));
        dropChanged(node, contents, next);
        return next.to();
    }

    /**
     * Forgets changed bytes that the recipe has. Not before, because a reader must find them in one of the two. A crash
     * may leave them in both.
     */
    private void dropChanged(Node node, Node.Contents contents, ByteRanges.Range range) {
        committer.changes().lock();
        try {
            synchronized (node) {
                node.dropChanged(range.from(), range.to());
                contents.completions++;
                contents.cleanCut = -1;
            }
        } finally {
            committer.changes().unlock();
        }
    }

    /**
     * Admits bytes that are going to be stored. The caller holds no lock, because this may collect garbage.
     *
     * @throws NoSpaceException if there is no space for them
     */
    void admit(long bytes) throws IOException {
        parts.collector().admitData(bytes, parts.underWayBytes());
    }

    private boolean copy(Node node, Node.Contents contents, RawFile raw, Progress progress) throws IOException {
        contents.storing.lock();
        try {
            int ticket = raw.beginCopy();
            if (ticket < 0 || !raw.isAtRest()) {
                return false;
            }
            RandomFile file = raw.use(false);
            try {
                // The record must not say that the recipe is current of bytes that a crash takes back.
                raws.force(node, raw);
                RandomFile.Status before = settled(file);
                RawRecord.Copy copy = RawFile.copyOf(before);
                if (copy == null || copy.equals(raw.record().copy())) {
                    return true;
                }
                // The fast tier may have answered late, when the volume is closed already.
                progress.read(0);
                removeOld(node, contents, raw);
                if (copy.size() <= MigrationPolicy.SMALL_BYTES) {
                    storeSmall(node, new Input(raw, file, 0, copy.size(), ticket, progress));
                } else {
                    for (long[] data : dataRanges(file, copy.size())) {
                        store(node, new Input(raw, file, data[0], data[1], ticket, progress));
                    }
                }
                return finish(node, raw, copy, ticket);
            } finally {
                raw.leave(false);
            }
        } finally {
            contents.storing.unlock();
        }
    }

    /** Returns whether any later change of a file would get a later time than its status has. */
    static boolean isSettled(RandomFile.Status status) {
        long ageNs = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - status.changedNs();
        return ageNs < 0 || ageNs >= TICK_NS;
    }

    /** Returns the status of a file when any later change of it would get a later time. */
    private static RandomFile.Status settled(RandomFile file) throws IOException {
        RandomFile.Status status = file.status();
        if (isSettled(status)) {
            return status;
        }
        try {
            TimeUnit.NANOSECONDS.sleep(TICK_NS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        }
        return file.status();
    }

    /** Records that the recipe has all bytes of a copy. False if the file was written meanwhile. */
    boolean finish(Node node, RawFile raw, RawRecord.Copy copy, int ticket) throws IOException {
        committer.changes().lock();
        try {
            synchronized (node) {
                node.storedBytes = copy.size();
                node.size = Math.max(node.size, copy.size());
            }
            nodes.markDirty(node);
        } finally {
            committer.changes().unlock();
        }
        if (raw.isCopyBroken(ticket) || !copy.equals(RawFile.copyOf(raw.status()))) {
            return false;
        }
        // An opening for writing breaks the copy first, and then lets the record say so.
        raws.record(raw, record -> raw.isCopyBroken(ticket) ? record : record.withCopy(copy));
        raw.noteCopied(ticket);
        return copy.equals(raw.record().copy());
    }

    /** Removes the recipe of an earlier copy, or what a copy that ended early left of one. */
    private void removeOld(Node node, Node.Contents contents, RawFile raw) throws IOException {
        if (raw.record().copy() != null) {
            raws.record(raw, record -> record.withCopy(null));
        }
        if (hasNothingStored(node)) {
            return;
        }
        parts.reaper().checkTail(node.id);
        try (Closeable orphan = metadata.namespace().holdOrphan(node.id)) {
            committer.changes().lock();
            try {
                synchronized (node) {
                    metadata.namespace().addOrphan(node.id, 0);
                    contents.cutting = true;
                    contents.cleanCut = -1;
                    node.storedBytes = 0;
                    nodes.markDirty(node);
                }
            } finally {
                committer.changes().unlock();
            }
        }
        parts.reaper().cutWithoutCommit(node, 0, nodes);
        parts.reaper().checkTail(node.id);
    }

    /** Returns the parts of a file that are no holes, each as begin and end (exclusive). */
    private static List<long[]> dataRanges(RandomFile file, long size) throws IOException {
        List<long[]> ranges = new ArrayList<>();
        long at = 0;
        while (at < size) {
            long from;
            try {
                from = file.seekData(at);
            } catch (PosixException e) {
                if (e.reason() == Reason.ENXIO) {
                    break;
                }
                throw e;
            }
            long end = Math.min(size, file.seekHole(from));
            if (from >= size) {
                break;
            }
            ranges.add(new long[] {from, end});
            at = end;
        }
        return ranges;
    }

    /** Uses the contents of a file until {@link Node#leave}. */
    Node.Contents use(Node node) {
        return node.use(parts.dirtyBudget(), parts.capacity());
    }

    BackgroundThrottle throttle() {
        return parts.throttle();
    }

    IngestPipeline pipeline() {
        return parts.pipeline();
    }

    /** Returns whether the recipe of a file is empty. */
    boolean hasNothingStored(Node node) {
        synchronized (node) {
            return node.storedBytes == 0 && node.dataBytes == 0;
        }
    }

    private void store(Node node, Input input) throws IOException {
        long stored;
        synchronized (node) {
            stored = node.storedBytes;
        }
        IngestPipeline.Destination destination = new IngestPipeline.Destination(node.id, stored, -1, true);
        store(() -> pipeline().store(input, destination, (from, to) -> noteStored(node, Math.min(to, input.end()))));
    }

    /** Stores a whole file as one chunk (TDDFS paper, §3.2). */
    private void storeSmall(Node node, Input input) throws IOException {
        if (input.end() > 0) {
            SmallFile file = new SmallFile(node.id, input, true, (from, to) -> noteStored(node, to));
            store(() -> pipeline().storeTogether(List.of(file), Inode.ROOT));
        }
    }

    /** Stores something through the pipeline. Begins a shortage or stops writing as the failure says. */
    void store(Closing.Step storing) throws IOException {
        parts.stop().refuseStoring();
        try {
            storing.run();
        } catch (NoSpaceException e) {
            parts.devices().beginShortage(e);
            throw e;
        } catch (WriteFailedException e) {
            parts.stop().begin(e, true);
            throw e;
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Records a stored part. Called under the change lock. */
    void noteStored(Node node, long to) {
        synchronized (node) {
            node.storedBytes = Math.max(node.storedBytes, to);
        }
        nodes.markDirty(node);
    }

    /** A part of a backing file, read when the pipeline asks for it, so that it takes no memory. */
    private final class Input implements ByteRun {
        private final RawFile raw;
        private final RandomFile file;
        private final long start;
        private final long end;
        private final int ticket;
        private final Progress progress;
        private final BackgroundThrottle.Piece piece = parts.throttle().begin();

        Input(RawFile raw, RandomFile file, long start, long end, int ticket, Progress progress) {
            this.raw = raw;
            this.file = file;
            this.start = start;
            this.end = end;
            this.ticket = ticket;
            this.progress = progress;
        }

        @Override
        public long start() {
            return start;
        }

        @Override
        public long end() {
            return end;
        }

        @Override
        public void copy(long from, byte[] target, int at, int length) {
            try {
                piece.next();
                if (raw.isCopyBroken(ticket)) {
                    throw new BrokenException(raw.inode());
                }
                if (file.read(from, ByteBuffer.wrap(target, at, length)) < length) {
                    // It was cut off through a mapping or by another process: its time of change says so too.
                    throw new BrokenException(raw.inode());
                }
                parts.devices().admitData(length, parts.underWayBytes().getAsLong());
                progress.read(length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public boolean isHelped() {
            return !parts.throttle().isYielding();
        }
    }
}
