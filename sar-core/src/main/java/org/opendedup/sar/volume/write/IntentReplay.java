package org.opendedup.sar.volume.write;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.volume.node.Capacity;
import org.opendedup.sar.volume.node.DirtyBudget;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.StoredRanges;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the intent log when a volume is opened after a crash: the bytes in it are dirty again, and take capacity again.
 * They are stored as usual, and their records stay until then, so that another crash finds the same. Memory: at most
 * what the log may have, {@link org.opendedup.sar.volume.config.MemoryPlan#intentLog}.
 */
public final class IntentReplay {
    private static final Logger log = LoggerFactory.getLogger(IntentReplay.class);

    private final MetadataStore metadata;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final DirtyBudget budget;
    private final Capacity capacity;
    private final IntentLog intents;
    private int files;

    public IntentReplay(
            MetadataStore metadata, NodeTable nodes, FileWriter writer, DirtyBudget budget, Capacity capacity) {
        this.metadata = metadata;
        this.nodes = nodes;
        this.writer = writer;
        this.budget = budget;
        this.capacity = capacity;
        intents = writer.intents();
    }

    /** Replays all records. */
    public void run() throws IOException {
        try (RecordCursor<IntentRecord> records = metadata.intents().all()) {
            boolean more = records.next();
            while (more) {
                more = replayFile(records);
            }
        }
        if (files > 0) {
            log.info("{} bytes of {} files were in the intent log, and are stored now", intents.bytes(), files);
        }
    }

    /** Replays the records of one file; returns whether the cursor is at a record of another one. */
    private boolean replayFile(RecordCursor<IntentRecord> records) throws IOException {
        long inode = records.id();
        Node node;
        try {
            node = nodes.pinIfPresent(inode);
        } catch (CorruptionException | UnsupportedFormatException e) {
            // The records stay, for a restore of the metadata. The other files can be used.
            log.error("the intent log has bytes of inode {}, whose record cannot be read", inode, e);
            intents.noteUnreadable(inode);
            return skip(records, inode);
        }
        try {
            if (node == null || !node.isRegular()) {
                // It was removed, or has no name and is being freed.
                intents.removeAll(inode);
                return skip(records, inode);
            }
            return replay(records, node);
        } finally {
            if (node != null) {
                nodes.unpin(node);
            }
        }
    }

    private static boolean skip(RecordCursor<IntentRecord> records, long inode) throws IOException {
        boolean more = true;
        while (more && records.id() == inode) {
            more = records.next();
        }
        return more;
    }

    private boolean replay(RecordCursor<IntentRecord> records, Node node) throws IOException {
        Node.Contents contents = node.use(budget, capacity);
        try {
            long next = 0;
            boolean more = true;
            while (more && records.id() == node.id) {
                IntentRecord record = records.value();
                if (record == null || record.number() != next) {
                    refuse(node, contents, next);
                    return skip(records, node.id);
                }
                apply(node, contents, record);
                next++;
                more = records.next();
            }
            finish(node, contents);
            if (contents.intents != null && contents.intents.isEmpty()) {
                // Records that only say which bytes are gone, as a repair may leave them.
                intents.clear(node, contents);
            }
            return more;
        } finally {
            node.leave();
        }
    }

    private void apply(Node node, Node.Contents contents, IntentRecord record) {
        byte[] written = record.bytes();
        StoredRanges stored = written == null ? null : stored(node.id, record);
        synchronized (node) {
            if (written == null || stored == null) {
                contents.dirty.remove(record.offset(), record.end());
            } else {
                capacity.change(node.account(), contents.dirty.wanted(record.offset(), written.length, stored));
                contents.dirty.write(record.offset(), ByteBuffer.wrap(written), stored);
            }
            intents.replayed(node, contents).noteFound(record);
        }
    }

    /** Returns what the recipe has of a record's bytes: they take no capacity twice. */
    private @Nullable StoredRanges stored(long inode, IntentRecord record) {
        try {
            return StoredRanges.of(metadata.recipes(), inode, record.offset(), record.end());
        } catch (IOException e) {
            log.debug("the recipe of inode {} cannot be read", inode, e);
            return StoredRanges.NONE;
        }
    }

    private void finish(Node node, Node.Contents contents) {
        synchronized (node) {
            contents.dirty.unlogged().clear();
            if (contents.dirty.end() > node.size) {
                // Only a salvaged inode is shorter than its bytes in the log.
                node.size = contents.dirty.end();
                nodes.markDirty(node);
            }
            if (!contents.dirty.isEmpty()) {
                writer.dirtyFiles().add(node, contents);
            }
        }
        files++;
    }

    /** The bytes of the file are unknown: it cannot be opened until a repair removes the records. */
    private void refuse(Node node, Node.Contents contents, long number) {
        CorruptionException damage = new CorruptionException(
                "metadata database, intent log of " + UnsavedChanges.logged(node.id, metadata, "inode " + node.id),
                -1,
                "record " + number,
                "a damaged one or none");
        log.error(
                "{} (inode {}) cannot be opened: some of the bytes that were written last are damaged; unmount the"
                        + " volume and run sdfs-check with --repair, which gives these bytes up",
                UnsavedChanges.logged(node.id, metadata, "a file"),
                node.id,
                damage);
        synchronized (node) {
            contents.dirty.truncate(0);
            if (contents.intents != null) {
                contents.intents.leave();
                contents.intents = null;
            }
        }
        intents.noteUnreadable(node.id);
    }
}
