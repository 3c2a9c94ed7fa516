package org.opendedup.sar.volume.write;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteRanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.ingest.StoreListener;
import org.opendedup.sar.volume.commit.WriteStop;
import org.opendedup.sar.volume.node.DirtyExtents;
import org.opendedup.sar.volume.node.FileIntents;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.store.DeviceSpaces;

/**
 * Stores runs of dirty bytes through the pipeline: takes a run from the dirty bytes, lets readers find it meanwhile,
 * and accounts for what is stored. What could not be stored is dirty again, or is given up and reported with the file.
 * The caller holds the file's storing lock.
 */
final class RunStore {
    /**
     * Approximate maximum length in bytes of a run that is stored at once. Its bytes count as dirty until they are
     * stored.
     */
    private static final long MAX_RUN_BYTES = 4L * IngestPipeline.SEGMENT_BYTES;

    private final IngestPipeline pipeline;
    private final NodeTable nodes;
    private final DirtyFiles dirtyFiles;
    private final DeviceSpaces devices;
    private final WriteStop stop;
    private final LostWrites lost = new LostWrites();

    RunStore(IngestPipeline pipeline, NodeTable nodes, DirtyFiles dirtyFiles, DeviceSpaces devices, WriteStop stop) {
        this.pipeline = pipeline;
        this.nodes = nodes;
        this.dirtyFiles = dirtyFiles;
        this.devices = devices;
        this.stop = stop;
    }

    IngestPipeline pipeline() {
        return pipeline;
    }

    /** Returns the accepted bytes of all files that were given up. */
    LostWrites lost() {
        return lost;
    }

    /**
     * Stores the first run with bytes at or after {@code from}. With {@code minBytes} 1, a run that reaches {@code end}
     * leaves no unfinished chunk, even if more bytes were written after it meanwhile.
     *
     * @return end offset of the stored bytes, or -1 if there was no such run
     */
    long store(Node node, Node.Contents contents, long from, long end, long minBytes) throws IOException {
        Storing storing;
        IngestPipeline.Destination destination;
        synchronized (node) {
            DirtyExtents.Run run = contents.dirty.takeRun(from, minBytes, MAX_RUN_BYTES, node.storedBytes);
            if (run == null) {
                return -1;
            }
            storing = begin(node, contents, run);
            boolean last = minBytes == 1 && (run.end() >= end || !contents.dirty.has(run.end()));
            destination = new IngestPipeline.Destination(node.id, node.storedBytes, contents.cleanCut, last);
        }
        DirtyExtents.Run run = storing.run;
        long stored = run.end();
        boolean failed = true;
        try {
            stored = pipeline.store(run, destination, storing);
            failed = false;
            contents.attempts.succeeded(run.start(), stored);
        } catch (NoSpaceException e) {
            // Nothing is lost: the rest is marked dirty again, and is stored when there is space.
            stored = storing.stored;
            devices.beginShortage(e);
            throw e;
        } catch (WriteFailedException e) {
            // As above: the rest is stored when the disk accepts writes again.
            stored = storing.stored;
            stop.begin(e, true);
            throw e;
        } catch (CorruptionException e) {
            // Trying again is of no use.
            lose(storing, e);
            throw e;
        } catch (IOException e) {
            // A disk could not be read, perhaps only now: the rest is stored by the next attempt.
            if (contents.attempts.failed(storing.stored, System.nanoTime())) {
                lose(storing, e);
            } else {
                stored = storing.stored;
            }
            throw e;
        } catch (RuntimeException | Error e) {
            lose(storing, e);
            throw e;
        } finally {
            finish(storing, stored, failed);
        }
        return stored > run.start() ? stored : -1;
    }

    /**
     * Moves dirty bytes of a file to the fast tier, from the first one on.
     *
     * @return the number of bytes; 0 if there were none, or the fast tier did not take them
     */
    long keep(Node node, Node.Contents contents, ChangeTier tier) {
        Storing storing;
        synchronized (node) {
            DirtyExtents.Run run = contents.dirty.takeSome(MAX_RUN_BYTES);
            if (run == null) {
                return 0;
            }
            storing = begin(node, contents, run);
        }
        DirtyExtents.Run run = storing.run;
        boolean kept = false;
        try {
            kept = tier.keep(node, run, () -> {
                run.ranges().forEach(range -> contents.dropLogged(range.from(), range.to()));
                node.storedBytes = Math.max(node.storedBytes, run.end());
            });
        } finally {
            finish(storing, kept ? run.end() : run.start(), !kept);
        }
        return kept ? run.bytes() : 0;
    }

    /**
     * Takes all dirty bytes of a file if they are the whole file and at most {@code maxBytes}; else returns null. The
     * caller passes the result to the pipeline and then to {@link #finish(Storing, boolean)}.
     */
    @Nullable
    Storing beginWhole(Node node, Node.Contents contents, long maxBytes) {
        synchronized (node) {
            if (contents.cutting || node.storedBytes > contents.dirty.end()) {
                return null;
            }
            DirtyExtents.Run run = contents.dirty.takeWhole(maxBytes);
            return run == null ? null : begin(node, contents, run);
        }
    }

    private Storing begin(Node node, Node.Contents contents, DirtyExtents.Run run) {
        contents.stored = run;
        contents.prepay(run.taken(run.start(), run.end()));
        return new Storing(this, node, contents, run);
    }

    /**
     * Gives a run up that cannot be stored, but for the bytes of it that the intent log has: those were acknowledged.
     * They are dirty again, and stored when that is possible, perhaps after the next mount.
     */
    private void lose(Storing storing, Throwable failure) {
        DirtyExtents.Run run = storing.run;
        Node node = storing.node;
        synchronized (node) {
            FileIntents intents = storing.contents.intents;
            storing.kept = intents == null ? List.of() : intents.within(storing.stored, run.end());
        }
        node.noteFailure(failure);
        long kept = storing.kept.stream().mapToLong(ByteRanges.Range::bytes).sum();
        if (kept < run.end() - storing.stored) {
            lost.note(node.id, failure);
        }
    }

    /** Ends what {@link #beginWhole} began. Bytes that are not stored are dirty again. */
    void finish(Storing storing, boolean failed) {
        finish(storing, storing.stored, failed);
    }

    /**
     * Removes the run from what readers see in memory. Puts the part that was not stored back into the dirty bytes:
     * usually its unfinished last chunk.
     */
    private void finish(Storing storing, long stored, boolean failed) {
        Node node = storing.node;
        Node.Contents contents = storing.contents;
        DirtyExtents.Run run = storing.run;
        synchronized (node) {
            contents.stored = null;
            contents.completions++;
            contents.cleanCut = !failed && stored < run.end() && stored > run.start() ? stored : -1;
            if (stored < run.end()) {
                contents.prepay(-contents.dirty.putBack(run, stored, run.end()));
            }
            for (ByteRanges.Range range : storing.kept) {
                contents.prepay(-contents.dirty.putBack(run, range.from(), range.to()));
            }
            contents.settleAll();
            run.release();
            if (contents.dirty.isEmpty()) {
                dirtyFiles.remove(node);
                node.dropIfIdle();
            }
        }
    }

    /** Records a stored part of a run. Called under the change lock, in the same commit as the recipe. */
    private void noteStored(Storing storing, long start, long to) {
        Node node = storing.node;
        DirtyExtents.Run run = storing.run;
        synchronized (node) {
            storing.contents.settle(run.taken(start, to));
            storing.contents.dropLogged(Math.max(start, run.start()), Math.min(to, run.end()));
            node.dropChanged(Math.max(start, run.start()), Math.min(to, run.end()));
            node.storedBytes = Math.max(node.storedBytes, Math.min(to, run.end()));
        }
        nodes.markDirty(node);
    }

    /** A run that is being stored, and the offset up to which it is. */
    static final class Storing implements StoreListener {
        private final RunStore store;
        private final Node node;
        private final Node.Contents contents;
        private final DirtyExtents.Run run;
        private long stored;
        /** Bytes of a run that is given up that are dirty again, because the intent log has them. */
        private List<ByteRanges.Range> kept = List.of();

        private Storing(RunStore store, Node node, Node.Contents contents, DirtyExtents.Run run) {
            this.store = store;
            this.node = node;
            this.contents = contents;
            this.run = run;
            stored = run.start();
        }

        Node node() {
            return node;
        }

        DirtyExtents.Run run() {
            return run;
        }

        @Override
        public void stored(long from, long to) {
            store.noteStored(this, from, to);
            stored = Math.max(stored, Math.min(to, run.end()));
        }
    }
}
