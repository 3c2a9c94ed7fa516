package org.opendedup.sar.volume.send;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.SnapshotIdentity;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.send.ChunkLoader.DamagedChunkException;
import org.opendedup.sar.volume.store.CheckFolder;
import org.opendedup.sar.volume.stream.StreamKeys;
import org.opendedup.sar.volume.stream.StreamMessage.End;
import org.opendedup.sar.volume.stream.StreamMessage.Greeting;
import org.opendedup.sar.volume.stream.StreamMessage.Start;
import org.opendedup.sar.volume.stream.StreamPoint;
import org.opendedup.sar.volume.stream.StreamPosition;
import org.opendedup.sar.volume.stream.StreamWriter;

/**
 * Sends a snapshot of an open volume as a stream (docs/adr/0121), all of it or what differs from an earlier snapshot,
 * while the volume is in use. One at a time; for one thread.
 *
 * <p>Memory: two windows of 8 MiB, what a restore in the order of the containers uses, 8 MiB for the chunks that were
 * sent, as much for what containers list, 6 for the records that differ.
 */
public final class SnapshotSend {
    private final VolumeConfig config;
    private final MetadataStore metadata;
    private final VolumeContext context;
    private final @Nullable StreamKeys keys;
    private final Progress progress;
    private volatile @Nullable StreamWriter writing;

    /** @param keys seal the stream; null: the volume is not encrypted */
    public SnapshotSend(VolumeConfig config, VolumeContext context, @Nullable StreamKeys keys, Progress progress) {
        this.config = config;
        this.context = context;
        this.keys = keys;
        this.progress = progress;
        metadata = context.metadata();
        if ((config.keys() == null) != (keys == null)) {
            throw new IllegalArgumentException("a stream is sealed if its volume is, and only then");
        }
    }

    /**
     * Returns the point at which the stream of a snapshot begins. ENOENT.
     *
     * @param base name of an earlier snapshot that the receiver has; null: it has none
     * @throws IOException if that is not an earlier one
     */
    public StreamPoint point(String snapshot, @Nullable String base) throws IOException {
        SnapshotRecord target = context.snapshots().get(snapshot);
        SnapshotRecord from = base == null ? null : context.snapshots().get(base);
        if (from != null && from.number() >= target.number()) {
            throw new IOException("'" + base + "' is not an earlier snapshot than '" + snapshot + "'");
        }
        return new StreamPoint(identity(target), from == null ? null : identity(from), StreamPosition.START);
    }

    private SnapshotIdentity identity(SnapshotRecord record) {
        return record.identity(metadata.header().volume());
    }

    /** Returns a snapshot; null if the volume has none of this identity. */
    private @Nullable SnapshotRecord find(SnapshotIdentity identity) {
        return context.snapshots().list().stream()
                .filter(record -> identity(record).equals(identity))
                .findFirst()
                .orElse(null);
    }

    private SnapshotRecord require(SnapshotIdentity identity) throws IOException {
        SnapshotRecord found = find(identity);
        if (found == null) {
            throw new IOException("the volume has no snapshot " + identity + " (volume, number, time)");
        }
        return found;
    }

    /**
     * Writes the stream that begins at a point, without an answer of the receiver.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     * @throws IOException if it cannot be written, if a chunk is damaged, or if a snapshot was deleted meanwhile
     */
    public SendReport run(StreamPoint point, OutputStream out) throws IOException {
        return send(point, out, null);
    }

    /**
     * Sends a snapshot to a receiver that answers: what it lacks, from where it stopped. If the receiver has a part of
     * another snapshot, the rest of that one is sent, as the report says.
     *
     * @param base name of an earlier snapshot that it has; null: the newest one that it has
     * @param out closed by this when everything is written
     * @throws IOException as of {@link #run(StreamPoint, OutputStream)}, and if the receiver refuses
     */
    public SendReport run(String snapshot, @Nullable String base, OutputStream out, InputStream in) throws IOException {
        StreamPoint asked = point(snapshot, base);
        try (Answers answers = new Answers(in, this::checkStopped)) {
            Greeting greeting = answers.greeting();
            if (greeting.snapshots().contains(asked.target())) {
                return new SendReport(snapshot, "", true, 0, 0, 0, 0, 0);
            }
            StreamPoint point = pointFor(asked, greeting);
            SendReport report = send(point, out, answers);
            // A receiver may wait for another stream: this is the end.
            out.close();
            answers.awaitReceived();
            return report;
        }
    }

    private void checkStopped() throws InterruptedIOException {
        progress.at("the receiver, waited for", 0, 0);
    }

    private StreamPoint pointFor(StreamPoint asked, Greeting greeting) throws IOException {
        if (greeting.pageBytes() != metadata.header().pageBytes() || greeting.hash() != ContentHash.SHA_256) {
            throw new IOException("the receiver has pages of " + greeting.pageBytes() + " bytes and " + greeting.hash()
                    + ", this volume " + metadata.header().pageBytes() + " and " + ContentHash.SHA_256);
        }
        StreamPoint reached = greeting.reached();
        if (reached != null) {
            SnapshotIdentity base = reached.base();
            if (find(reached.target()) == null || (base != null && find(base) == null)) {
                throw new IOException(
                        "the receiver has a part of a snapshot that this volume does not have any more, or whose"
                                + " earlier one, since which it is sent, this volume does not have: let it go back"
                                + " (receive --abort)");
            }
            return reached;
        }
        Set<SnapshotIdentity> known = new HashSet<>(greeting.snapshots());
        if (asked.base() != null) {
            if (!known.contains(asked.base())) {
                throw new IOException("the receiver does not have the snapshot that is named with --since");
            }
            return asked;
        }
        return known.isEmpty() ? asked : new StreamPoint(asked.target(), newestCommon(asked, known), asked.position());
    }

    private SnapshotIdentity newestCommon(StreamPoint asked, Set<SnapshotIdentity> known) throws IOException {
        long target = require(asked.target()).number();
        List<SnapshotRecord> all = context.snapshots().list();
        for (int i = all.size() - 1; i >= 0; i--) {
            if (all.get(i).number() < target && known.contains(identity(all.get(i)))) {
                return identity(all.get(i));
            }
        }
        throw new IOException("the receiver has none of the snapshots of this volume that are older than this one:"
                + " send to a new volume");
    }

    private SendReport send(StreamPoint point, OutputStream out, @Nullable Answers answers) throws IOException {
        SnapshotRecord target = require(point.target());
        SnapshotIdentity base = point.base();
        SnapshotRecord from = base == null ? null : require(base);
        // So that every chunk of the snapshot is in a container with a list.
        context.containers().endAll();
        context.committer().commit();
        try (Pins.Pin pin = context.collector().pins().pin();
                CheckFolder folder = CheckFolder.forSending(config.locations().metadata());
                StreamWriter writer = new StreamWriter(out, keys);
                WindowSender windows = new WindowSender(
                        writer,
                        answers,
                        new ChunkLoader(
                                context.containers(), context.restore(), folder.directory(), this::checkStopped),
                        this::checkStopped)) {
            writing = writer;
            windows.start(new Start(
                    point,
                    metadata.header().pageBytes(),
                    ContentHash.SHA_256,
                    target.name(),
                    target.heldUntilMs(),
                    target.isScheduled(),
                    target.firstInode(),
                    target.logicalBytes(),
                    target.files()));
            SnapshotView view = new SnapshotView(metadata, target.number());
            StreamBuilder builder =
                    new StreamBuilder(metadata.counts(), new SentChunks(), windows::isListed, windows::send);
            try (DifferenceWalk walk = new DifferenceWalk(
                    view,
                    from == null ? null : new SnapshotView(metadata, from.number()),
                    point.position(),
                    builder,
                    folder.directory(),
                    config.keys(),
                    progress,
                    target.logicalBytes())) {
                walk.run();
            }
            End end = windows.end(builder.removedInodes(), builder.changedInodes());
            return new SendReport(
                    target.name(),
                    from == null ? "" : from.name(),
                    false,
                    end.changed(),
                    end.removed(),
                    end.chunks(),
                    end.chunkBytes(),
                    writer.bytes());
        } catch (DamagedChunkException e) {
            throw new IOException(
                    "a chunk of " + new SnapshotPath(metadata, target.number()).of(e.inode()) + " cannot be read: "
                            + e.getMessage() + ". Nothing wrong was sent. Heal the volume, or delete the file and make"
                            + " another snapshot",
                    e);
        }
    }

    /** Returns the bytes of the stream that were written until now; any thread may ask. */
    public long streamBytes() {
        StreamWriter writer = writing;
        return writer == null ? 0 : writer.bytes();
    }
}
