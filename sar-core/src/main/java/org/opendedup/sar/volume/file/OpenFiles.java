package org.opendedup.sar.volume.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.restore.frame.ReadLatencies;
import org.opendedup.sar.restore.frame.ReadLatencies.From;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.posix.TimeStamps;
import org.opendedup.sar.volume.raw.RawFiles;
import org.opendedup.sar.volume.write.FileCommits;
import org.opendedup.sar.volume.write.FileWriter;

/**
 * Opens and closes regular files, and checks the calls on open files before {@link FileReader}, {@link FileWriter},
 * {@link FileRanges} and {@link RangeCopy} carry them out. {@link Volume} documents the calls.
 */
public final class OpenFiles {
    /** The user of openings that belong to none. */
    public static final int NOBODY = 65534;

    private final VolumeContext context;
    private final InstantSource clock;
    private final NodeTable nodes;
    private final FileReader reader;
    private final FileWriter writer;
    private final FileRanges ranges;
    private final RangeCopy copies;
    private final Committer committer;
    private final FileCommits commits;
    private final RawFiles raws;

    public OpenFiles(VolumeContext context, FileRanges ranges) {
        reader = new FileReader(context.collector().uses(), context.restore().latencies());
        this.context = context;
        this.ranges = ranges;
        clock = context.clock();
        nodes = context.nodes();
        writer = context.writer();
        copies = new RangeCopy(context);
        committer = context.committer();
        commits = context.commits();
        raws = context.raws();
    }

    public OpenFile open(long inode, boolean writable, int user) throws IOException {
        if (writable && context.committer().isReadOnly()) {
            // The kernel may write a backing file itself: it must not get one.
            context.committer().checkNotFailed();
        }
        context.openings().increment();
        Node node = nodes.pin(inode);
        if (!node.isRegular()) {
            nodes.unpin(node);
            throw new PosixException(node.isDirectory() ? Reason.EISDIR : Reason.EINVAL, "inode " + inode);
        }
        try {
            if (writable) {
                node.requireChangeable();
            }
            context.writer().intents().checkReadable(inode);
        } catch (IOException e) {
            nodes.unpin(node);
            throw e;
        }
        node.use(context.dirtyBudget(), context.capacity());
        RawFile raw;
        try {
            raw = raws.enter(node, writable, user);
        } catch (IOException | RuntimeException e) {
            node.leave();
            nodes.unpin(node);
            throw e;
        }
        if (raw == null) {
            context.noteOpened(inode, node.size());
        }
        int reported;
        long folder;
        synchronized (node) {
            folder = node.folder;
            node.contents().writers += writable ? 1 : 0;
            reported = node.failuresReported;
        }
        return new OpenFile(node, writable, user, reported, context.restore().streamIn(folder, inode), raw);
    }

    public int read(OpenFile file, long offset, ByteBuffer target) throws IOException {
        file.begin();
        ReadLatencies latencies = context.restore().latencies();
        long beganNanos = latencies.begin();
        try {
            RawFile raw = file.raw();
            if (raw != null) {
                latencies.waits(From.FAST_TIER);
            }
            int length = raw == null
                    ? reader.read(file, offset, target)
                    : raw.backing().read(offset, target);
            context.readBytes().add(length);
            return length;
        } finally {
            latencies.end(beganNanos);
            end(file);
        }
    }

    /** @param touch whether the write sets the file's times */
    public void write(OpenFile file, long offset, ByteBuffer source, boolean touch) throws IOException {
        checkWritable(file);
        int length = source.remaining();
        FileLengths.checkRange(offset, length);
        if (length == 0) {
            return;
        }
        RawFile raw = file.raw();
        if (raw != null) {
            raw.admitWrite(offset, length, file.mayUseReserve());
            raw.grow(() -> raw.backing().write(offset, source));
            context.writtenBytes().add(length);
            return;
        }
        context.collector().admitData(length, context::underWayBytes);
        long now = touch ? TimeStamps.now(clock) : 0;
        writer.write(new FileWriter.Write(file, offset, source, now, file.mayUseReserve(), touch));
        context.writtenBytes().add(length);
    }

    public void allocate(OpenFile file, long offset, long length, boolean keepSize) throws IOException {
        checkChange(file, offset, length);
        RawFile raw = file.raw();
        if (raw != null) {
            raw.admitAllocation(offset, length, file.mayUseReserve());
            raw.grow(() -> raw.backing().allocate(offset, length, keepSize));
            return;
        }
        ranges.allocate(file.node(), offset, offset + length, keepSize, file.mayUseReserve(), TimeStamps.now(clock));
    }

    public void zero(OpenFile file, long offset, long length, boolean keepSize) throws IOException {
        checkChange(file, offset, length);
        RawFile raw = file.raw();
        if (raw != null) {
            if (!keepSize) {
                raw.admitAllocation(offset, length, file.mayUseReserve());
            }
            raw.grow(() -> raw.backing().zero(offset, length, keepSize));
            return;
        }
        ranges.zero(file.node(), offset, offset + length, keepSize, TimeStamps.now(clock));
    }

    private void checkChange(OpenFile file, long offset, long length) throws IOException {
        FileLengths.checkRange(offset, length);
        if (length == 0) {
            throw new PosixException(Reason.EINVAL, "a range of no bytes");
        }
        checkWritable(file);
    }

    private void checkWritable(OpenFile file) throws IOException {
        if (!file.isWritable()) {
            throw new PosixException(Reason.EBADF, "inode " + file.inode() + " was opened for reading");
        }
        committer.checkWritable();
        checkNotFailed(file);
        context.reaper().checkTail(file.inode());
    }

    /** Throws if accepted bytes could not be stored and this was not reported before {@code file} was opened. */
    private static void checkNotFailed(OpenFile file) throws IOException {
        file.node().checkNotFailed(file.failuresKnown());
    }

    public boolean hasWriters(OpenFile file) {
        synchronized (file.node()) {
            return file.node().contents().writers > 0;
        }
    }

    public long seekData(OpenFile file, long offset) throws IOException {
        RawFile raw = file.raw();
        if (raw != null) {
            return raw.backing().seekData(offset);
        }
        return ranges.seekData(file.node(), offset);
    }

    public long seekHole(OpenFile file, long offset) throws IOException {
        RawFile raw = file.raw();
        if (raw != null) {
            return raw.backing().seekHole(offset);
        }
        return ranges.seekHole(file.node(), offset);
    }

    public long copy(OpenFile source, long from, OpenFile target, long to, long length) throws IOException {
        // The length may extend far past the source's end.
        long possible = Math.min(length, Math.max(0, FileLengths.MAX_FILE_BYTES - Math.max(from, to)));
        FileLengths.checkRange(from, possible);
        FileLengths.checkRange(to, possible);
        checkWritable(target);
        if (source.raw() != null || target.raw() != null) {
            throw new PosixException(Reason.EOPNOTSUPP, "bytes on the fast tier are copied, not shared");
        }
        context.reaper().checkTail(source.inode());
        return copies.copy(source.node(), from, target, to, possible, TimeStamps.now(clock));
    }

    public void flush(OpenFile file) throws IOException {
        // Not to a reader: its close(2) would fail although it has read everything, and no fsync would hear of it then.
        if (file.isWritable()) {
            check(file);
        }
    }

    public void check(OpenFile file) throws IOException {
        writer.checkNotWaiting(file.node());
        checkNotFailed(file);
    }

    public void sync(OpenFile file) throws IOException {
        file.begin();
        try {
            store(file);
            if (needsCommit(file)) {
                committer.commit();
            }
            check(file);
        } finally {
            end(file);
        }
    }

    public void store(OpenFile file) throws IOException {
        file.begin();
        try {
            checkNotFailed(file);
            RawFile raw = file.raw();
            if (raw != null) {
                raw.force(file.node()::noteFailure);
                raws.noteForced(raw);
                return;
            }
            commits.secure(file.node());
        } finally {
            end(file);
        }
    }

    public boolean storeAtOnce(OpenFile file) throws IOException {
        file.begin();
        try {
            checkNotFailed(file);
            return file.raw() == null && commits.writer().secureAtOnce(file.node());
        } finally {
            end(file);
        }
    }

    /**
     * Returns whether a file that was stored by {@link #store} is durable only after the next commit. A raw file is
     * durable at once, unless its name, its attributes or its being raw are new.
     */
    public boolean needsCommit(OpenFile file) {
        RawFile raw = file.raw();
        return raw == null || nodes.isDirty(file.node()) || committer.isUnderWay() || !raws.isRecordDurable(raw);
    }

    public boolean isNameDurable(OpenFile file) {
        RawFile raw = file.raw();
        return raw != null && raws.isRecordDurable(raw);
    }

    public void close(OpenFile file) {
        file.reader().close();
        if (file.markClosed()) {
            release(file);
        }
    }

    private void end(OpenFile file) {
        if (file.end()) {
            release(file);
        }
    }

    private void release(OpenFile file) {
        synchronized (file.node()) {
            file.node().contents().writers -= file.isWritable() ? 1 : 0;
        }
        if (file.raw() != null) {
            raws.leave(file.raw(), file.isWritable(), file.user());
        }
        file.node().leave();
        nodes.unpin(file.node());
    }
}
