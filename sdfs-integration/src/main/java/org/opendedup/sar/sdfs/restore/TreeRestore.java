package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.handle.Handle;
import org.opendedup.sar.io.handle.TrustedPath;
import org.opendedup.sar.sdfs.restore.RestoreJournal.State;
import org.opendedup.sar.sdfs.restore.RestoreStatus.Phase;
import org.opendedup.sar.volume.Volume;

/**
 * A restore of one file or folder, in the order of the containers. Its work files are in a folder next to the
 * destination; that folder is deleted when all is done. For one use: one thread calls {@link #run}; any thread may call
 * the other methods.
 *
 * <p>A restart walks the tree again, and continues if the same entries are there. The files that were made are filled
 * starting with the container that the journal names: everything written earlier is durable. If the references of any
 * file have changed, they are filled from the first container: a program wrote to a file, or its chunks were stored
 * again, and a fresh copy may be in a container below the one that the journal names. Owners, modes and times are set
 * at the end in any case.
 *
 * <p>Other users may own folders above the destination, and may rename or replace entries there at any time. So the
 * folder above is opened once, and everything after that uses descriptors. No other user has access to the destination
 * until the very last step. After that step nothing in it is touched, also not by a resumed restore: see docs/adr/0017.
 */
public final class TreeRestore {
    /** Time between two milestones, in nanoseconds; after a crash, at most the work of this time is repeated. */
    private static final long MILESTONE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Volume volume;
    private final String source;
    private final Path target;
    private final Path parent;
    private final Libc posix;
    private final long milestoneNanos;
    private final RestoreProgress progress = new RestoreProgress();
    private final RestoreStop stop;

    /**
     * @param source path from the volume's root, for the journal and messages
     * @param target destination: an absolute path that must not exist, or be an empty folder, unless an earlier restore
     *     of the same source was not finished
     */
    public TreeRestore(Volume volume, String source, Path target) throws IOException {
        this(volume, source, target, MILESTONE_NANOS, new Libc());
    }

    /** Makes a restore with another time between milestones, in nanoseconds. */
    TreeRestore(Volume volume, String source, Path target, long milestoneNanos, Libc posix) throws IOException {
        this.posix = posix;
        this.milestoneNanos = milestoneNanos;
        this.volume = volume;
        stop = new RestoreStop(volume);
        this.source = source;
        this.target = target.normalize();
        @Nullable Path above = this.target.getParent();
        if (!target.isAbsolute() || above == null) {
            throw new IOException(target + " is no place to restore to");
        }
        parent = above;
    }

    /**
     * Restores the tree.
     *
     * @param inode the tree's root, in use by the caller
     * @throws InterruptedIOException if it was stopped; a restart continues it
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

    /** Reports that the volume cannot store all that was written. It is restored as it is read. */
    public void notStored(IOException why) {
        progress.notStored(String.valueOf(why.getMessage()));
    }

    /** Makes the restore stop soon, at the next milestone. */
    public void stop() {
        stop.stop();
    }

    /**
     * Lets the volume collect and heal again, for a restore that was stopped and does not end, because its destination
     * does not answer.
     */
    public void abandon() {
        stop.abandon();
    }

    public RestoreStatus status() {
        return progress.status();
    }

    private void restore(long inode, WorkFolder work, DestinationRoot root) throws IOException {
        State state = begin(work, root);
        storeWhatWasWritten();
        String howToBeginAnew = "to begin again, remove " + target + " and " + work;
        RestoreRun run =
                new RestoreRun(volume, source, root, work, posix, progress, stop, milestoneNanos, howToBeginAnew);
        TreeEntry entry = TreeWalk.root(volume, inode);
        if (!state.onlyRootLeft()) {
            run.restore(inode, state);
        } else if (entry.isDirectory()) {
            run.finishRoot(entry, state);
        } else if (root.isPublished(entry, state.root())) {
            run.foundDone(state);
        } else {
            // The source may have become another file, whose rights must not apply to these bytes: compare everything
            // again.
            run.restore(inode, state);
        }
        work.delete();
    }

    /**
     * Makes the tree as close to one point in time as is possible while it is in use. A volume that cannot store what
     * it has, because its disk fails or is full, can be read, and is restored as it is read.
     */
    private void storeWhatWasWritten() throws InterruptedIOException {
        try {
            volume.sync();
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            notStored(e);
        }
    }

    /** Returns the state to begin with; an unfinished earlier restore is continued. */
    private State begin(WorkFolder work, DestinationRoot root) throws IOException {
        State begun = State.begin(volume.identity().toString(), source);
        boolean hasFolder = work.open();
        State earlier = hasFolder ? work.journal().read().orElse(null) : null;
        if (earlier == null) {
            if (!root.isFree()) {
                if (hasFolder) {
                    // Left from a restore that was interrupted after it deleted its journal, or before it had one.
                    work.delete();
                }
                throw new IOException(target + " exists already; a restore must make it");
            }
            if (!hasFolder) {
                work.make();
            }
            work.journal().write(begun);
            return begun;
        }
        String howToBeginAnew = "; to begin again, remove " + target + " and " + work;
        if (!earlier.isOfSame(begun)) {
            throw new IOException(target + " is being restored from another file or volume" + howToBeginAnew);
        }
        if (earlier.tree().isEmpty() && !root.isFree()) {
            // What exists there may belong to a tree that has changed since.
            throw new IOException(
                    "the restore to " + target + " was ended before all files were found" + howToBeginAnew);
        }
        return earlier;
    }
}
