package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.restore.RestoreJournal.State;
import org.opendedup.sar.sdfs.restore.RestoreStatus.Phase;
import org.opendedup.sar.volume.Volume;

/**
 * One restore of a file or folder, in the order of the containers. What it needs beside the destination lies in a folder next to
 * it, which goes when all is done. For one use: {@link #run} by one thread; the others may be called by any.
 *
 * <p>Begun again, it walks the tree once more. If that is still the same, files that were made have their places filled from the
 * container on that the journal names: what was written before is durable. The tree is the same if its entries and the references
 * of all its recipes are. So a file that was defragmented meanwhile is another one: a fresh copy may lie in a container below the
 * one that the journal names.
 *
 * <p>Others may own folders above the destination, and rename or replace what is there at any time. So the folder above is opened
 * once, and from there on all is done by descriptors; the destination itself lets nobody else in until the very last step, and after
 * that step nothing in it is touched any more, by a restore that goes on neither: see docs/adr/0017.
 */
public final class TreeRestore {
    /** Written again at most after a crash: so many seconds' worth. */
    private static final long MILESTONE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Volume volume;
    private final String source;
    private final Path target;
    private final Path parent;
    private final PosixCalls posix;
    private final long milestoneNanos;
    private final RestoreProgress progress = new RestoreProgress();
    private volatile boolean stopping;

    /**
     * @param source path from the volume's root, for the journal and messages
     * @param target where it goes: an absolute path that must not exist, or be an empty folder, unless an earlier restore of the
     *     same was not finished
     */
    public TreeRestore(Volume volume, String source, Path target) throws IOException {
        this(volume, source, target, MILESTONE_NANOS, new PosixCalls());
    }

    /** As above, with more or fewer milestones. */
    TreeRestore(Volume volume, String source, Path target, long milestoneNanos, PosixCalls posix) throws IOException {
        this.posix = posix;
        this.milestoneNanos = milestoneNanos;
        this.volume = volume;
        this.source = source;
        this.target = target.normalize();
        @Nullable Path above = this.target.getParent();
        if (!target.isAbsolute() || above == null) {
            throw new IOException(target + " is no place to restore to");
        }
        parent = above;
    }

    /**
     * Restores.
     *
     * @param inode the tree's root, in use by the caller
     * @throws InterruptedIOException if it was stopped; begun again, it goes on
     */
    public void run(long inode) throws IOException {
        String name = Objects.requireNonNull(target.getFileName()).toString();
        String workName = WorkFolder.nameFor(name);
        try (Handle folder = TrustedPath.open(posix, parent);
                WorkFolder work = new WorkFolder(
                        posix, folder, bytes(workName), parent.resolve(workName).toString());
                DestinationRoot root = new DestinationRoot(posix, folder, work, bytes(name), target.toString())) {
            restore(inode, work, root);
            progress.phase(Phase.DONE);
        } finally {
            progress.ended();
        }
    }

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    /** Has it stop at the next milestone, soon. */
    public void stop() {
        stopping = true;
    }

    public RestoreStatus status() {
        return progress.status();
    }

    private void restore(long inode, WorkFolder work, DestinationRoot root) throws IOException {
        State state = begin(work, root);
        // The tree is to be of one moment, as near as that can be had while it is in use.
        volume.sync();
        String howToBeginAnew = "to begin anew, remove " + target + " and " + work;
        RestoreRun run = new RestoreRun(
                volume, source, root, work, posix, progress, () -> stopping, milestoneNanos, howToBeginAnew);
        TreeEntry entry = TreeWalk.root(volume, inode);
        if (!state.onlyRootLeft()) {
            run.restore(inode, state);
        } else if (entry.isDirectory()) {
            run.finishRoot(entry, state);
        } else if (root.isPublished(entry, state.root())) {
            run.foundDone(state);
        } else {
            // The source may be another file by now, whose rights are not for these bytes: all is compared once more.
            run.restore(inode, state);
        }
        work.delete();
    }

    /** Where to begin: a restore that an earlier one has left is gone on with. */
    private State begin(WorkFolder work, DestinationRoot root) throws IOException {
        State begun = State.begin(volume.identity().toString(), source);
        boolean hasFolder = work.open();
        State earlier = hasFolder ? work.journal().read().orElse(null) : null;
        if (earlier == null) {
            if (!root.isFree()) {
                if (hasFolder) {
                    // Of a restore that was ended when it had deleted its journal, or before it had one.
                    work.delete();
                }
                throw new IOException(target + " exists already; a restore makes it anew");
            }
            if (!hasFolder) {
                work.make();
            }
            work.journal().write(begun);
            return begun;
        }
        String howToBeginAnew = "; to begin anew, remove " + target + " and " + work;
        if (!earlier.isOfSame(begun)) {
            throw new IOException(target + " is being restored from another file or volume" + howToBeginAnew);
        }
        if (earlier.tree().isEmpty() && !root.isFree()) {
            // What is there may be of a tree that has changed since.
            throw new IOException(
                    "the restore to " + target + " was ended before all files were found" + howToBeginAnew);
        }
        return earlier;
    }
}
