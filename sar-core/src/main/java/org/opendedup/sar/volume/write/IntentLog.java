package org.opendedup.sar.volume.write;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.IntentRecords;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.volume.node.FileIntents;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes small amounts of dirty bytes durable with the next commit without storing them in chunks: they become records
 * of the metadata. The bytes stay dirty, and become chunks later; the commit that has their recipe removes the records
 * (docs/adr/0048-an-intent-log.md; the idea is that of the ZFS intent log). Bounded for each file and in total. A file
 * with more dirty bytes is stored.
 */
public final class IntentLog {
    private static final Logger log = LoggerFactory.getLogger(IntentLog.class);

    /**
     * Maximum number of bytes of a file that are logged at once. Storing more costs as little per byte as writing them
     * twice.
     */
    public static final long MAX_BYTES_AT_ONCE = 64 << 10;

    private final IntentRecords records;
    private final RecipeStore recipes;
    private final NodeTable nodes;
    private final Lock changes;
    private final DeviceSpaces devices;
    private final long maxBytes;
    /** Bytes of all records. */
    private final AtomicLong bytes = new AtomicLong();
    /** Number of callers that want no more bytes in the log. */
    private final AtomicInteger pauses = new AtomicInteger();
    /** Files of which a record cannot be read. */
    private final Set<Long> unreadable = ConcurrentHashMap.newKeySet();

    /**
     * @param changes the change lock, shared
     * @param devices admits the records: a write admits only a recipe on the device of the metadata
     * @param maxBytes maximum number of bytes of all records
     */
    public IntentLog(MetadataStore metadata, NodeTable nodes, Lock changes, DeviceSpaces devices, long maxBytes) {
        records = metadata.intents();
        recipes = metadata.recipes();
        this.nodes = nodes;
        this.changes = changes;
        this.devices = devices;
        this.maxBytes = maxBytes;
    }

    /**
     * Takes no more bytes until {@link #resume}: they are stored in chunks, which takes longer. Bytes that are on their
     * way may still arrive.
     */
    public void pause() {
        pauses.incrementAndGet();
    }

    public void resume() {
        pauses.decrementAndGet();
    }

    /** Returns whether the bytes of some files are unknown, because a record of them cannot be read. */
    public boolean hasUnreadable() {
        return !unreadable.isEmpty();
    }

    /** Returns the bytes of all records. */
    public long bytes() {
        return bytes.get();
    }

    /**
     * Puts all dirty bytes of a file that the log does not have into the pending metadata, so that the next commit
     * makes them durable. The caller holds the file's storing lock, so that no bytes of it are on their way.
     *
     * @return false if they are too many, if the device of the metadata has no room for them, or if the recipe that
     *     they belong to cannot be read: they must be stored
     */
    boolean add(Node node, Node.Contents contents) throws IOException {
        List<ByteRanges.Range> ranges;
        long more;
        synchronized (node) {
            if (contents.dirty.unlogged().isEmpty()) {
                return true;
            }
            if (!fits(contents)) {
                return false;
            }
            ranges = contents.dirty.unlogged().ranges();
            more = recordBytes(contents.dirty.unlogged());
        }
        if (!canBeStored(node.id, ranges) || !devices.tryAdmitMetadata(more)) {
            return false;
        }
        changes.lock();
        try {
            synchronized (node) {
                // More bytes may have been written meanwhile.
                if (!fits(contents)) {
                    return false;
                }
                of(node, contents).log(contents.dirty);
                nodes.markDirty(node);
                return true;
            }
        } finally {
            changes.unlock();
        }
    }

    private FileIntents of(Node node, Node.Contents contents) {
        FileIntents intents = contents.intents;
        if (intents == null) {
            intents = new FileIntents(records, node.id, bytes);
            contents.intents = intents;
        }
        return intents;
    }

    private boolean fits(Node.Contents contents) {
        ByteRanges unlogged = contents.dirty.unlogged();
        long more = recordBytes(unlogged);
        FileIntents intents = contents.intents;
        return pauses.get() == 0
                && unlogged.bytes() <= MAX_BYTES_AT_ONCE
                && more + (intents == null ? 0 : intents.bytes()) <= FileIntents.MAX_BYTES
                && more <= maxBytes - bytes.get();
    }

    private static long recordBytes(ByteRanges unlogged) {
        return unlogged.bytes() + (long) FileIntents.RECORD_BYTES * unlogged.count();
    }

    /**
     * Returns whether the recipe's pages for these bytes are sound. If not, storing would fail later, after the bytes
     * were acknowledged.
     */
    private boolean canBeStored(long inode, List<ByteRanges.Range> ranges) {
        long pageBytes = recipes.pageBytes();
        try {
            for (ByteRanges.Range range : ranges) {
                // Chunks at the ends of the range may have bytes in the neighbouring pages.
                long first = Math.max(0, range.from() / pageBytes - 1);
                for (long page = first; page <= (range.to() - 1) / pageBytes + 1; page++) {
                    recipes.page(inode, page);
                }
            }
            return true;
        } catch (IOException e) {
            log.debug("bytes of inode {} are stored at once", inode, e);
            return false;
        }
    }

    /** Returns whether a file has so many records that it should be stored soon. */
    static boolean isLong(Node.Contents contents) {
        FileIntents intents = contents.intents;
        return intents != null && intents.bytes() > FileIntents.MAX_BYTES / 2;
    }

    /** Takes all bytes of a file out of the log. The caller holds the file's storing lock. */
    void clear(Node node, Node.Contents contents) {
        if (contents.intents == null) {
            return;
        }
        changes.lock();
        try {
            synchronized (node) {
                contents.dropLogged(0, Long.MAX_VALUE);
            }
        } finally {
            changes.unlock();
        }
    }

    /** Removes the records of a file that is being freed and that no program has open. */
    void forget(long inode) {
        if (!unreadable.remove(inode)) {
            return;
        }
        changes.lock();
        try {
            records.removeAll(inode);
        } catch (IOException e) {
            log.debug("records of inode {} stay until the next mount", inode, e);
        } finally {
            changes.unlock();
        }
    }

    /** Throws if bytes of a file are unknown, because a record of it cannot be read. */
    public void checkReadable(long inode) throws CorruptionException {
        if (!unreadable.isEmpty() && unreadable.contains(inode)) {
            throw new CorruptionException(
                    "intent log of inode " + inode,
                    -1,
                    "records that can be read",
                    "a damaged or missing one; see the log");
        }
    }

    /** Returns the state of a file that is replayed. */
    FileIntents replayed(Node node, Node.Contents contents) {
        return of(node, contents);
    }

    void noteUnreadable(long inode) {
        unreadable.add(inode);
    }

    /** Removes the records of an inode that does not exist any more, or that is freed after a crash. */
    void removeAll(long inode) throws IOException {
        changes.lock();
        try {
            records.removeAll(inode);
        } finally {
            changes.unlock();
        }
    }
}
