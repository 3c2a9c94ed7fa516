package org.opendedup.sar.volume.write;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.volume.commit.WriteStop;
import org.opendedup.sar.volume.node.Capacity;
import org.opendedup.sar.volume.node.DirtyBudget;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.node.StoredRanges;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts written bytes and stores them. Stores in the background while a file is written sequentially, when bytes have
 * waited for long, when memory is short, and on request.
 */
public final class FileWriter {
    private static final Logger log = LoggerFactory.getLogger(FileWriter.class);
    /**
     * Dirty bytes of a file at which it is stored in the background: two segments, so that the writer can fill the next
     * two meanwhile.
     */
    private static final long SCHEDULE_BYTES = 2L * IngestPipeline.SEGMENT_BYTES;
    /**
     * Minimum length in bytes of a run at a file's growing end that is stored without a request: a whole segment, so
     * that index lookups are batched.
     */
    private static final long MIN_RUN_BYTES = IngestPipeline.SEGMENT_BYTES;

    private final RecipeStore recipes;
    private final NodeTable nodes;
    private final Capacity capacity;
    private final DirtyBudget budget;
    private final ExecutorService storers;
    private final DeviceSpaces devices;
    private final WriteStop stop;
    private final DirtyFiles dirtyFiles = new DirtyFiles();
    private final IntentLog intents;
    private final RunStore runs;
    private final SmallFiles smallFiles;
    private ChangeTier changeTier = ChangeTier.NONE;

    /** @param intents makes small amounts of bytes durable before they are stored */
    public FileWriter(
            IngestPipeline pipeline,
            MetadataStore metadata,
            NodeTable nodes,
            Capacity capacity,
            DirtyBudget budget,
            ExecutorService storers,
            DeviceSpaces devices,
            WriteStop stop,
            IntentLog intents) {
        recipes = metadata.recipes();
        this.nodes = nodes;
        this.capacity = capacity;
        this.budget = budget;
        this.storers = storers;
        this.devices = devices;
        this.stop = stop;
        this.intents = intents;
        runs = new RunStore(pipeline, nodes, dirtyFiles, devices, stop);
        smallFiles = new SmallFiles(runs, nodes, devices, stop);
    }

    /** Sets what keeps bytes that are written to migrated files. Called before the volume is used. */
    public void keepChangesOn(ChangeTier tier) {
        changeTier = tier;
    }

    /**
     * A write.
     *
     * @param mayUseReserve whether it may use the part of the capacity that is reserved for root
     * @param touch whether it sets the file's times
     */
    public record Write(
            OpenFile file, long offset, ByteBuffer source, long nowNs, boolean mayUseReserve, boolean touch) {
        Node node() {
            return file.node();
        }

        long end() {
            return offset + source.remaining();
        }
    }

    /**
     * Accepts all of the source's remaining bytes. Waits while the dirty bytes of all files exceed the budget. ENOSPC
     * if the capacity is exceeded or the disk is full, EDQUOT if a quota is exceeded.
     */
    public void write(Write write) throws IOException {
        budget.awaitRoom(this::storeOldest);
        if (!tryWrite(write, StoredRanges.NONE) && !writeOverStored(write)) {
            // The dirty bytes may have taken too much of the capacity, or of a quota: where they replace stored bytes,
            // and where they are zeros.
            storeEverythingLogging();
            if (!writeOverStored(write)) {
                throw tooLittle(write);
            }
        }
    }

    /**
     * Writes, and takes capacity only for bytes that do not replace stored ones: exact, but slower. Returns false if
     * the capacity is too small even for that.
     */
    private boolean writeOverStored(Write write) throws IOException {
        Node node = write.node();
        Node.Contents contents = node.contents();
        contents.lockUncut();
        try {
            return tryWrite(write, StoredRanges.of(recipes, node.id, write.offset, write.end()));
        } finally {
            contents.storing.unlock();
        }
    }

    private static long wanted(Write write, StoredRanges stored) {
        synchronized (write.node()) {
            return write.node().contents().dirty.wanted(write.offset, write.source.remaining(), stored);
        }
    }

    private IOException tooLittle(Write write) {
        Node node = write.node();
        synchronized (node) {
            return capacity.tooLittle(node.account(), wanted(write, StoredRanges.NONE), write.mayUseReserve);
        }
    }

    /** @param stored those ranges of the file that are known to be stored in chunks */
    private boolean tryWrite(Write write, StoredRanges stored) throws IOException {
        Node node = write.node();
        Node.Contents contents;
        boolean schedule;
        synchronized (node) {
            node.transferred = true;
            // Otherwise a write past the new end would make old bytes below it visible that are still to be removed.
            node.awaitWritable();
            contents = node.contents();
            if (!capacity.tryTake(node.account(), wanted(write, stored), write.mayUseReserve)) {
                return false;
            }
            if (contents.dirty.isEmpty()) {
                dirtyFiles.add(node, contents);
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
                    storeLogging(node, minBytes);
                } catch (Error e) {
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

    /**
     * Called when memory is short: schedules storing of the files whose bytes have waited longest, until they cover a
     * quarter of the budget.
     */
    private void storeOldest() throws IOException {
        stop.refuseChanges();
        devices.throwIfShort();
        List<Node> files = dirtyFiles.byAge();
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
            // A file that cannot be stored at present must not keep others from being stored.
            wanted -= contents.attempts.haveFailed() ? 0 : bytes;
            if (wanted <= 0) {
                return;
            }
        }
    }

    /**
     * Stores the dirty bytes of every file whose oldest dirty byte is at least {@code ageNs} nanoseconds old. Failures
     * are recorded with their files.
     */
    public void storeOlderThan(long ageNs) {
        storeTogether(dirtyFiles.olderThan(ageNs));
    }

    /** Stores the dirty bytes of these files, small files together. Failures are recorded with their files. */
    public void storeTogether(Collection<Node> files) {
        smallFiles.store(files);
        files.forEach(this::storeLogging);
    }

    /** Stores every dirty byte of every file. Failures are recorded with their files. */
    public void storeEverythingLogging() {
        storeTogether(dirtyFiles.byAge());
    }

    /** Stores every dirty byte of every file. Throws the first failure at the end. */
    public void storeEverything() throws IOException {
        Closing all = new Closing();
        List<Node> files = dirtyFiles.byAge();
        smallFiles.store(files);
        for (Node node : files) {
            all.run(() -> storeOrKeep(node));
        }
        all.finish();
    }

    /** Returns the accepted bytes of all files that were given up. */
    LostWrites lost() {
        return runs.lost();
    }

    /**
     * Stores a file as {@link #storeAll} does, but logs a failure and records it with the file. Skips a file that is
     * being truncated, because a commit does not wait for that.
     */
    void storeLogging(Node node) {
        storeLogging(node, 1);
    }

    private void storeLogging(Node node, long minBytes) {
        logFailure(node, () -> store(node, minBytes, Long.MAX_VALUE, true));
    }

    private static void logFailure(Node node, Closing.Step storing) {
        try {
            storing.run();
        } catch (NoSpaceException | WriteFailedException e) {
            log.debug("bytes written to inode {} wait: {}", node.id, e.getMessage());
        } catch (IOException | RuntimeException e) {
            if (node.isLost(e)) {
                log.error("bytes written to inode {} could not be stored", node.id, e);
            } else {
                log.warn("bytes written to inode {} could not be stored yet; they are kept", node.id, e);
            }
        }
    }

    /**
     * Stores every byte of a file that is dirty at the call in chunks. Waits while the file is being truncated, because
     * nothing is stored meanwhile.
     */
    public void storeAll(Node node) throws IOException {
        while (!store(node, 1, Long.MAX_VALUE, false)) {
            node.awaitNotCutting();
        }
    }

    /** Stores a file as {@link #storeAll} does, or keeps its bytes on the fast tier. */
    private void storeOrKeep(Node node) throws IOException {
        while (!store(node, 1, Long.MAX_VALUE, true)) {
            node.awaitNotCutting();
        }
    }

    /**
     * Makes every byte of a file that is dirty at the call part of the next commit: a few bytes in the intent log, more
     * of them stored. Waits while the file is being truncated, as {@link #storeAll} does.
     */
    public void secure(Node node) throws IOException {
        while (!trySecure(node)) {
            node.awaitNotCutting();
        }
    }

    /**
     * Does what {@link #secure} does, but does not wait for a truncation.
     *
     * @return false if nothing was done because the file is being truncated
     */
    public boolean trySecure(Node node) throws IOException {
        stop.refuseStoring();
        Node.Contents contents = contentsToStore(node);
        if (contents == null) {
            return true;
        }
        contents.storing.lock();
        try {
            if (isCutting(node, contents)) {
                return false;
            }
            if (!intents.add(node, contents)) {
                return store(node, 1, Long.MAX_VALUE, true);
            }
        } finally {
            contents.storing.unlock();
        }
        storeIfLong(node, contents);
        return true;
    }

    /**
     * Makes every byte of a file that is dirty at the call part of the next commit, as {@link #secure} does, if they
     * fit in the intent log and no other thread stores or truncates the file.
     *
     * @return false if nothing was done
     */
    public boolean secureAtOnce(Node node) throws IOException {
        if (stop.isStopped() || devices.isShort()) {
            return false;
        }
        Node.Contents contents = contentsToStore(node);
        if (contents == null) {
            return true;
        }
        if (!contents.storing.tryLock()) {
            return false;
        }
        try {
            if (isCutting(node, contents) || !intents.add(node, contents)) {
                return false;
            }
        } finally {
            contents.storing.unlock();
        }
        storeIfLong(node, contents);
        return true;
    }

    /** Returns what a file has in memory; null for a raw file: its lock may be held for as long as it is copied. */
    private static Node.@Nullable Contents contentsToStore(Node node) {
        synchronized (node) {
            return node.raw == null ? node.contents : null;
        }
    }

    private static boolean isCutting(Node node, Node.Contents contents) {
        synchronized (node) {
            return contents.cutting;
        }
    }

    private void storeIfLong(Node node, Node.Contents contents) {
        synchronized (node) {
            if (!IntentLog.isLong(contents) || contents.scheduled) {
                return;
            }
            contents.scheduled = true;
        }
        schedule(node, contents, 1);
    }

    /** Makes a file part of the next commit as {@link #secure} does, but logs a failure as {@link #storeLogging}. */
    public void secureLogging(Node node) {
        logFailure(node, () -> trySecure(node));
    }

    /** Makes all files part of the next commit as {@link #secure} does. Throws the first failure at the end. */
    void secureEverything() throws IOException {
        Closing all = new Closing();
        for (Node node : dirtyFiles) {
            all.run(() -> secure(node));
        }
        all.finish();
    }

    /** Stores every byte that is dirty at the call and lies below {@code end}; may also store some after it. */
    public void storeBelow(Node node, long end) throws IOException {
        store(node, 1, end, true);
    }

    /**
     * Stores the file's runs of at least {@code minBytes} bytes that begin before {@code limit}. With {@code minBytes}
     * 1, also stores an unfinished chunk at the end. Makes one pass over the file, from its beginning to the present
     * end of its dirty bytes, so that a continuing writer cannot keep it busy forever.
     *
     * @param mayKeep whether the fast tier may take them instead
     * @return false if nothing was stored because the file is being truncated
     */
    private boolean store(Node node, long minBytes, long limit, boolean mayKeep) throws IOException {
        stop.refuseStoring();
        Node.Contents contents = contentsToStore(node);
        if (contents == null) {
            return true;
        }
        long end;
        contents.storing.lock();
        try {
            synchronized (node) {
                if (contents.cutting) {
                    return false;
                }
                end = Math.min(limit, contents.dirty.end());
            }
            if (mayKeep && keep(node, contents)) {
                return true;
            }
            for (long at = 0; at < end; ) {
                long next = runs.store(node, contents, at, end, minBytes);
                if (next <= at) {
                    break;
                }
                at = next;
            }
            return true;
        } finally {
            contents.storing.unlock();
            // A closed file can leave the table once its last dirty byte is stored.
            nodes.evict(List.of(node));
        }
    }

    /** Moves what is dirty at the call to the fast tier. Returns false if it does not take all of that. */
    private boolean keep(Node node, Node.Contents contents) {
        if (!changeTier.takes(node)) {
            return false;
        }
        long left;
        synchronized (node) {
            left = contents.dirty.bytes();
        }
        while (left > 0) {
            long kept = runs.keep(node, contents, changeTier);
            if (kept == 0) {
                return false;
            }
            left -= kept;
        }
        return true;
    }

    /** See {@link DirtyFiles#noteDropped}. */
    public void noteDropped(Node node) {
        dirtyFiles.noteDropped(node);
    }

    /** Drops the dirty bytes of a file that has no name and no user any more. */
    public void discard(Node node) {
        intents.forget(node.id);
        Node.Contents contents;
        synchronized (node) {
            contents = node.contents;
        }
        if (contents == null) {
            return;
        }
        contents.storing.lock();
        try {
            intents.clear(node, contents);
            synchronized (node) {
                contents.dirty.truncate(0);
                contents.completions++;
            }
            dirtyFiles.remove(node);
        } finally {
            contents.storing.unlock();
        }
    }

    /** Throws if bytes of the file wait because a disk failed, so that a close of the file reports it. */
    public void checkNotWaiting(Node node) throws IOException {
        boolean waits;
        synchronized (node) {
            waits = stop.isStopped() && node.contents != null && !node.contents.isClean();
        }
        if (waits) {
            stop.refuseStoring();
        }
    }

    /** See {@link DirtyFiles#unloggedBytes}. */
    public Map<Long, Long> unloggedBytes() {
        return dirtyFiles.unloggedBytes();
    }

    DirtyFiles dirtyFiles() {
        return dirtyFiles;
    }

    public IntentLog intents() {
        return intents;
    }
}
