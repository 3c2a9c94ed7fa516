package org.opendedup.sar.volume.clone;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.pending.StepLimit;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.recipes.HeldRecipe;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.InodeState;
import org.opendedup.sar.volume.posix.TimeStamps;

/**
 * Clones some entries of one folder in one change of the metadata: those without bytes, and small files that nobody
 * stores now, with the only page of their recipes. Files that are longer or in use get their names without bytes;
 * {@link FileClone} adds these. For one thread.
 *
 * <p>The new inodes are records without nodes: nobody else reaches them before the tree has its name.
 */
final class CloneStep implements Closeable {
    /** Maximum number of entries of a step, for which the change lock is held for a millisecond or two. */
    private static final int MAX_ENTRIES = 128;

    private static final byte[] NO_TARGET = {};

    private final VolumeContext context;
    private final MetadataStore metadata;
    private final Namespace namespace;
    private final NodeTable nodes;
    private final Committer committer;
    /** The folder that gets the clones; pinned. */
    private final Node folder;

    private final HardLinks links;
    private final long nowNs;
    private final List<Item> items = new ArrayList<>();
    /** The clones that this step makes of files with several names, by their sources. */
    private final Map<Long, Long> linked = new HashMap<>();
    /** Number of references in the recipe pages of the small files. */
    private int references;

    /** Name of the entry that is being cloned. */
    private byte[] at = {};

    private CloneReport report = CloneReport.NOTHING;

    CloneStep(VolumeContext context, long folder, HardLinks links) throws IOException {
        this.context = context;
        metadata = context.metadata();
        namespace = metadata.namespace();
        nodes = context.nodes();
        committer = context.committer();
        this.folder = nodes.pin(folder);
        this.links = links;
        nowNs = TimeStamps.now(context.clock());
    }

    /** An entry that gets a clone. */
    private static final class Item {
        final byte[] name;
        /** Pinned. */
        final Node source;
        /** Inode number of the clone. */
        long clone;
        /** Whether the clone exists already, and gets a further name. */
        boolean isLink;

        byte[] target = NO_TARGET;
        /** That of the moment that the clone shows; of a file whose bytes are still missing, one before that. */
        @Nullable
        InodeState state;
        /** The recipe of a small file, whose storing lock is held; null for anything else. */
        @Nullable
        RecipePage page;

        @Nullable
        HeldRecipe held;
        /** Who is charged for the bytes of a small file; null for anything else. */
        @Nullable
        Account account;
        /** Bytes that are taken, and that no clone has yet. */
        long charged;

        /** Node of the clone of a file whose bytes are still missing; pinned. */
        @Nullable
        Node missing;
        /** Node of the clone that gets a further name; pinned. */
        @Nullable
        Node linked;

        Item(byte[] name, Node source) {
            this.name = name;
            this.source = source;
        }

        InodeState state() {
            return Objects.requireNonNull(state);
        }

        Attributes attributes() {
            return state().attributes();
        }
    }

    /** Returns whether another step must clone what follows. */
    boolean isFull() {
        return items.size() >= MAX_ENTRIES || references >= StepLimit.MAX_REFERENCES;
    }

    /** Returns the name of the entry that was cloned last. */
    byte[] at() {
        return at;
    }

    /** Returns what the step cloned. */
    CloneReport report() {
        return report;
    }

    /**
     * Adds an entry. Leaves out one that was removed meanwhile.
     *
     * @return inode number of its clone; 0 if it has none
     */
    long add(byte[] name, long inode) throws IOException {
        at = name;
        Node source = nodes.pinIfPresent(inode);
        if (source == null) {
            return 0;
        }
        Item item = new Item(name, source);
        items.add(item);
        // One that gets a second name only after this is a file of its own in the clone.
        boolean hasNames =
                !source.isDirectory() && source.attributes(Node.Look.NONE).links() > 1;
        item.clone = hasNames ? known(item) : 0;
        item.isLink = item.clone != 0;
        if (!item.isLink) {
            item.clone = newInode();
            look(item);
        }
        if (hasNames) {
            linked.put(inode, item.clone);
        }
        return item.clone;
    }

    /** Returns the inode number of the clone of a file with several names; 0 if there is none yet. */
    private long known(Item item) throws IOException {
        Long made = linked.get(item.source.id);
        if (made != null) {
            return made;
        }
        long known = links.find(item.source.id);
        if (known != 0) {
            item.linked = nodes.pin(known);
        }
        return known;
    }

    private long newInode() throws IOException {
        try {
            return metadata.nextInode();
        } catch (WriteFailedException e) {
            throw committer.stoppedBy(e);
        }
    }

    /** Looks at the source, which stays as it is until {@link #put} if it is a small file. */
    private void look(Item item) throws IOException {
        Node source = item.source;
        if (source.isRegular()) {
            context.writer().intents().checkReadable(source.id);
            context.raws().checkReadable(source.id);
            lockSmall(item);
        } else if ((source.type & Modes.TYPE) == Modes.SYMBOLIC_LINK) {
            item.target = nodes.targetOfLink(source);
        }
        if (item.page == null) {
            // Without a look at the fast tier, which may not answer.
            item.state = context.tree().state(source);
        }
    }

    /** Locks a small file all of whose bytes are in its recipe, and reads that, and the attributes of that moment. */
    private void lockSmall(Item item) throws IOException {
        Node source = item.source;
        if (source.size() > metadata.recipes().pageBytes()) {
            return;
        }
        Node.Contents contents = source.use(context.dirtyBudget(), context.capacity());
        // Waits for no lock: other threads lock several files in another order.
        if (!contents.storing.tryLock()) {
            source.leave();
            return;
        }
        try {
            InodeState state = context.tree().state(source, () -> attributesIfStored(source, contents));
            if (state == null) {
                return;
            }
            long size = state.attributes().size();
            RecipePage page = size == 0 ? RecipePage.EMPTY : metadata.recipes().page(source.id, 0);
            if (page.bytes() > size || !metadata.counts().hasRoomFor(page)) {
                return;
            }
            item.held = metadata.recipes().holdFew(source.id, 0, 1);
            item.page = page;
            item.state = state;
            references += page.count();
        } finally {
            if (item.page == null) {
                contents.storing.unlock();
                source.leave();
            }
        }
    }

    /**
     * Returns the attributes of a small file; null if its recipe does not have all of its bytes. The storing lock keeps
     * the recipe as it is; a write right after this makes the file longer and newer than its recipe.
     */
    private @Nullable Attributes attributesIfStored(Node source, Node.Contents contents) {
        synchronized (source) {
            boolean isStored = source.raw == null
                    && source.changed == null
                    && contents.isClean()
                    && !contents.cutting
                    && source.size <= metadata.recipes().pageBytes();
            return isStored ? source.attributes(Node.Look.NONE) : null;
        }
    }

    /**
     * Makes the clones, all in one change; those of long files without bytes. Here, and in {@link FileClone}, the
     * volume is charged for what the tree takes.
     *
     * @throws NoSpaceException if the capacity is too small; nothing is made
     */
    void put() throws IOException {
        charge();
        committer.changes().lock();
        try (GracePeriod.Use use = context.collector().uses().begin()) {
            for (Item item : items) {
                requireReferable(item);
                put(item);
                item.charged = item.page == null ? item.charged : 0;
                report = report.plus(reportOf(item));
            }
        } finally {
            committer.changes().unlock();
            giveBack();
        }
        for (Item item : items) {
            if (item.page != null) {
                context.noteCopied(item.clone, 0, item.page.bytes());
            }
        }
    }

    /** Takes the capacity for the bytes of the small files. A clone counts for quotas, and none refuses it. */
    private void charge() throws IOException {
        try {
            for (Item item : items) {
                RecipePage page = item.page;
                if (page != null) {
                    Account account = metadata.account(clone(item, item.attributes(), false));
                    context.capacity().take(account, page.dataBytes(), true);
                    item.account = account;
                    item.charged = page.dataBytes();
                }
            }
        } catch (IOException e) {
            giveBack();
            throw e;
        }
    }

    /** Gives back what was taken for files that got no bytes. */
    private void giveBack() {
        for (Item item : items) {
            Account account = item.account;
            if (account != null && item.charged > 0) {
                context.capacity().change(account, -item.charged);
                item.charged = 0;
            }
        }
    }

    /**
     * Leaves a small file to {@link FileClone} if its chunks cannot get another reference. Nobody locks the page of a
     * snapshot, which may refer to other copies of them by now.
     */
    private void requireReferable(Item item) throws IOException {
        if (item.page != null && !metadata.counts().hasRoomFor(item.page)) {
            item.page = null;
        }
    }

    private void put(Item item) throws IOException {
        Node source = item.source;
        if (item.isLink) {
            putLink(item);
        } else {
            putNew(item);
        }
        namespace.putEntry(folder.id, item.name, item.clone, source.type);
        if (source.isDirectory()) {
            addLink(folder);
        }
    }

    private void putLink(Item item) throws IOException {
        // One that this step made is in memory.
        Node clone = item.linked == null ? nodes.pin(item.clone) : item.linked;
        item.linked = clone;
        addLink(clone);
    }

    private void putNew(Item item) throws IOException {
        Node source = item.source;
        RecipePage page = item.page;
        boolean isShared = linked.containsKey(source.id);
        Inode made = clone(item, item.attributes(), isShared);
        // Nothing fails but this and the first addition to a recipe.
        Account account = metadata.account(made);
        if (page != null) {
            metadata.recipes().addFirst(item.clone, page);
            metadata.count(account, page.dataBytes(), 0);
            metadata.countNew(account, true);
            namespace.put(made);
        } else {
            metadata.countNew(account, true);
            if (source.isRegular()) {
                item.missing = nodes.add(made, account);
            } else {
                namespace.put(made);
            }
        }
        if (item.missing == null) {
            for (InodeState.Extended each : item.state().extended()) {
                namespace.putAttribute(item.clone, each.name(), each.value());
            }
        }
        if (isShared) {
            links.put(source, item.clone);
        }
    }

    /** Counts a further name of a file, or a further folder in a folder. The staging directory has no links. */
    private void addLink(Node node) {
        synchronized (node) {
            node.links += node.unnamed ? 0 : 1;
        }
        nodes.markDirty(node);
    }

    private static CloneReport reportOf(Item item) {
        if (item.isLink) {
            return new CloneReport(0, 0, 0, 1, 0, 0);
        }
        if (item.source.isDirectory()) {
            return new CloneReport(1, 0, 0, 0, 0, 0);
        }
        if (!item.source.isRegular()) {
            return new CloneReport(0, 0, 1, 0, 0, 0);
        }
        RecipePage page = item.page;
        return page == null
                ? new CloneReport(0, 1, 0, 0, 0, 0)
                : new CloneReport(0, 1, 0, 0, item.attributes().size(), page.dataBytes());
    }

    /** Adds the bytes of the long files. */
    void copyLong(FileClone.Watcher progress) throws IOException {
        release();
        for (Item item : items) {
            Node missing = item.missing;
            if (missing != null) {
                at = item.name;
                report = report.plus(new FileClone(context, item.source, missing, progress).run());
            }
        }
    }

    /** Unlocks the small files. */
    private void release() {
        for (Item item : items) {
            HeldRecipe held = item.held;
            if (held != null) {
                held.close();
                item.held = null;
                item.source.contents().storing.unlock();
                item.source.leave();
            }
        }
    }

    @Override
    public void close() {
        release();
        for (Item item : items) {
            nodes.unpin(item.source);
            for (Node clone : Arrays.asList(item.missing, item.linked)) {
                if (clone != null) {
                    nodes.unpin(clone);
                }
            }
        }
        items.clear();
        nodes.unpin(folder);
    }

    private Inode clone(Item item, Attributes of, boolean isShared) {
        boolean isDirectory = item.source.isDirectory();
        Inode.Times times = new Inode.Times(of.accessedNs(), of.modifiedNs(), nowNs, nowNs);
        Inode clone = Inode.of(item.clone, of.mode(), times)
                .withGeneration(metadata.inodeGeneration())
                .withOwner(of.uid(), of.gid())
                .withProject(folder.project())
                .withDevice(of.device())
                .withLinks(isDirectory || isShared ? 2 : 1)
                .withParent(isDirectory ? folder.id : 0);
        if (item.page != null) {
            return clone.withBytes(of.size(), item.page.dataBytes());
        }
        return item.target.length > 0 ? clone.withTarget(item.target) : clone;
    }
}
