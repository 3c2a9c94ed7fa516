package org.opendedup.sar.volume.raw;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.hot.promotion.FileReload;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.FileRawFolder;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.raw.SealedRawFolder;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.AnswerLimit;
import org.opendedup.sar.volume.node.ChangedBytes;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.write.FileWriter;
import org.opendedup.sar.volume.write.UnsavedChanges;

/** The raw files of a volume on its fast tier, for administration. Safe for use by many threads. */
public final class FastTier {
    /** Maximum number of lost files that a status names. */
    public static final int MAX_NAMED = 1000;

    private final MetadataStore metadata;
    private final NodeTable nodes;
    private final Committer committer;
    private final VolumeConfig config;
    private final RawFiles raws;
    private final RawCopier copier;
    private final RawMover mover;
    private final Placements placements;
    private final FileWriter writer;
    private final @Nullable FileReload reload;
    private final RawFiles.History history;
    /** Number of lost files that was found last. */
    private volatile long lostFiles;

    /** @param history whether the metadata are those that knew the volume's stores last */
    public FastTier(
            MetadataStore metadata,
            NodeTable nodes,
            Committer committer,
            VolumeConfig config,
            RawFiles raws,
            RawCopier copier,
            RawMover mover,
            Placements placements,
            FileWriter writer,
            @Nullable FileReload reload,
            RawFiles.History history) {
        this.metadata = metadata;
        this.nodes = nodes;
        this.committer = committer;
        this.config = config;
        this.raws = raws;
        this.copier = copier;
        this.mover = mover;
        this.placements = placements;
        this.writer = writer;
        this.reload = reload;
        this.history = history;
    }

    /**
     * The state of the fast tier.
     *
     * @param settings how it is used
     * @param absent why it cannot be used, as text; null if it can
     * @param hanging what it does not answer, as text; null if it answers. While it does not, all figures are as they
     *     were last seen
     * @param files number of files that lie whole on the fast tier
     * @param changedFiles number of files in chunks that have changed bytes there
     * @param changedBytes bytes that the changed bytes take there
     * @param usedBytes bytes that all of them take there
     * @param onlyThereFiles number of files of which bytes are there and in no current recipe: raw files without one,
     *     and those with changed bytes
     * @param onlyThereBytes bytes of these
     * @param inUse number of raw files that are open
     * @param pinned number of raw files that are not migrated
     * @param room whether new files may become raw now
     * @param copiedFiles number of files stored in chunks since the volume was mounted
     * @param copiedBytes bytes of these
     * @param aheadFiles number of those that were copied at idle time, before their migration was needed
     * @param aheadBytes bytes of these
     * @param migratedFiles number of files migrated since the volume was mounted, or migrated again, with changed bytes
     * @param migratedBytes bytes of these
     */
    public record Status(
            RawSettings settings,
            @Nullable String absent,
            @Nullable String hanging,
            long files,
            long changedFiles,
            long changedBytes,
            long usedBytes,
            long onlyThereFiles,
            long onlyThereBytes,
            long inUse,
            long pinned,
            boolean room,
            long copiedFiles,
            long copiedBytes,
            long aheadFiles,
            long aheadBytes,
            long migratedFiles,
            long migratedBytes) {}

    /**
     * What is known of the fast tier without a look at its files.
     *
     * @param settings how it is used
     * @param absent why it cannot be used, as text; null if it can
     * @param hanging what it does not answer, as text; null if it answers
     * @param files number of files that lie whole on the fast tier
     * @param changedFiles number of files in chunks that have changed bytes there
     * @param usedBytes bytes that all of them take there, as last measured
     */
    public record Summary(
            RawSettings settings,
            @Nullable String absent,
            @Nullable String hanging,
            long files,
            long changedFiles,
            long usedBytes) {
        /** Returns whether any file has bytes on the fast tier. */
        public boolean hasFiles() {
            return files + changedFiles > 0;
        }
    }

    /** Receives the progress of a migration. */
    @FunctionalInterface
    public interface Progress {
        /**
         * Called after some bytes of the file were read.
         *
         * @throws IOException to end the migration; the file stays raw
         */
        void read(long bytes) throws IOException;
    }

    /** Where the bytes of a file are. */
    public enum Place {
        /** In chunks. */
        CHUNKS,
        /** Whole on the fast tier only. */
        FAST_TIER,
        /** Whole on the fast tier, and in chunks. */
        BOTH,
        /** On the fast tier, which cannot be used now. */
        ABSENT,
        /** Nowhere: they were only on the fast tier, which has lost them. */
        LOST
    }

    /**
     * Where the bytes of one file are.
     *
     * @param placement where its folder wants new files to be
     * @param bytes length of the file
     * @param accessedMs time of the last access of a raw file, in milliseconds since 1970; 0 for others
     * @param inUse whether it is open
     * @param pinned whether it is not migrated
     * @param changedBytes bytes that were changed since it was migrated, and are on the fast tier
     */
    public record FileStatus(
            Place place,
            Placement placement,
            long bytes,
            long accessedMs,
            boolean inUse,
            boolean pinned,
            long changedBytes) {}

    /** Returns how the fast tier is used. */
    public RawSettings settings() {
        return config.raw();
    }

    /** Returns what is known without a look at the files. */
    public Summary summary() {
        String absent = raws.isAbsent() ? raws.folder().toString() : null;
        return new Summary(
                mover.settings(), absent, raws.limit().hanging(), raws.count(), raws.changedCount(), mover.usedBytes());
    }

    /**
     * Looks at all raw files, unless the fast tier does not answer.
     *
     * @return whether it answered
     */
    private boolean look(AnswerLimit.Visitor<RawFile> visitor) throws IOException {
        if (raws.isAbsent() || raws.limit().isHanging()) {
            return false;
        }
        try {
            raws.limit().forEach("examining files", raws.all(), visitor);
            return true;
        } catch (TimeLimit.ExceededException e) {
            return false;
        }
    }

    /** Returns the state. Looks at all raw files, as far as the fast tier answers. */
    public Status status() throws IOException {
        look(RawFile::isCopied);
        long onlyThere = 0;
        long onlyThereBytes = 0;
        long changed = 0;
        long changedBytes = 0;
        long inUse = 0;
        long pinned = 0;
        boolean isAbsent = raws.isAbsent();
        for (RawFile raw : raws.all()) {
            if (isAbsent ? raw.record().copy() == null : !raw.isKnownCopied() && !raw.isKnownMissing()) {
                onlyThere++;
                onlyThereBytes += raw.knownSize();
            }
            if (raw.isPart()) {
                changed++;
                changedBytes += raw.knownBytes();
                continue;
            }
            inUse += raw.isInUse() ? 1 : 0;
            pinned += raw.record().pinned() ? 1 : 0;
        }
        MigrationCounts counts = mover.counts();
        return new Status(
                mover.settings(),
                isAbsent ? raws.folder().toString() : null,
                raws.limit().hanging(),
                raws.count(),
                changed,
                changedBytes,
                mover.usedBytes(),
                onlyThere,
                onlyThereBytes,
                inUse,
                pinned,
                raws.hasRoom(),
                counts.copiedFiles(),
                counts.copiedBytes(),
                counts.aheadFiles(),
                counts.aheadBytes(),
                counts.migratedFiles(),
                counts.migratedBytes());
    }

    /**
     * Returns the paths of files whose bytes the fast tier has lost, and no recipe has: at most {@link #MAX_NAMED}, and
     * those that are found before it stops to answer.
     */
    public List<String> lost() throws IOException {
        List<Long> inodes = Collections.synchronizedList(new ArrayList<>());
        look(raw -> {
            if (inodes.size() < MAX_NAMED && isLost(raw)) {
                inodes.add(raw.inode());
            }
        });
        List<Long> found = List.copyOf(inodes);
        Map<Long, String> paths = UnsavedChanges.paths(found, Map.of(), metadata);
        return found.stream()
                .map(inode -> paths.getOrDefault(inode, "inode " + inode))
                .toList();
    }

    /**
     * Returns the number of files that {@link #lost} names if it names all. Looks at all raw files; while the fast tier
     * does not answer, it is the number that was found last.
     */
    public long lostFiles() throws IOException {
        AtomicLong lost = new AtomicLong();
        if (look(raw -> lost.addAndGet(isLost(raw) ? 1 : 0)) || raws.isAbsent()) {
            lostFiles = lost.get();
        }
        return lostFiles;
    }

    private static boolean isLost(RawFile raw) throws IOException {
        return !raw.isPart() && raw.record().copy() == null && raw.status() == null;
    }

    /** Returns where new files of a folder are stored first. ENOTDIR. */
    public Placement newFilesIn(long directory) throws IOException {
        return nodes.with(directory, node -> {
            if (!node.isDirectory()) {
                throw new PosixException(Reason.ENOTDIR, "inode " + directory);
            }
            return placements.in(directory);
        });
    }

    /** Returns where the bytes of a file are. EISDIR, EINVAL. */
    public FileStatus explain(long inode) throws IOException {
        return withFile(inode, (node, raw) -> {
            Placement placement = placements.of(node);
            if (raw == null) {
                ChangedBytes changed = changed(node);
                return new FileStatus(
                        Place.CHUNKS, placement, node.size(), 0, false, false, changed == null ? 0 : changed.bytes());
            }
            boolean pinned = raw.record().pinned();
            if (raws.isAbsent()) {
                return new FileStatus(Place.ABSENT, placement, node.size(), 0, raw.isInUse(), pinned, 0);
            }
            RandomFile.Status status = raw.status();
            Place place = status == null
                    ? (raw.record().copy() == null ? Place.LOST : Place.CHUNKS)
                    : raw.isCopied() ? Place.BOTH : Place.FAST_TIER;
            long bytes = status == null ? node.size() : status.size();
            return new FileStatus(place, placement, bytes, raw.accessedMs(), raw.isInUse(), pinned, 0);
        });
    }

    /**
     * Migrates a file now. What was migrated is durable when this returns.
     *
     * @return false if it is not raw
     * @throws PosixException EBUSY if it is open, or mapped for writing; EISDIR, EINVAL
     */
    public boolean migrate(long inode) throws IOException {
        boolean migrated = migrate(inode, bytes -> {});
        if (migrated) {
            committer.commit();
        }
        return migrated;
    }

    /** Migrates a file now, as {@link #migrate(long)}; durable after the next {@link Volume#commit}. */
    public boolean migrate(long inode, Progress progress) throws IOException {
        return withFile(inode, (node, raw) -> {
            if (raw == null) {
                // Else they would be on the fast tier soon.
                writer.storeAll(node);
                ChangedBytes changed = changed(node);
                return changed != null && mover.migrate(node, changed.file(), progress::read);
            }
            if (raw.status() == null) {
                throw new IOException("the bytes of inode " + inode + " are not on the fast tier any more");
            }
            if (!mover.migrate(node, raw, progress::read)) {
                throw new PosixException(Reason.EBUSY, "inode " + inode + " is in use; it is migrated when it is not");
            }
            return true;
        });
    }

    /**
     * Stores a raw file in chunks, unless that was done, or what was changed since, so that its recipe can be used.
     * Does nothing for other files.
     *
     * @throws PosixException EBUSY if it is open for writing, or mapped
     */
    public void makeCurrent(Node node) throws IOException {
        if (node.rawFile() != null && !copier.copy(node, bytes -> {})) {
            throw new PosixException(
                    Reason.EBUSY, "inode " + node.id + " lies on the fast tier, and is open for writing");
        }
        storeChanges(node);
    }

    /**
     * Brings all chunks of a file to the SSD.
     *
     * @param waits whether to wait until they are there, not only on their way
     * @throws PosixException EISDIR, EINVAL
     */
    public FileReload.Reloaded reload(long inode, boolean waits, FileReload.Progress progress) throws IOException {
        FileReload reloading = reload;
        if (reloading == null) {
            throw new IOException("the volume has no SSD location; configure one and mount again");
        }
        return withFile(inode, (node, raw) -> reloading.reload(inode, node.size(), waits, progress));
    }

    /** Lets nothing new go to the fast tier until {@link #resume}: it is stored in chunks. */
    public void pause() {
        raws.pause();
    }

    public void resume() {
        raws.resume();
    }

    /**
     * Stores all bytes in chunks that are only on the fast tier; they stay there, too.
     *
     * @return number of files that cannot be, because they are open or mapped for writing
     */
    public long storeAll() throws IOException {
        long busy = 0;
        for (RawFile raw : raws.all()) {
            Node node = nodes.pinIfPresent(raw.inode());
            if (node != null) {
                try {
                    busy += store(node, raw) ? 0 : 1;
                } finally {
                    nodes.unpin(node);
                }
            }
        }
        return busy;
    }

    private boolean store(Node node, RawFile raw) throws IOException {
        if (raw.isPart()) {
            storeChanges(node);
            return true;
        }
        if (!raw.isCopied() && !(copier.copy(node, bytes -> {}) && raw.isCopied())) {
            return node.rawFile() != raw;
        }
        // With the times; the length is that of the recipe.
        node.attributes();
        committer.changes().lock();
        try {
            synchronized (node) {
                RawRecord.Copy copy = raw.record().copy();
                if (node.raw == raw && copy != null) {
                    node.size = copy.size();
                    node.storedBytes = copy.size();
                }
            }
            nodes.markDirty(node);
        } finally {
            committer.changes().unlock();
        }
        return true;
    }

    /**
     * Returns whether the recipes have the bytes of all files, as {@link #storeAll} made it. Looks at nothing, so it
     * can be asked with locks held.
     */
    public boolean isAllInChunks() {
        return raws.all().stream().allMatch(raw -> !raw.isPart() && raw.isKnownCopied());
    }

    /** Stores what was changed in a file since it was migrated, so that its recipe has it. */
    public void storeChanges(Node node) throws IOException {
        copier.storeChanges(node, bytes -> {});
    }

    private static @Nullable ChangedBytes changed(Node node) {
        synchronized (node) {
            return node.changed;
        }
    }

    /** Returns an empty batch, for small files that are stored in chunks together. */
    RawBatch newBatch() {
        return new RawBatch(copier, nodes);
    }

    /** Pins a file on the fast tier, or ends that. Returns false if it is not raw. EISDIR, EINVAL. */
    public boolean pin(long inode, boolean isPinned) throws IOException {
        committer.checkNotFailed();
        return withFile(inode, (node, raw) -> {
            if (raw != null) {
                raws.record(raw, record -> record.withPinned(isPinned));
            }
            return raw != null;
        });
    }

    /** Called when the attribute for the placement of a file or folder was changed; null if it was removed. */
    public void placementChanged(Node node, @Nullable Placement placement) throws IOException {
        if (node.isDirectory()) {
            placements.forget();
        } else if (node.isRegular()) {
            boolean isOfRoot = node.account().uid() == 0;
            pin(node.id, placement == Placement.PIN && (isOfRoot || raws.space().hasRoomForPins()));
        }
    }

    /**
     * Uses the fast tier again that was absent: the one that was there before, or a new and empty one. Files that a new
     * one does not have are as they were when they were last stored in chunks, or lost ({@link #lost}).
     *
     * @param makeNew whether to make an empty folder if there is none
     * @return false if the fast tier was in use already
     */
    public boolean attach(boolean makeNew) throws IOException {
        committer.refuseIfReadOnly();
        if (!raws.isAbsent()) {
            return false;
        }
        var location = config.locations().ssd();
        if (location == null || !config.raw().isEnabled()) {
            throw new IOException("the volume has no fast tier for new files: mkfs.sdfs --tier-mode=tddfs makes one,"
                    + " or the element fast-tier of its volume file");
        }
        UUID volume = metadata.header().volume();
        boolean isNew = makeNew && !raws.limit().call("looking for raw files", () -> FileRawFolder.exists(location));
        RawFolder folder = raws.limit().open(() -> {
            if (isNew) {
                FileRawFolder.create(location, volume, metadata.epochs().current());
            }
            RawFolder opened = SealedRawFolder.of(FileRawFolder.open(location, volume), config.keys());
            try {
                FastTierBinding.refuseOlder(metadata.epochs(), opened);
                FastTierBinding.begin(metadata.epochs(), opened);
                return opened;
            } catch (IOException e) {
                opened.close();
                throw e;
            }
        });
        raws.setFolder(folder);
        try {
            raws.settle(isNew, history);
        } finally {
            mover.lookAgain();
        }
        return true;
    }

    @FunctionalInterface
    private interface Use<T> {
        T of(Node node, @Nullable RawFile raw) throws IOException;
    }

    private <T> T withFile(long inode, Use<T> use) throws IOException {
        return nodes.with(inode, node -> {
            if (!node.isRegular()) {
                throw new PosixException(node.isDirectory() ? Reason.EISDIR : Reason.EINVAL, "inode " + inode);
            }
            return use.of(node, node.rawFile());
        });
    }
}
