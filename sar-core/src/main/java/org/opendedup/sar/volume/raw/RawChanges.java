package org.opendedup.sar.volume.raw;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.opendedup.sar.common.Answer;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.RawNumbers;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.ChangedBytes;
import org.opendedup.sar.volume.node.DirtyExtents;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.node.RawPlace;
import org.opendedup.sar.volume.node.RawTable;
import org.opendedup.sar.volume.write.ChangeTier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what is written to migrated files on the fast tier (TDDFS paper, §3.3 and §3.5; docs/adr/0082). A backing file
 * is made with the first change, and deleted when the commit that has none of its bytes any more is durable.
 */
public final class RawChanges implements ChangeTier, ChangedBytes.Keeper {
    private static final Logger log = LoggerFactory.getLogger(RawChanges.class);

    /** Ranges of a file at which its changes are stored in chunks: their record is written with each change of them. */
    private static final int MAX_RANGES = 1 << 14;

    private final MetadataStore metadata;
    private final RawTable table;
    private final RawPlace place;
    private final RawFiles raws;
    private final NodeTable nodes;
    private final Placements placements;
    private final Committer committer;
    /** Backing files that were made since the mount. */
    private final AtomicInteger made = new AtomicInteger();
    /** Held for reading while bytes are written, and for writing while a backup takes the metadata of one moment. */
    private final ReentrantReadWriteLock writing = new ReentrantReadWriteLock();
    /** Backing files that were made in this mount before the last backup. Changed with {@link #writing} held. */
    private volatile int backedUp;

    public RawChanges(
            MetadataStore metadata,
            RawTable table,
            RawPlace place,
            RawFiles raws,
            NodeTable nodes,
            Placements placements,
            Committer committer) {
        this.metadata = metadata;
        this.table = table;
        this.place = place;
        this.raws = raws;
        this.nodes = nodes;
        this.placements = placements;
        this.committer = committer;
        table.keepBy(this);
    }

    @Override
    public boolean takes(Node node) {
        if (!raws.hasRoom() || raws.isAbsent()) {
            return false;
        }
        synchronized (node) {
            if (node.raw != null || node.freed || node.contents == null || node.contents.wasEmpty()) {
                return false;
            }
            RawFile file = node.changed == null ? null : node.changed.file();
            if (file != null && mayBeInBackup(file)) {
                file.noteOutgrown();
            }
            if (file != null && (file.isOutgrown() || !committer.isDurable(file.shrunkIn()))) {
                // Bytes of a range that was dropped must not change before no durable record has the range.
                return false;
            }
        }
        try {
            return placements.of(node).isRaw();
        } catch (IOException e) {
            log.debug("inode {} is stored in chunks", node.id, e);
            return false;
        }
    }

    /**
     * Takes the metadata of one moment for a backup. What they say of backing files stays true: these are not written
     * again, but stored in chunks, and the next change of their file makes another one.
     *
     * @return what the cut returned
     */
    public boolean holdDuring(Answer<Boolean> cut) throws IOException {
        writing.writeLock().lock();
        try {
            return cut.get();
        } finally {
            backedUp = made.get();
            writing.writeLock().unlock();
        }
    }

    /** Returns whether a backup of the metadata may name a backing file: those of earlier mounts, or of before it. */
    private boolean mayBeInBackup(RawFile file) {
        return file.number() < RawNumbers.part(epoch(), backedUp);
    }

    private long epoch() {
        return metadata.epochs().current().number();
    }

    @Override
    public boolean keep(Node node, DirtyExtents.Run run, Runnable recorded) {
        // While the metadata are taken for a backup, or are to be, nobody waits: the bytes go to chunks. tryLock alone
        // passes a backup by that waits for writers, which would then wait for as long as there are any.
        if (writing.hasQueuedThreads() || !writing.readLock().tryLock()) {
            return false;
        }
        try {
            return write(node, run, recorded);
        } finally {
            writing.readLock().unlock();
        }
    }

    private boolean write(Node node, DirtyExtents.Run run, Runnable recorded) {
        List<ByteRanges.Range> ranges = run.ranges();
        ChangedBytes present;
        long more = run.bytes();
        synchronized (node) {
            present = node.changed;
            if (present != null) {
                if (mayBeInBackup(present.file())) {
                    return false;
                }
                for (ByteRanges.Range range : ranges) {
                    more -= present.bytesWithin(range.from(), range.to());
                }
            }
        }
        ChangedBytes changed;
        try {
            place.space().grant(node.account(), more, true);
        } catch (IOException e) {
            log.debug("inode {} is stored in chunks: {}", node.id, e.getMessage());
            return false;
        }
        try {
            RawFile file = place.limit()
                    .call(
                            "writing changed bytes",
                            () -> {
                                RawFile opened = present == null ? make(node) : present.file();
                                write(opened, run, present == null);
                                return opened;
                            },
                            late -> {
                                if (present == null) {
                                    raws.discard(late.number());
                                }
                            });
            changed = present == null ? new ChangedBytes(file, this) : present;
        } catch (IOException e) {
            log.warn("bytes written to inode {} are stored in chunks at once: {}", node.id, e.getMessage());
            raws.setRoom(false);
            // The call may go on: no later one may write to the same file, and no buffer that it reads is used again.
            run.forsake();
            if (present != null) {
                present.file().noteOutgrown();
            }
            return false;
        }
        Lock changes = committer.changes();
        changes.lock();
        try {
            synchronized (node) {
                if (node.changed != present || node.freed) {
                    // The fast tier was found to have lost its file meanwhile, or the file of the volume was removed.
                    if (present == null) {
                        raws.discardLater(changed.file().number());
                    }
                    return false;
                }
                node.changed = changed;
                changed.add(ranges);
                recorded.run();
            }
            nodes.markDirty(node);
        } finally {
            changes.unlock();
        }
        if (changed.count() >= MAX_RANGES || raws.isCrowded()) {
            changed.file().noteOutgrown();
        }
        return true;
    }

    private RawFile make(Node node) throws IOException {
        long number;
        RandomFile made;
        do {
            // One that exists is of a mount that a restored backup of the metadata does not know.
            number = RawNumbers.part(epoch(), this.made.getAndIncrement());
            made = raws.create(number);
        } while (made == null);
        long now = System.currentTimeMillis();
        RawFile file = new RawFile(
                node.id, RawRecord.ofChanged(number, List.of()), place, node.account(), now, committer.generation());
        file.begin(made, made.status());
        return file;
    }

    /** Writes a run, and makes it durable. Deletes a file that was just made if that fails. */
    private void write(RawFile file, DirtyExtents.Run run, boolean isNew) throws IOException {
        boolean done = false;
        // Not as a writer: it is forced here, so no sync has to be made for it.
        RandomFile opened = isNew ? file.backing() : file.use(false);
        try {
            run.writeTo(opened::write);
            opened.force();
            done = true;
        } finally {
            file.noteAccess(System.currentTimeMillis());
            file.leave(isNew);
            if (isNew && !done) {
                raws.discard(file.number());
            }
        }
    }

    @Override
    public void changed(RawFile file, List<ByteRanges.Range> ranges, boolean isLess) {
        table.put(file);
        table.setRecord(file, RawRecord.ofChanged(file.number(), ranges), committer.generation());
        if (isLess) {
            file.noteShrunk(committer.generation());
        }
        metadata.raws().put(file.inode(), file.record());
    }

    @Override
    public void ended(RawFile file) {
        raws.forget(file.inode());
    }
}
