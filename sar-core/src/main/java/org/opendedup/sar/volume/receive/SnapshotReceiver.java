package org.opendedup.sar.volume.receive;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Rollback;
import org.opendedup.sar.metadata.RollbackEffect;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.record.ReplicaRecord.UnderWay;
import org.opendedup.sar.metadata.record.RollbackRecord;
import org.opendedup.sar.metadata.record.SnapshotIdentity;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.snapshot.VolumeRollback;
import org.opendedup.sar.volume.store.CheckFolder;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamMessage.Answer;
import org.opendedup.sar.volume.stream.StreamMessage.Attributes;
import org.opendedup.sar.volume.stream.StreamMessage.Changed;
import org.opendedup.sar.volume.stream.StreamMessage.Chunks;
import org.opendedup.sar.volume.stream.StreamMessage.End;
import org.opendedup.sar.volume.stream.StreamMessage.Greeting;
import org.opendedup.sar.volume.stream.StreamMessage.Names;
import org.opendedup.sar.volume.stream.StreamMessage.Offer;
import org.opendedup.sar.volume.stream.StreamMessage.Pages;
import org.opendedup.sar.volume.stream.StreamMessage.Removed;
import org.opendedup.sar.volume.stream.StreamMessage.Start;
import org.opendedup.sar.volume.stream.StreamPoint;
import org.opendedup.sar.volume.stream.StreamPosition;
import org.opendedup.sar.volume.stream.StreamReader;
import org.opendedup.sar.volume.stream.StreamWriter;

/**
 * Receives snapshots of another volume into this one, which nobody else has open. The first makes the volume a replica:
 * from then on programs cannot change its files. A stream changes the files themselves, from those of the base to those
 * of the target, with commits on the way that have the position; when the stream is complete, the snapshot is made and
 * the position removed, in one commit. Until then nothing but a receiver opens the volume, and its snapshots are as
 * they were. For one thread.
 */
public final class SnapshotReceiver implements Closeable {
    /** The name of the stage in a {@link Progress}: bytes of the stream that were read. */
    public static final String RECEIVING = "bytes received";

    private final Opener opener;
    private final Path metadataFolder;
    private VolumeContext volume;
    private MetadataStore metadata;

    /** Opens the volume, as {@link VolumeContext#openToReceive} does. */
    @FunctionalInterface
    public interface Opener {
        VolumeContext open() throws IOException;
    }

    /**
     * A snapshot that was received.
     *
     * @param snapshot the snapshot, as this volume has it
     * @param removed number of inodes that the stream removed
     * @param changed number of inodes that the stream changed or made
     * @param chunks number of chunks that it had
     * @param chunkBytes bytes of these before compression
     * @param streamBytes bytes of the stream
     */
    public record Received(
            SnapshotRecord snapshot, long removed, long changed, long chunks, long chunkBytes, long streamBytes) {}

    /** Opens a volume at its locations. */
    public static SnapshotReceiver open(VolumeConfig config) throws IOException {
        return new SnapshotReceiver(
                () -> VolumeContext.openToReceive(config), config.locations().metadata());
    }

    /** @param metadataFolder of the volume; a file that is needed meanwhile lies there */
    public SnapshotReceiver(Opener opener, Path metadataFolder) throws IOException {
        this.opener = opener;
        this.metadataFolder = metadataFolder;
        volume = opener.open();
        metadata = volume.metadata();
    }

    private void reopen() throws IOException {
        volume.close();
        volume = opener.open();
        metadata = volume.metadata();
    }

    /** Returns the first answer to a sender that reads answers. */
    public Greeting greeting() throws IOException {
        return new Greeting(
                metadata.header().pageBytes(),
                ContentHash.SHA_256,
                identities(metadata.snapshots().list()),
                reached());
    }

    private List<SnapshotIdentity> identities(List<SnapshotRecord> snapshots) {
        return snapshots.stream().map(this::identity).toList();
    }

    private SnapshotIdentity identity(SnapshotRecord snapshot) {
        return snapshot.identity(metadata.header().volume());
    }

    /** Returns where a stream that was not received to its end goes on; null if there is none. */
    public @Nullable StreamPoint reached() throws IOException {
        ReplicaRecord replica = metadata.replica();
        UnderWay underWay = replica == null ? null : replica.underWay();
        return underWay == null ? null : pointOf(underWay);
    }

    private static StreamPoint pointOf(UnderWay underWay) {
        return new StreamPoint(
                underWay.target(), underWay.base(), new StreamPosition(underWay.inode(), underWay.page()));
    }

    /**
     * Receives a stream to its end, and makes its snapshot. What was received of a stream that ends early stays, and
     * {@link #reached} says where it goes on.
     *
     * @param in begun, and unsealed if it is sealed
     * @param answers receives the answers to offers; null: the sender reads none
     * @param discardsChanges whether to give up what was changed here since the base
     * @throws PosixException if the stream cannot be applied to this volume; nothing was changed
     * @throws CorruptionException if the stream is damaged
     * @throws EOFException if the stream is cut off
     */
    public Received receive(StreamReader in, @Nullable StreamWriter answers, boolean discardsChanges, Progress progress)
            throws IOException {
        if (!(in.read() instanceof Start start)) {
            throw StateWriter.damaged("the begin of a stream", "another message");
        }
        SnapshotRecord base = base(start);
        if (base != null && reached() == null) {
            discardChanges(base, discardsChanges);
        }
        begin(start);
        try (CheckFolder scratch = CheckFolder.forReceiving(metadataFolder);
                StateWriter writer = new StateWriter(
                        volume,
                        scratch.scratch(),
                        base == null ? 0 : base.number(),
                        start.firstInode(),
                        Objects.requireNonNull(metadata.replica()))) {
            Counts counts = new Counts();
            try {
                apply(in, answers, writer, counts, progress);
            } catch (CorruptionException e) {
                if (in.isAtEnd()) {
                    beginAgain();
                }
                throw e;
            }
            writer.flush();
            return new Received(
                    finish(start), counts.removed, counts.changed, counts.chunks, counts.chunkBytes, in.bytes());
        }
    }

    // --- what may be received

    /** Checks whether the stream can be applied; returns the base's snapshot, null if the stream has everything. */
    private @Nullable SnapshotRecord base(Start start) throws IOException {
        if (start.pageBytes() != metadata.header().pageBytes() || start.hash() != ContentHash.SHA_256) {
            throw new PosixException(
                    Reason.EINVAL,
                    "the stream is of a volume with an io-chunk-size of " + start.pageBytes()
                            + " bytes, and this one has " + metadata.header().pageBytes()
                            + ": make a volume with the same size for it");
        }
        StreamPoint point = start.point();
        StreamPoint reached = reached();
        if (reached != null) {
            requireSame(point, reached);
        } else {
            requireNew(start);
        }
        return point.base() == null ? null : find(point.base());
    }

    private static void requireSame(StreamPoint point, StreamPoint reached) throws PosixException {
        if (!point.target().equals(reached.target()) || !Objects.equals(point.base(), reached.base())) {
            throw new PosixException(
                    Reason.EBUSY,
                    "another snapshot is not received to its end. Go on with 'send --resume=" + reached
                            + "', or give it up with 'receive --abort'");
        }
        if (point.position().compareTo(reached.position()) > 0) {
            throw new PosixException(
                    Reason.EINVAL,
                    "the stream begins behind what was received. Go on with 'send --resume=" + reached + "'");
        }
    }

    private void requireNew(Start start) throws IOException {
        StreamPoint point = start.point();
        List<SnapshotRecord> snapshots = metadata.snapshots().list();
        for (SnapshotRecord snapshot : snapshots) {
            if (identity(snapshot).equals(point.target())) {
                throw new PosixException(
                        Reason.EEXIST, "the volume has the snapshot already, as '" + snapshot.name() + "'");
            }
        }
        if (metadata.snapshots().isTaken(start.name())) {
            throw new PosixException(
                    Reason.EEXIST,
                    "the volume has another snapshot with the name '" + start.name() + "': delete one of the two");
        }
        if (!point.position().equals(StreamPosition.START)) {
            throw new PosixException(
                    Reason.EINVAL, "the stream goes on with one of which nothing was received: send it from its begin");
        }
        if (point.base() == null && !isEmpty()) {
            throw new PosixException(
                    Reason.ENOTEMPTY,
                    "the stream has a whole volume, and this volume has files or snapshots: receive it into a new"
                            + " volume, or send what changed since a snapshot that both volumes have");
        }
    }

    private boolean isEmpty() throws IOException {
        return metadata.totals().files() <= 1
                && metadata.namespace().isEmpty(Inode.ROOT)
                && metadata.snapshots().list().isEmpty()
                && metadata.snapshots().deleted().isEmpty();
    }

    private SnapshotRecord find(SnapshotIdentity wanted) throws PosixException {
        List<SnapshotRecord> snapshots = metadata.snapshots().list();
        for (SnapshotRecord snapshot : snapshots) {
            if (identity(snapshot).equals(wanted)) {
                return snapshot;
            }
        }
        List<String> known = snapshots.stream()
                .map(snapshot -> snapshot.name() + " (" + identity(snapshot) + ")")
                .toList();
        throw new PosixException(
                Reason.ENOENT,
                "the stream has what changed since snapshot " + wanted + ", which this volume does not have. It has "
                        + (known.isEmpty() ? "none" : String.join(", ", known)));
    }

    /** Checks that the files are those of the base, or makes them so. */
    private void discardChanges(SnapshotRecord base, boolean discards) throws IOException {
        VolumeRollback rollback = new VolumeRollback(metadata, volume.snapshots(), volume.commits());
        // What was written to the fast tier only is a change, too.
        var unused = volume.fastTier().storeAll();
        RollbackEffect effect = rollback.effect(base.name());
        if (effect.records() == 0 && volume.fastTier().isAllInChunks()) {
            leaveFastTier(base);
            return;
        }
        if (!discards) {
            throw new PosixException(
                    Reason.EBUSY,
                    "the volume was changed since snapshot '" + base.name() + "': of its files, " + effect.goneFiles()
                            + " were made, " + effect.changedFiles() + " changed, " + effect.backFiles()
                            + " removed. Keep that in a snapshot first if it is of use; then give it up with"
                            + " 'receive --discard-changes'");
        }
        var unusedEffect = rollback.begin(base.name(), null);
        reopen();
    }

    /** Lets all files lie in chunks only, where they are already: a stream changes recipes. */
    private void leaveFastTier(SnapshotRecord base) throws IOException {
        boolean isUsed;
        try (RecordCursor<RawRecord> raws = metadata.raws().all()) {
            isUsed = raws.next();
        }
        if (isUsed) {
            // A rollback to what is there: it removes the records of the fast tier, and the opening the files.
            volume.committer().commitWith(() -> metadata.putRollback(new RollbackRecord(base.number(), false)));
            reopen();
        }
    }

    // --- giving up

    /**
     * Gives up a snapshot that was not received to its end: the files are those of its base again, or there are none.
     *
     * @throws PosixException ENOENT if none is being received
     */
    public void abort() throws IOException {
        StreamPoint reached = reached();
        if (reached == null) {
            throw new PosixException(Reason.ENOENT, "no snapshot is being received: nothing is to be given up");
        }
        if (reached.base() == null) {
            removeAll(reached);
            return;
        }
        SnapshotRecord base = find(reached.base());
        SnapshotIdentity received = Objects.requireNonNull(metadata.replica()).received();
        volume.committer().checkWritable();
        volume.committer().commit();
        volume.committer().checkRoom(Rollback.effect(metadata, base.number()).recordBytes());
        volume.committer().commitWith(() -> {
            metadata.putRollback(new RollbackRecord(base.number(), false));
            metadata.setReplica(received == null ? null : new ReplicaRecord(received, null));
        });
        reopen();
    }

    /** Removes all files. */
    private void removeAll(StreamPoint reached) throws IOException {
        // Whoever goes on after a crash in between must begin again.
        ReplicaRecord begun = new ReplicaRecord(null, new UnderWay(null, reached.target(), 0, 0));
        change(() -> metadata.setReplica(begun));
        try (CheckFolder scratch = CheckFolder.forReceiving(metadataFolder);
                StateWriter writer = new StateWriter(volume, scratch.scratch(), 0, SnapshotIds.MAX_INODE + 1, begun)) {
            writer.removeAll();
        }
        change(() -> metadata.setReplica(null));
    }

    /**
     * Makes a replica an ordinary volume, whose files programs can change from the next opening on. It can receive
     * again when these changes are given up.
     *
     * @throws PosixException ENOENT if it is no replica; EBUSY if a snapshot is being received
     */
    public void end() throws IOException {
        if (metadata.replica() == null) {
            throw new PosixException(Reason.ENOENT, "the volume is no replica");
        }
        if (reached() != null) {
            throw new PosixException(
                    Reason.EBUSY, "a snapshot is being received: receive it to its end, or give it up with --abort");
        }
        change(() -> metadata.setReplica(null));
    }

    // --- the steps

    /** Notes where the stream begins, durably, before anything is changed. */
    private void begin(Start start) throws IOException {
        StreamPoint point = start.point();
        ReplicaRecord before = metadata.replica();
        UnderWay underWay = new UnderWay(
                point.base(),
                point.target(),
                point.position().inode(),
                point.position().page());
        change(() -> metadata.setReplica(new ReplicaRecord(before == null ? null : before.received(), underWay)));
    }

    /** Notes that what follows must have everything: something is wrong with the stream, and it is not known where. */
    private void beginAgain() throws IOException {
        ReplicaRecord now = Objects.requireNonNull(metadata.replica());
        UnderWay reached = Objects.requireNonNull(now.underWay());
        change(() -> metadata.setReplica(now.with(new UnderWay(reached.base(), reached.target(), 0, 0))));
    }

    private void change(Runnable change) throws IOException {
        volume.committer().checkWritable();
        volume.committer().changes().lock();
        try {
            change.run();
        } finally {
            volume.committer().changes().unlock();
        }
        volume.committer().commit();
    }

    /** What a stream had, to be compared with its last message. */
    private static final class Counts {
        private long removed;
        private long changed;
        private long chunks;
        private long chunkBytes;
    }

    private static void apply(
            StreamReader in, @Nullable StreamWriter answers, StateWriter writer, Counts counts, Progress progress)
            throws IOException {
        StreamMessage message = next(in, writer);
        while (!(message instanceof End)) {
            apply(message, writer, answers, counts);
            progress.at(RECEIVING, in.bytes(), 0);
            message = next(in, writer);
        }
        End end = (End) message;
        End found = new End(counts.removed, counts.changed, counts.chunks, counts.chunkBytes);
        if (!end.equals(found)) {
            throw StateWriter.damaged(end.toString(), found.toString());
        }
    }

    /** Reads a message. If there is none, what was read before becomes a part of the files. */
    private static StreamMessage next(StreamReader in, StateWriter writer) throws IOException {
        try {
            return in.read();
        } catch (IOException e) {
            writer.flush();
            throw e;
        }
    }

    private static void apply(StreamMessage message, StateWriter writer, @Nullable StreamWriter answers, Counts counts)
            throws IOException {
        if (message instanceof Chunks chunks) {
            counts.chunks += chunks.chunks().count();
            counts.chunkBytes += chunks.chunks().bytes();
            writer.add(chunks);
        } else if (message instanceof Pages pages) {
            writer.change(pages);
        } else if (message instanceof Changed changed) {
            counts.changed++;
            writer.put(changed.inode());
        } else if (message instanceof Names names) {
            writer.change(names);
        } else if (message instanceof Attributes attributes) {
            writer.change(attributes);
        } else if (message instanceof Removed removed) {
            counts.removed++;
            writer.remove(removed.inode());
        } else if (message instanceof Offer offer && answers != null) {
            answers.write(new Answer(writer.lacking(offer.chunks())));
            answers.flush();
        } else {
            throw StateWriter.damaged(
                    "a message of a sender", message.getClass().getSimpleName());
        }
    }

    /** Makes the snapshot, and ends that the stream is under way, in one commit. */
    private SnapshotRecord finish(Start start) throws IOException {
        SnapshotIdentity target = start.point().target();
        // Not earlier: nobody else makes inodes until then, and what is given up must not take numbers for ever.
        metadata.skipInodes(start.firstInode());
        volume.snapshots()
                .createCopy(
                        start.name(),
                        start.heldUntilMs(),
                        start.isScheduled(),
                        target,
                        () -> metadata.setReplica(new ReplicaRecord(target, null)));
        return volume.snapshots().get(start.name());
    }

    @Override
    public void close() throws IOException {
        volume.close();
    }
}
