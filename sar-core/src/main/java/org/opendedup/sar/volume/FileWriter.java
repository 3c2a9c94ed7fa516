package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.RecipeStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the bytes that writers hand over and has them stored: in the background while a file is written in sequence, when
 * they have waited for long, when memory runs short, and when somebody asks.
 */
final class FileWriter {
    private static final Logger log = LoggerFactory.getLogger(FileWriter.class);
    /** A file with so many dirty bytes is stored in the background: two segments, so that the writer fills the next two. */
    private static final long SCHEDULE_BYTES = 2L * IngestPipeline.SEGMENT_BYTES;
    /** Bytes of a file's growing end that are stored before anybody asks: a whole segment, so that lookups come in batches. */
    private static final long MIN_RUN_BYTES = IngestPipeline.SEGMENT_BYTES;
    /** Bytes taken out at a time; they count as dirty until they are stored. */
    private static final long MAX_RUN_BYTES = 4L * IngestPipeline.SEGMENT_BYTES;

    private final IngestPipeline pipeline;
    private final RecipeStore recipes;
    private final int pageBytes;
    private final NodeTable nodes;
    private final Capacity capacity;
    private final DirtyBudget budget;
    private final ExecutorService storers;
    private final DeviceSpaces devices;
    /** Files with dirty bytes. */
    private final Set<Node> dirtyFiles = ConcurrentHashMap.newKeySet();

    FileWriter(
            IngestPipeline pipeline,
            MetadataStore metadata,
            NodeTable nodes,
            Capacity capacity,
            DirtyBudget budget,
            ExecutorService storers,
            DeviceSpaces devices) {
        this.pipeline = pipeline;
        recipes = metadata.recipes();
        pageBytes = metadata.header().pageBytes();
        this.nodes = nodes;
        this.capacity = capacity;
        this.budget = budget;
        this.storers = storers;
        this.devices = devices;
    }

    /**
     * A write.
     *
     * @param mayUseReserve whether it may take what of the capacity is kept for root
     * @param touch whether it sets the times
     */
    record Write(OpenFile file, long offset, ByteBuffer source, long nowNs, boolean mayUseReserve, boolean touch) {
        Node node() {
            return file.node();
        }

        long end() {
            return offset + source.remaining();
        }
    }

    /** Takes all of the source's remaining bytes. Waits while too much is dirty; ENOSPC if the capacity has too little room, or the disk is full. */
    void write(Write write) throws IOException {
        budget.awaitRoom(this::storeOldest);
        if (!tryWrite(write, StoredRanges.NONE) && !writeOverStored(write)) {
            // What is dirty may have taken too much: where it replaces stored bytes, and where it is zeros.
            storeEverythingLogging();
            if (!writeOverStored(write)) {
                throw capacity.tooLittle(wanted(write, StoredRanges.NONE), write.mayUseReserve);
            }
        }
    }

    /** Takes the capacity only for bytes that do not replace stored ones: exact, and slower. Returns false if even that is too much. */
    private boolean writeOverStored(Write write) throws IOException {
        Node node = write.node();
        Lock storing = node.contents().storing;
        storing.lock();
        try {
            node.awaitNotCutting();
            return tryWrite(write, StoredRanges.of(recipes, node.id, pageBytes, write.offset, write.end()));
        } finally {
            storing.unlock();
        }
    }

    private static long wanted(Write write, StoredRanges stored) {
        synchronized (write.node()) {
            return write.node().contents().dirty.wanted(write.offset, write.source.remaining(), stored);
        }
    }

    /** @param stored of the ranges whose bytes chunks give, those that are known */
    private boolean tryWrite(Write write, StoredRanges stored) throws IOException {
        Node node = write.node();
        Node.Contents contents;
        boolean schedule;
        synchronized (node) {
            // Else a write behind the new end would show old bytes before it that are still to be removed.
            node.awaitNotCutting();
            contents = node.contents();
            if (!capacity.tryTake(wanted(write, stored), write.mayUseReserve)) {
                return false;
            }
            if (contents.dirty.isEmpty()) {
                contents.dirtySinceNs = System.nanoTime();
                dirtyFiles.add(node);
            }
            node.size = Math.max(node.size, write.end());
            contents.dirty.write(write.offset, write.source, stored);
            if (write.touch) {
                node.modifiedNs = write.nowNs;
                node.changedNs = write.nowNs;
            }
            schedule = contents.dirty.bytes() >= SCHEDULE_BYTES && !contents.scheduled;
            contents.scheduled |= schedule;
        }
        nodes.markDirty(node);
        if (schedule) {
            schedule(node, contents, MIN_RUN_BYTES);
        }
        return true;
    }

    private void schedule(Node node, Node.Contents contents, long minBytes) {
        try {
            storers.execute(() -> {
                try {
                    store(node, minBytes, Long.MAX_VALUE);
                } catch (NoSpaceException e) {
                    log.debug("bytes written to inode {} wait for space: {}", node.id, e.getMessage());
                } catch (IOException | RuntimeException | Error e) {
                    log.error("bytes written to inode {} could not be stored", node.id, e);
                } finally {
                    endSchedule(node, contents);
                }
            });
        } catch (RejectedExecutionException e) {
            log.debug("the volume is being closed; inode {} is stored with all others", node.id);
            endSchedule(node, contents);
        }
    }

    private static void endSchedule(Node node, Node.Contents contents) {
        synchronized (node) {
            contents.scheduled = false;
        }
    }

    /** Memory is short: has the file stored whose bytes have waited longest, or that has most of them. */
    private void storeOldest() throws NoSpaceException {
        devices.throwIfShort();
        List<Node> files = byAge();
        long wanted = budget.limitBytes() / 4;
        for (Node node : files) {
            Node.Contents contents;
            long bytes;
            synchronized (node) {
                contents = node.contents;
                if (contents == null || contents.scheduled) {
                    continue;
                }
                bytes = contents.dirty.bytes();
                contents.scheduled = true;
            }
            schedule(node, contents, 1);
            wanted -= bytes;
            if (wanted <= 0) {
                return;
            }
        }
    }

    private List<Node> byAge() {
        record Aged(Node node, long sinceNs) {}
        List<Aged> files = new ArrayList<>();
        for (Node node : dirtyFiles) {
            synchronized (node) {
                if (node.contents != null) {
                    files.add(new Aged(node, node.contents.dirtySinceNs));
                }
            }
        }
        long now = System.nanoTime();
        files.sort(Comparator.comparingLong(aged -> aged.sinceNs - now));
        return files.stream().map(Aged::node).toList();
    }

    /** Stores the bytes of every file that has had some for {@code ageNs}. Failures stay with their files. */
    void storeOlderThan(long ageNs) {
        long now = System.nanoTime();
        for (Node node : dirtyFiles) {
            boolean old;
            synchronized (node) {
                old = node.contents != null && now - node.contents.dirtySinceNs >= ageNs;
            }
            if (old) {
                storeLogging(node);
            }
        }
    }

    /** Stores every dirty byte of every file. Failures stay with their files. */
    void storeEverythingLogging() {
        dirtyFiles.forEach(this::storeLogging);
    }

    /** Stores every dirty byte of every file, and throws the first failure at the end. */
    void storeEverything() throws IOException {
        Closing all = new Closing();
        for (Node node : dirtyFiles) {
            all.run(() -> storeAll(node));
        }
        all.finish();
    }

    /**
     * As {@link #storeAll}; a failure goes to the log and stays with the file. Leaves a file that is being cut off as it is: a
     * commit does not wait for that.
     */
    void storeLogging(Node node) {
        try {
            store(node, 1, Long.MAX_VALUE);
        } catch (NoSpaceException e) {
            log.debug("bytes written to inode {} wait for space: {}", node.id, e.getMessage());
        } catch (IOException | RuntimeException e) {
            log.error("bytes written to inode {} could not be stored", node.id, e);
        }
    }

    /** Stores every byte of a file that is dirty now. Waits if the file is being cut off, as nothing is stored meanwhile. */
    void storeAll(Node node) throws IOException {
        while (!store(node, 1, Long.MAX_VALUE)) {
            node.awaitNotCutting();
        }
    }

    /** Stores every byte that is dirty now and lies before {@code end}; perhaps some behind it. */
    void storeBelow(Node node, long end) throws IOException {
        store(node, 1, end);
    }

    /**
     * Stores the file's runs of at least {@code minBytes} that begin before {@code limit}; with 1 also a chunk left unfinished at its end. Goes once over the
     * file, from its beginning to where its dirty bytes end now, so that a writer who goes on writing cannot keep it here.
     *
     * @return false if nothing was stored as the file is being cut off
     */
    private boolean store(Node node, long minBytes, long limit) throws IOException {
        Node.Contents contents;
        long end;
        synchronized (node) {
            if (node.contents == null) {
                return true;
            }
            contents = node.contents;
        }
        contents.storing.lock();
        try {
            synchronized (node) {
                if (contents.cutting) {
                    return false;
                }
                end = Math.min(limit, contents.dirty.end());
            }
            for (long at = 0; at < end; ) {
                long next = storeRun(node, contents, at, end, minBytes);
                if (next <= at) {
                    break;
                }
                at = next;
            }
            return true;
        } finally {
            contents.storing.unlock();
            // A closed file leaves the table with its last dirty byte.
            nodes.evict(List.of(node));
        }
    }

    /**
     * Stores the first run with bytes from {@code from} on; returns where the stored bytes end, or -1 if there was none. With {@code
     * minBytes} 1 a run that reaches {@code end} leaves nothing unfinished, even if more was written behind it meanwhile.
     */
    private long storeRun(Node node, Node.Contents contents, long from, long end, long minBytes) throws IOException {
        DirtyExtents.Run run;
        IngestPipeline.Destination destination;
        synchronized (node) {
            run = contents.dirty.takeRun(from, minBytes, MAX_RUN_BYTES, node.storedBytes);
            if (run == null) {
                return -1;
            }
            contents.stored = run;
            contents.prepay(run.taken(run.start(), run.end()));
            boolean last = minBytes == 1 && (run.end() >= end || !contents.dirty.has(run.end()));
            destination = new IngestPipeline.Destination(node.id, node.storedBytes, contents.cleanCut, last);
        }
        long stored = run.end();
        boolean failed = true;
        Progress progress = new Progress(run.start());
        try {
            stored = pipeline.store(run, destination, (start, to) -> {
                noteStored(node, contents, run, start, to);
                progress.stored = Math.max(progress.stored, to);
            });
            failed = false;
        } catch (NoSpaceException e) {
            // Nothing is lost: the rest is dirty again, and is stored when there is space.
            stored = Math.min(progress.stored, run.end());
            devices.beginShortage(e);
            throw e;
        } catch (IOException | RuntimeException | Error e) {
            synchronized (node) {
                node.failures++;
                node.lastFailure = e;
            }
            throw e;
        } finally {
            finishRun(node, contents, run, stored, failed);
        }
        return stored > run.start() ? stored : -1;
    }

    /** How far a run is stored. */
    private static final class Progress {
        long stored;

        Progress(long start) {
            stored = start;
        }
    }

    /** Takes the run out of the readers' sight, and what of it is not stored back: its unfinished last chunk, as a rule. */
    private void finishRun(Node node, Node.Contents contents, DirtyExtents.Run run, long stored, boolean failed) {
        synchronized (node) {
            contents.stored = null;
            contents.completions++;
            contents.cleanCut = !failed && stored < run.end() && stored > run.start() ? stored : -1;
            if (stored < run.end()) {
                contents.prepay(-contents.dirty.putBack(run, stored));
            }
            contents.settleAll();
            run.release();
            if (contents.dirty.isEmpty()) {
                dirtyFiles.remove(node);
                node.dropIfIdle();
            }
        }
    }

    /** Called under the change lock, in one commit with the recipe. */
    private void noteStored(Node node, Node.Contents contents, DirtyExtents.Run run, long start, long to) {
        synchronized (node) {
            contents.settle(run.taken(start, to));
            node.storedBytes = Math.max(node.storedBytes, Math.min(to, run.end()));
        }
        nodes.markDirty(node);
    }

    /** Called after dirty bytes were dropped: a file that has none left need not be stored. */
    void noteDropped(Node node) {
        synchronized (node) {
            Node.Contents contents = node.contents;
            if (contents == null || contents.isClean()) {
                dirtyFiles.remove(node);
            }
        }
    }

    /** Forgets the dirty bytes of a file that has no name and no user any more. */
    void discard(Node node, Node.Contents contents) {
        contents.storing.lock();
        try {
            synchronized (node) {
                contents.dirty.truncate(0);
                contents.completions++;
            }
            dirtyFiles.remove(node);
        } finally {
            contents.storing.unlock();
        }
    }

    /** Throws if bytes that were accepted could not be stored, and {@code file}'s user was not told. */
    void checkNotFailed(Node node, OpenFile file) throws IOException {
        checkTold(node, file.failuresKnown());
    }

    /** Throws if bytes of the file could not be stored and nobody was told. */
    void checkNotFailed(Node node) throws IOException {
        int told;
        synchronized (node) {
            told = node.failuresTold;
        }
        checkTold(node, told);
    }

    private static void checkTold(Node node, int known) throws IOException {
        Throwable cause;
        synchronized (node) {
            if (node.failures == known) {
                return;
            }
            node.failuresTold = node.failures;
            cause = node.lastFailure;
        }
        if (cause instanceof NoSpaceException || cause instanceof PosixException) {
            throw (IOException) cause;
        }
        throw new IOException("bytes written to inode " + node.id + " could not be stored; open the file again", cause);
    }
}
