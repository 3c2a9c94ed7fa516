package org.opendedup.sar.volume.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.ingest.IngestPipeline.SmallFile;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.commit.WriteStop;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores small files together, many in one segment: those of a folder one after another, in the order of their creation
 * (SiLo, section 3.2, P1). So each costs a part of a segment, not a segment; files that are mostly read together lie in
 * few frames; and a later copy of the folder makes segments like these, whoever else writes at the same time.
 *
 * <p>What cannot be stored this way, for whatever reason, stays dirty, and is stored file by file.
 */
public final class SmallFiles {
    private static final Logger log = LoggerFactory.getLogger(SmallFiles.class);

    /** Maximum length of a small file, in bytes: the size of a frame before compression. */
    public static final long MAX_FILE_BYTES = 64 << 10;

    /** Maximum number of files that are locked at the same time. */
    private static final int MAX_GROUP = 1024;

    /** Maximum number of bytes of these files: those of one segment. */
    private static final long MAX_GROUP_BYTES = IngestPipeline.SEGMENT_BYTES;

    /** Number of the stream of all small files for the containers: that of the root directory, which no file has. */
    private static final long STREAM = Inode.ROOT;

    private final RunStore runs;
    private final NodeTable nodes;
    private final DeviceSpaces devices;
    private final WriteStop stop;

    SmallFiles(RunStore runs, NodeTable nodes, DeviceSpaces devices, WriteStop stop) {
        this.runs = runs;
        this.nodes = nodes;
        this.devices = devices;
        this.stop = stop;
    }

    /** Stores those of the files that are small, whole in memory and not being stored or changed by another thread. */
    void store(Collection<Node> files) {
        if (stop.isStopped()) {
            return;
        }
        Group group = new Group();
        for (Node node : byFolder(files)) {
            if (group.isFull() && !group.store()) {
                return;
            }
            group.add(node);
        }
        group.store();
    }

    /** Returns the files folder by folder; those of an unknown folder come first. */
    private static List<Node> byFolder(Collection<Node> files) {
        record Placed(Node node, long folder) {}
        List<Placed> sorted = new ArrayList<>(files.size());
        for (Node node : files) {
            synchronized (node) {
                sorted.add(new Placed(node, node.folder));
            }
        }
        sorted.sort(Comparator.comparingLong(Placed::folder).thenComparingLong(placed -> placed.node.id));
        return sorted.stream().map(Placed::node).toList();
    }

    /** Files that are stored together; their storing locks are held. */
    private final class Group {
        private final List<RunStore.Storing> taken = new ArrayList<>();
        private final List<Lock> locks = new ArrayList<>();
        private long bytes;

        boolean isFull() {
            return taken.size() >= MAX_GROUP || bytes > MAX_GROUP_BYTES - MAX_FILE_BYTES;
        }

        /** Adds a file if it can be stored this way. Waits for no lock: other threads lock in another order. */
        void add(Node node) {
            Node.Contents contents;
            synchronized (node) {
                contents = node.contents;
            }
            if (contents == null || !contents.storing.tryLock()) {
                return;
            }
            RunStore.Storing storing =
                    contents.attempts.haveFailed() ? null : runs.beginWhole(node, contents, MAX_FILE_BYTES);
            if (storing == null) {
                contents.storing.unlock();
                return;
            }
            taken.add(storing);
            locks.add(contents.storing);
            bytes += storing.run().end();
        }

        /** Stores the files, and begins an empty group. Returns false if nothing can be stored now. */
        boolean store() {
            boolean failed = true;
            try {
                runs.pipeline().storeTogether(files(), STREAM);
                failed = false;
            } catch (NoSpaceException e) {
                devices.beginShortage(e);
            } catch (WriteFailedException e) {
                stop.begin(e, true);
            } catch (IOException | RuntimeException e) {
                log.debug("{} files are stored one by one", taken.size(), e);
            } finally {
                finish(failed);
            }
            return !failed;
        }

        private List<SmallFile> files() {
            List<SmallFile> files = new ArrayList<>(taken.size());
            for (RunStore.Storing storing : taken) {
                files.add(new SmallFile(storing.node().id, storing.run(), false, storing));
            }
            return files;
        }

        private void finish(boolean failed) {
            for (int i = 0; i < taken.size(); i++) {
                runs.finish(taken.get(i), failed);
                locks.get(i).unlock();
            }
            nodes.evict(taken.stream().map(RunStore.Storing::node).toList());
            taken.clear();
            locks.clear();
            bytes = 0;
        }
    }
}
