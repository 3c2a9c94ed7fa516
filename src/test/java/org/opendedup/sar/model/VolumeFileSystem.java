package org.opendedup.sar.model;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.metadata.quota.QuotaState;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.QuotaId.Kind;
import org.opendedup.sar.volume.TreeDigest;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/** A volume, and how to open it again. */
public final class VolumeFileSystem implements FileSystem {
    private final Opener opener;
    private final Checker checker;
    private Volume volume;
    private long lastInode;
    /** What snapshots showed when they were made. */
    private final Map<String, Map<String, String>> snapshots = new TreeMap<>();

    private int lastSnapshot;

    /** Opens the volume, any number of times. */
    @FunctionalInterface
    public interface Opener {
        Volume open() throws IOException;
    }

    /** Recounts a volume's references and searches other contradictions. Returns one line for each. */
    @FunctionalInterface
    public interface Checker {
        List<String> check(Volume volume) throws IOException;
    }

    public VolumeFileSystem(Opener opener, Checker checker) throws IOException {
        this.opener = opener;
        this.checker = checker;
        volume = opener.open();
    }

    @Override
    public Attributes lookup(long directory, byte[] name) throws IOException {
        return volume.lookup(directory, name);
    }

    @Override
    public void forget(long inode, long references) {
        volume.forget(inode, references);
    }

    @Override
    public Attributes attributes(long inode) throws IOException {
        return volume.attributes(inode);
    }

    @Override
    public Attributes change(long inode, AttributeChange change) throws IOException {
        return volume.change(inode, change);
    }

    @Override
    public Attributes makeNode(long directory, byte[] name, int mode, int device, Owner owner) throws IOException {
        return made(volume.makeNode(directory, name, mode, device, owner));
    }

    private Attributes made(Attributes attributes) {
        lastInode = Math.max(lastInode, attributes.inode());
        return attributes;
    }

    /**
     * Migrates some of the raw files that nobody uses.
     *
     * @return how many
     */
    public int migrate(Random random) throws IOException {
        int migrated = 0;
        for (long inode = Inode.ROOT + 1; inode <= lastInode; inode++) {
            if (random.nextBoolean()) {
                try {
                    migrated += volume.fastTier().migrate(inode) ? 1 : 0;
                } catch (PosixException e) {
                    // It is in use, no file, or gone.
                    continue;
                }
            }
        }
        return migrated;
    }

    /**
     * Compares all snapshots with what the volume showed when they were made; then deletes some, and makes one.
     *
     * @return how many were compared
     */
    public int compareSnapshots(Random random) throws IOException {
        for (Map.Entry<String, Map<String, String>> each : snapshots.entrySet()) {
            Map<String, String> found = TreeDigest.of(volume, TreeDigest.snapshotRoot(volume, each.getKey()));
            if (!found.equals(each.getValue())) {
                throw new AssertionError(each.getKey() + " shows " + found + " instead of " + each.getValue());
            }
        }
        int compared = snapshots.size();
        for (String name : List.copyOf(snapshots.keySet())) {
            if (random.nextInt(3) == 0) {
                snapshots.remove(name);
                volume.snapshots().delete(name);
            }
        }
        String name = "snapshot" + ++lastSnapshot;
        try {
            volume.snapshots().create(name, 0, false);
        } catch (PosixException e) {
            // A raw file may be open for writing.
            if (e.reason() != PosixException.Reason.EBUSY) {
                throw e;
            }
            return compared;
        }
        // A file without the bytes that are not stored has other blocks, but the digest does not look at these.
        snapshots.put(name, TreeDigest.of(volume, Inode.ROOT));
        return compared;
    }

    @Override
    public Attributes makeUnnamed(long directory, int mode, Owner owner) throws IOException {
        return made(volume.makeUnnamed(directory, mode, owner));
    }

    @Override
    public Attributes makeDirectory(long directory, byte[] name, int mode, Owner owner) throws IOException {
        return volume.makeDirectory(directory, name, mode, owner);
    }

    @Override
    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner owner) throws IOException {
        return volume.makeSymbolicLink(directory, name, target, owner);
    }

    @Override
    public byte[] readSymbolicLink(long inode) throws IOException {
        return volume.readSymbolicLink(inode);
    }

    @Override
    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        return volume.link(inode, directory, name);
    }

    @Override
    public void unlink(long directory, byte[] name) throws IOException {
        volume.unlink(directory, name);
    }

    @Override
    public void removeDirectory(long directory, byte[] name) throws IOException {
        volume.removeDirectory(directory, name);
    }

    @Override
    public void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
            throws IOException {
        volume.rename(directory, name, newDirectory, newName, mode);
    }

    @Override
    public void renameLeavingWhiteout(long directory, byte[] name, long newDirectory, byte[] newName, Owner owner)
            throws IOException {
        volume.renameLeavingWhiteout(directory, name, newDirectory, newName, RenameMode.REPLACE, owner);
    }

    @Override
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        volume.list(directory, cookie, withAttributes, visitor);
    }

    @Override
    public Handle open(long inode, boolean writable) throws IOException {
        return new VolumeHandle(volume, volume.open(inode, writable));
    }

    /**
     * Arranges chunks for a disk with short seeks, and gives all garbage back. Returns the number of containers that
     * were removed or written anew.
     */
    public long collect() throws IOException {
        volume.maintenance()
                .arrange(new ArrangementLimits(1, 1), DiskModel.configured(0.2, 100_000_000), Progress.NONE);
        CollectionReport report =
                volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
        return report.removed() + report.rewritten();
    }

    @Override
    public void sync() throws IOException {
        volume.sync();
    }

    @Override
    public void chargeFolder(long inode) throws IOException {
        var unused = volume.quotas().setFolder(inode, UnaryOperator.identity(), (step, done, of) -> {});
    }

    @Override
    public List<String> usage() throws IOException {
        try {
            volume.context().reaper().freed().get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IOException(e);
        }
        List<String> lines = new ArrayList<>();
        List<QuotaState> states = volume.quotas().states().stream()
                .filter(state -> state.files() > 0)
                .toList();
        states.stream()
                .filter(state -> state.id().kind() != Kind.PROJECT)
                .map(state -> state.id() + ": " + state.files())
                .sorted()
                .forEach(lines::add);
        states.stream()
                .filter(state -> state.id().kind() == Kind.PROJECT)
                .map(QuotaState::files)
                .sorted()
                .forEach(files -> lines.add("folder: " + files));
        return lines;
    }

    @Override
    public byte[] extendedAttribute(long inode, byte[] name) throws IOException {
        return volume.extendedAttribute(inode, name);
    }

    @Override
    public void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException {
        volume.setExtendedAttribute(inode, name, value, mode);
    }

    @Override
    public void removeExtendedAttribute(long inode, byte[] name) throws IOException {
        volume.removeExtendedAttribute(inode, name);
    }

    @Override
    public List<byte[]> extendedAttributes(long inode) throws IOException {
        return volume.extendedAttributes(inode);
    }

    /** Number of inodes with references. */
    public long inodesInUse() throws IOException {
        return volume.statistics().inodesInUse();
    }

    @Override
    public void remount() throws IOException {
        if (inodesInUse() != 0) {
            throw new AssertionError(inodesInUse() + " inodes are in use, and all were forgotten");
        }
        if (snapshots.isEmpty()) {
            volume.close();
            volume = opener.open();
        } else {
            rollBackAndForth();
        }
    }

    /** Rolls the volume back to a snapshot, and to what it was before. */
    private void rollBackAndForth() throws IOException {
        String back = "before" + ++lastSnapshot;
        Map.Entry<String, Map<String, String>> to =
                List.copyOf(snapshots.entrySet()).get(lastSnapshot % snapshots.size());
        Map<String, String> before = TreeDigest.of(volume, Inode.ROOT);
        if (rollBack(to.getKey(), back, to.getValue())) {
            snapshots.put(back, before);
            rollBack(back, null, before);
        }
    }

    /** Returns whether the state was another one. */
    private boolean rollBack(String to, @Nullable String before, Map<String, String> expected) throws IOException {
        boolean isOther = !volume.rollback().begin(to, before).isNone();
        volume.close();
        volume = opener.open();
        Map<String, String> found = TreeDigest.of(volume, Inode.ROOT);
        if (!found.equals(expected)) {
            throw new AssertionError("after a rollback to " + to + " it shows " + found + " instead of " + expected);
        }
        return isOther;
    }

    @Override
    public List<String> problems() throws IOException {
        return checker.check(volume);
    }

    @Override
    public void close() throws IOException {
        volume.close();
    }

    private record VolumeHandle(Volume volume, OpenFile file) implements Handle {
        @Override
        public int read(long offset, ByteBuffer target) throws IOException {
            return volume.read(file, offset, target);
        }

        @Override
        public void write(long offset, ByteBuffer source) throws IOException {
            volume.write(file, offset, source);
        }

        @Override
        public void allocate(long offset, long length, boolean keepSize) throws IOException {
            volume.allocate(file, offset, length, keepSize);
        }

        @Override
        public void zero(long offset, long length, boolean keepSize) throws IOException {
            volume.zero(file, offset, length, keepSize);
        }

        @Override
        public long seekData(long offset) throws IOException {
            return volume.seekData(file, offset);
        }

        @Override
        public long seekHole(long offset) throws IOException {
            return volume.seekHole(file, offset);
        }

        @Override
        public long copy(long from, Handle target, long to, long length) throws IOException {
            try {
                return volume.copy(file, from, ((VolumeHandle) target).file, to, length);
            } catch (PosixException e) {
                if (e.reason() != PosixException.Reason.EOPNOTSUPP) {
                    throw e;
                }
                return copyAsTheKernelDoes(from, (VolumeHandle) target, to, (int) length);
            }
        }

        private long copyAsTheKernelDoes(long from, VolumeHandle target, long to, int length) throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate(length);
            int read = volume.read(file, from, bytes);
            if (target.file.inode() == file.inode() && read > 0 && from < to + read && to < from + read) {
                throw new PosixException(PosixException.Reason.EINVAL, "the ranges overlap");
            }
            volume.write(target.file, to, bytes.flip());
            return read;
        }

        @Override
        public void flush() throws IOException {
            volume.flush(file);
        }

        @Override
        public void sync(boolean dataOnly) throws IOException {
            volume.sync(file);
        }

        @Override
        public void close() {
            volume.close(file);
        }
    }
}
