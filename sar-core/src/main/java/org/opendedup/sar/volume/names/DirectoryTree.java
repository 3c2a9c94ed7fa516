package org.opendedup.sar.volume.names;

import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Answer;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.opendedup.sar.volume.node.ExtendedAttributes;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.InodeState;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.TimeStamps;
import org.opendedup.sar.volume.raw.Placements;
import org.opendedup.sar.volume.raw.RawFiles;
import org.opendedup.sar.volume.write.FileWriter;

/**
 * The directory tree: looks up and changes names. One lock orders all changes of names. Lookups do not hold it; they
 * use a {@link NameView}, as listings do ({@link Listing}). Every change also holds the change lock, so that a commit
 * never includes a part of it.
 */
public final class DirectoryTree {
    private static final int MAX_TARGET_BYTES = 4095;

    private final MetadataStore metadata;
    private final Namespace namespace;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final Committer committer;
    private final NamedFiles named;
    private final InstantSource clock;
    private final ExtendedAttributes attributes;
    private final NameRules rules;
    /** Orders changes of names. Acquired before the change lock. */
    private final ReentrantLock names = new ReentrantLock();
    /**
     * Notified while a change is visible in part: for the time of a few record updates in memory. Acquired after the
     * change lock.
     */
    private final NameView view;

    /** The last name that a look-up did not find. Programs look a name up before they make it. */
    private volatile @Nullable Absent absent;

    private final Placements placements;
    private final RawFiles raws;
    private final SpaceCollector collector;

    public DirectoryTree(
            MetadataStore metadata,
            NodeTable nodes,
            FileWriter writer,
            Committer committer,
            NamedFiles named,
            InstantSource clock,
            ExtendedAttributes attributes,
            NameView view,
            Placements placements,
            RawFiles raws,
            SpaceCollector collector) {
        this.collector = collector;
        this.placements = placements;
        this.raws = raws;
        this.metadata = metadata;
        this.namespace = metadata.namespace();
        this.nodes = nodes;
        this.writer = writer;
        this.committer = committer;
        this.named = named;
        this.clock = clock;
        this.attributes = attributes;
        rules = new NameRules(namespace, nodes);
        this.view = view;
    }

    /** Begins a change of names, which must be closed. */
    private NameChange newChange() throws IOException {
        return newChange(TimeStamps.now(clock));
    }

    private NameChange newChange(long nowNs) throws IOException {
        return new NameChange(names, committer, nodes, namespace, view, nowNs);
    }

    /** Changes the extended attributes of an inode, under the locks of a change of names. */
    public void change(Node node, Closing.Step work) throws IOException {
        try (NameChange change = newChange()) {
            work.run();
            change.relink(node, 0);
        }
    }

    /** Runs work under the same locks as {@link #change}; the work itself marks what it changes. */
    public <T> T alone(Answer<T> work) throws IOException {
        // It sets no time.
        try (NameChange change = newChange(0)) {
            return work.get();
        }
    }

    /** Returns attributes of an inode, or null if they are not wanted. */
    @FunctionalInterface
    public interface Look {
        @Nullable
        Attributes at();
    }

    /**
     * Reads all attributes of an inode, as they are at one moment: the extended ones and the mode do not change
     * meanwhile, so it is that of the others. The caller holds storing locks at most.
     *
     * @param others returns the others
     * @return null if {@code others} returned null
     */
    public @Nullable InodeState state(Node node, Look others) throws IOException {
        names.lock();
        try {
            List<InodeState.Extended> extended = new ArrayList<>();
            for (byte[] name : attributes.names(node)) {
                byte[] value = attributes.get(node, name);
                if (value != null) {
                    extended.add(new InodeState.Extended(name, value));
                }
            }
            Attributes found = others.at();
            return found == null ? null : new InodeState(found, extended);
        } finally {
            names.unlock();
        }
    }

    /** Returns the state of an inode without a look at the fast tier, as {@link #state(Node, Look)} reads it. */
    public InodeState state(Node node) throws IOException {
        return Objects.requireNonNull(state(node, () -> node.attributes(Node.Look.NONE)));
    }

    /**
     * Returns the state of a raw file when its recipe has all bytes. The caller holds no lock, because the fast tier
     * may not answer.
     *
     * @param copy what the recipe has
     * @return null if the file was written since
     */
    public @Nullable InodeState stateOfCopy(Node node, RawRecord.Copy copy) throws IOException {
        InodeState state = state(node);
        RandomFile.Status status = node.look().status();
        // Not written until now, so not at the moment of the state either.
        return status != null && copy.equals(RawFile.copyOf(status))
                ? state.withBytes(status.size(), status.modifiedNs())
                : null;
    }

    public Attributes lookup(long directory, byte[] name) throws IOException {
        if (name.length > EntryNames.MAX_BYTES) {
            throw NameRules.refuse(Reason.ENAMETOOLONG, name);
        }
        if (EntryNames.isSelf(name)) {
            return handedOut(nodes.pin(directory));
        }
        Node parent = nodes.pin(directory);
        try {
            if (!parent.isDirectory()) {
                throw NameRules.refuse(Reason.ENOTDIR, name);
            }
            if (EntryNames.isParent(name)) {
                return handedOut(nodes.pin(parent.parent()));
            }
            Node.Look look = Node.Look.NONE;
            while (true) {
                Node.Look known = look;
                long moment = view.moment();
                @Nullable
                Found found = view.betweenChanges(() -> find(directory, name, known), met -> met.ifPresent(this::undo))
                        .orElse(null);
                if (found == null) {
                    absent = new Absent(directory, name, moment);
                    throw NameRules.refuse(Reason.ENOENT, name);
                }
                if (found.attributes != null) {
                    return found.attributes;
                }
                try {
                    look = found.node.look();
                } finally {
                    nodes.unpin(found.node);
                }
            }
        } finally {
            nodes.unpin(parent);
        }
    }

    /**
     * A name that did not exist.
     *
     * @param moment of the names, from which on the name was looked for
     */
    private record Absent(long directory, byte[] name, long moment) {}

    /** Returns whether there is such a name. Called before a change begins, under the lock of the names. */
    private boolean exists(long directory, byte[] name) throws IOException {
        Absent known = absent;
        boolean isAbsent = known != null
                && known.directory == directory
                && Arrays.equals(known.name, name)
                && view.isUnchangedSince(known.moment);
        return !isAbsent && namespace.entry(directory, name) != null;
    }

    /**
     * What a name refers to.
     *
     * @param node pinned if {@code attributes} is null, else retained
     * @param attributes null if the fast tier must be looked at for them, which may hang: not between two changes
     */
    private record Found(Node node, @Nullable Attributes attributes) {}

    private void undo(Found found) {
        if (found.attributes == null) {
            nodes.unpin(found.node);
        } else {
            nodes.forget(found.node.id, 1);
        }
    }

    /** @param look at the fast tier, of the inode that was found before */
    private Optional<Found> find(long directory, byte[] name, Node.Look look) throws IOException {
        Entry entry = namespace.entry(directory, name);
        Node node = entry == null ? null : nodes.pinIfPresent(entry.inode());
        if (node == null) {
            return Optional.empty();
        }
        node.noteFolder(directory);
        if (node.rawFile() != look.raw()) {
            return Optional.of(new Found(node, null));
        }
        Found found = new Found(node, node.attributes(look));
        nodes.handOut(node);
        return Optional.of(found);
    }

    /** Turns the caller's reference into a reference of the kernel. */
    private Attributes handedOut(Node node) {
        Attributes attributes = node.attributes();
        nodes.handOut(node);
        return attributes;
    }

    /**
     * Returns the number of a new inode, and gets ready to charge its owner. A disk that refuses to reserve more
     * numbers stops the changes.
     */
    private long newInode(Owner owner) throws IOException {
        metadata.quotas().prepare(owner.uid(), owner.gid());
        try {
            return metadata.nextInode();
        } catch (WriteFailedException e) {
            throw committer.stoppedBy(e);
        }
    }

    public Attributes make(long directory, byte[] name, int mode, int device, byte[] target, Owner owner)
            throws IOException {
        NameRules.checkName(name);
        committer.checkNotFailed();
        collector.admitMetadata(2L * name.length + target.length);
        long id = newInode(owner);
        try (NameChange change = newChange()) {
            Node parent = change.directory(directory);
            if (exists(directory, name)) {
                throw NameRules.refuse(Reason.EEXIST, name);
            }
            boolean isDirectory = (mode & Modes.TYPE) == Modes.DIRECTORY;
            if (isDirectory) {
                NameRules.checkLinks(parent, name);
            }
            change.begin();
            Inode inode = Inode.of(id, mode, Inode.Times.ofCreation(change.nowNs))
                    .withLinks(isDirectory ? 2 : 1)
                    .withDevice(device)
                    .withParent(isDirectory ? directory : 0)
                    .withTarget(target);
            Node node = add(inode, parent, owner);
            putName(parent, name, node);
            change.touch(parent, isDirectory ? 1 : 0);
            return handedOut(node);
        }
    }

    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner owner) throws IOException {
        if (target.length == 0 || target.length > MAX_TARGET_BYTES) {
            throw new PosixException(
                    target.length == 0 ? Reason.ENOENT : Reason.ENAMETOOLONG, "target of " + target.length + " bytes");
        }
        return make(directory, name, Modes.SYMBOLIC_LINK | 0777, 0, target, owner);
    }

    /**
     * Creates a regular file or a directory without a name. {@link #link} can add a name to a file. Without one, it is
     * deleted when its last reference is released, or after a crash; a directory with all that is in it.
     *
     * @param mode file type and permissions
     */
    public Attributes makeUnnamed(long directory, int mode, Owner owner) throws IOException {
        committer.checkNotFailed();
        collector.admitMetadata(0);
        long id = newInode(owner);
        try (NameChange change = newChange()) {
            Node parent = change.directory(directory);
            Inode inode = Inode.of(id, mode, Inode.Times.ofCreation(change.nowNs))
                    .withLinks(0)
                    .withParent(Modes.isDirectory(mode) ? directory : 0);
            Node node = add(inode, parent, owner);
            node.unnamed = true;
            namespace.addOrphan(id, 0);
            node.noteFolder(directory);
            return handedOut(node);
        }
    }

    /**
     * Adds a new inode, with the owner's ids, and with the mode, access control list and project that its parent
     * imposes. EDQUOT. Nothing fails after that.
     */
    private Node add(Inode inode, Node parent, Owner owner) throws IOException {
        ExtendedAttributes.Inherited inherited = attributes.inherit(parent, inode.mode(), owner.umask());
        Inode owned = inode.withGeneration(metadata.inodeGeneration())
                .withMode(inherited.mode())
                .withOwner(owner.uid(), owner.gid())
                .withProject(parent.project());
        Account account = metadata.account(owned);
        metadata.countNew(account, owner.isRoot());
        Node node = nodes.add(owned, account);
        attributes.bequeath(node, inherited);
        return node;
    }

    /** Gives a new inode its name, which it takes from the inode that has it. */
    private void putName(Node parent, byte[] name, Node node) throws IOException {
        namespace.putEntry(parent.id, name, node.id, node.type);
        noteNamed(node);
        node.noteFolder(parent.id);
    }

    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        NameRules.checkName(name);
        committer.checkNotFailed();
        collector.admitMetadata(2L * name.length);
        Node.Look look = look(inode);
        try (NameChange change = newChange()) {
            Node node = change.pin(inode);
            Node parent = change.directory(directory);
            if (namespace.entry(directory, name) != null) {
                throw NameRules.refuse(Reason.EEXIST, name);
            }
            if (node.isDirectory()) {
                throw NameRules.refuse(Reason.EPERM, name);
            }
            NameRules.checkLinkable(node, name);
            if (node.project() != parent.project()) {
                throw NameRules.refuse(Reason.EXDEV, name);
            }
            change.begin();
            namespace.putEntry(directory, name, inode, node.type);
            Attributes linked;
            synchronized (node) {
                change.relink(node, 1);
                // Within the monitor, as those of each change of attributes.
                linked = node.attributes(look);
            }
            endUnnamed(node);
            change.touch(parent, 0);
            noteNamed(node);
            change.handOut(node);
            return linked;
        }
    }

    /** Looks at a file before the locks are acquired; at nothing if there is no such inode. */
    private Node.Look look(long inode) throws IOException {
        Node node = nodes.pinIfPresent(inode);
        if (node == null) {
            return Node.Look.NONE;
        }
        try {
            return node.look();
        } finally {
            nodes.unpin(node);
        }
    }

    /**
     * Called when a file that was created without a name gets one. It is no longer an orphan, except for a tail that is
     * being truncated.
     */
    private void endUnnamed(Node node) throws IOException {
        synchronized (node) {
            if (!node.unnamed) {
                return;
            }
            node.unnamed = false;
            namespace.removeOrphan(node.id);
            if (node.contents != null && node.contents.cutting) {
                int pageBytes = metadata.recipes().pageBytes();
                namespace.addOrphan(node.id, (node.size + pageBytes - 1) / pageBytes);
            }
        }
    }

    public void unlink(long directory, byte[] name) throws IOException {
        NameRules.checkName(name);
        collector.admitKept();
        try (NameChange change = newChange()) {
            Node parent = change.directory(directory);
            Node node = change.pin(existing(directory, name).inode());
            if (node.isDirectory()) {
                throw NameRules.refuse(Reason.EISDIR, name);
            }
            change.begin();
            namespace.removeEntry(directory, name);
            change.relink(node, -1);
            change.touch(parent, 0);
        }
    }

    private Entry existing(long directory, byte[] name) throws IOException {
        Entry entry = namespace.entry(directory, name);
        if (entry == null) {
            throw NameRules.refuse(Reason.ENOENT, name);
        }
        return entry;
    }

    public void removeDirectory(long directory, byte[] name) throws IOException {
        if (EntryNames.isParent(name)) {
            throw NameRules.refuse(Reason.ENOTEMPTY, name);
        }
        NameRules.checkName(name);
        collector.admitKept();
        try (NameChange change = newChange()) {
            Node parent = change.directory(directory);
            Node node = change.pin(existing(directory, name).inode());
            if (!node.isDirectory()) {
                throw NameRules.refuse(Reason.ENOTDIR, name);
            }
            if (!namespace.isEmpty(node.id)) {
                throw NameRules.refuse(Reason.ENOTEMPTY, name);
            }
            change.begin();
            namespace.removeEntry(directory, name);
            change.relink(node, -2);
            change.touch(parent, -1);
        }
    }

    /**
     * @param whiteoutOwner owner of the whiteout that takes the old name; null for a rename that leaves nothing there.
     *     Not with {@link RenameMode#EXCHANGE}
     */
    public void rename(
            long directory,
            byte[] name,
            long newDirectory,
            byte[] newName,
            RenameMode mode,
            @Nullable Owner whiteoutOwner)
            throws IOException {
        NameRules.checkName(name);
        NameRules.checkName(newName);
        long whiteoutId = whiteoutOwner == null ? 0 : newWhiteout(name, whiteoutOwner);
        storeBeforeReplacing(directory, name, newDirectory, newName);
        if (mode == RenameMode.EXCHANGE) {
            storeBeforeReplacing(newDirectory, newName, directory, name);
        }
        try (NameChange change = newChange()) {
            Node from = change.directory(directory);
            Node to = change.directory(newDirectory);
            Node node = change.pin(existing(directory, name).inode());
            Entry target = namespace.entry(newDirectory, newName);
            Node replaced = target == null ? null : change.pin(target.inode());
            rules.checkRename(from, to, node, replaced, newName, mode);
            if (replaced == node) {
                return;
            }
            change.begin();
            // Before the first change of a name, because it may fail.
            Node whiteout = whiteoutOwner == null
                    ? null
                    : change.hold(add(whiteout(whiteoutId, change.nowNs), from, whiteoutOwner));
            if (replaced == null) {
                move(change, from, name, to, newName, node, whiteout);
            } else if (mode == RenameMode.EXCHANGE) {
                exchange(change, from, name, to, newName, node, replaced);
            } else {
                unlinkTarget(change, to, replaced);
                move(change, from, name, to, newName, node, whiteout);
            }
        }
    }

    /** Returns the number of an inode for a whiteout, after the checks that a new name needs. */
    private long newWhiteout(byte[] name, Owner owner) throws IOException {
        committer.checkNotFailed();
        collector.admitMetadata(2L * name.length);
        return newInode(owner);
    }

    /** A whiteout is a character device 0:0 without permissions, as overlay file systems expect. */
    private static Inode whiteout(long id, long nowNs) {
        return Inode.of(id, Modes.CHARACTER_DEVICE, Inode.Times.ofCreation(nowNs))
                .withLinks(1);
    }

    /** Stores the bytes of a file that replaces another: after a crash, the name must not refer to an empty file. */
    private void storeBeforeReplacing(long directory, byte[] name, long newDirectory, byte[] newName)
            throws IOException {
        Entry source = namespace.entry(directory, name);
        if (source == null || source.type() != Modes.REGULAR || namespace.entry(newDirectory, newName) == null) {
            return;
        }
        Node node = nodes.pinIfPresent(source.inode());
        if (node != null) {
            try {
                RawFile raw = node.rawFile();
                if (raw != null) {
                    raws.force(node, raw);
                }
                // Not after a truncation that is under way: it has stored the bytes that stay.
                collector.withRoom(() -> writer.trySecure(node));
                node.checkNotFailed();
            } finally {
                nodes.unpin(node);
            }
        }
    }

    /**
     * Removes a link of the replaced inode. Leaves the entry in place, to be overwritten: a concurrent listing finds
     * the name with one inode or the other.
     */
    private static void unlinkTarget(NameChange change, Node parent, Node replaced) throws IOException {
        change.relink(replaced, replaced.isDirectory() ? -2 : -1);
        if (replaced.isDirectory()) {
            change.touch(parent, -1);
        }
    }

    /** @param whiteout takes the old name, in one step with the change of the entry; null if nothing does */
    private void move(
            NameChange change, Node from, byte[] name, Node to, byte[] newName, Node node, @Nullable Node whiteout)
            throws IOException {
        namespace.putEntry(to.id, newName, node.id, node.type);
        if (whiteout == null) {
            namespace.removeEntry(from.id, name);
        } else {
            putName(from, name, whiteout);
        }
        int subdirectories = node.isDirectory() && from != to ? 1 : 0;
        change.touch(from, -subdirectories);
        change.touch(to, subdirectories);
        setParent(node, to);
        change.relink(node, 0);
        noteNamed(node);
    }

    private void exchange(NameChange change, Node from, byte[] name, Node to, byte[] newName, Node node, Node other)
            throws IOException {
        namespace.putEntry(from.id, name, other.id, other.type);
        namespace.putEntry(to.id, newName, node.id, node.type);
        int subdirectories = from == to ? 0 : (node.isDirectory() ? 1 : 0) - (other.isDirectory() ? 1 : 0);
        change.touch(from, -subdirectories);
        change.touch(to, subdirectories);
        setParent(node, to);
        setParent(other, from);
        change.relink(node, 0);
        change.relink(other, 0);
        noteNamed(node);
        noteNamed(other);
    }

    /** Records that a file got a name. Called under the change lock. */
    private void noteNamed(Node node) {
        named.add(node);
        RawFile raw = node.rawFile();
        if (raw != null) {
            raws.noteNamed(raw);
        }
    }

    private void setParent(Node node, Node parent) {
        if (node.isDirectory()) {
            synchronized (node) {
                node.parent = parent.id;
            }
            placements.forget();
        } else {
            node.noteFolder(parent.id);
        }
    }
}
