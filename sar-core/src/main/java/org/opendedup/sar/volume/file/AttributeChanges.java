package org.opendedup.sar.volume.file;

import java.io.IOException;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.opendedup.sar.volume.names.DirectoryTree;
import org.opendedup.sar.volume.node.ExtendedAttributes;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.posix.TimeStamps;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.raw.Placements;
import org.opendedup.sar.volume.write.FileWriter;

/**
 * Changes attributes of inodes: mode, owner, times, through {@link FileLengths} the length, and extended attributes.
 */
public final class AttributeChanges {
    private final NodeTable nodes;
    private final DirectoryTree tree;
    private final ExtendedAttributes attributes;
    private final FileLengths lengths;
    private final Committer committer;
    private final SpaceCollector collector;
    private final FastTier fastTier;
    private final InstantSource clock;
    private final FileWriter writer;
    private final Quotas quotas;

    public AttributeChanges(VolumeContext context, FileLengths lengths) {
        this.lengths = lengths;
        nodes = context.nodes();
        tree = context.tree();
        attributes = context.attributes();
        committer = context.committer();
        collector = context.collector();
        fastTier = context.fastTier();
        clock = context.clock();
        writer = context.writer();
        quotas = context.metadata().quotas();
    }

    /** See {@link Volume#change(long, AttributeChange, boolean)}. */
    public Attributes change(long inode, AttributeChange change, boolean isExempt) throws IOException {
        committer.checkWritable();
        collector.admitKept();
        return nodes.with(inode, node -> {
            node.requireChangeable();
            return change(node, change, isExempt, timeOf(change));
        });
    }

    /** Returns the time of a change; asks the clock, which costs two system calls, only if the kernel gave none. */
    private long timeOf(AttributeChange change) {
        Long given = change.changedNs();
        return given != null && change.size() == null ? given : TimeStamps.now(clock);
    }

    private Attributes change(Node node, AttributeChange change, boolean isExempt, long now) throws IOException {
        Long size = change.size();
        if (size != null) {
            FileLengths.checkRange(0, size);
            if (!lengths.change(node, size, now) && change.isOfSizeAlone()) {
                return node.attributes();
            }
        }
        RawFile raw = node.rawFile();
        if (raw != null && change.modifiedNs() != null) {
            raw.setModified(change.modifiedNs());
        }
        Node.Look look = node.look();
        if (change.uid() != null || change.gid() != null) {
            Account before = node.account();
            quotas.prepare(
                    change.uid() == null ? before.uid() : change.uid(),
                    change.gid() == null ? before.gid() : change.gid());
        }
        try {
            return apply(node, change, isExempt, now, look);
        } catch (PosixException e) {
            if (e.reason() != PosixException.Reason.EDQUOT || !node.isRegular()) {
                throw e;
            }
            // The dirty bytes may have taken too much of the quota, as in FileWriter.
            writer.storeAll(node);
            return apply(node, change, isExempt, now, look);
        }
    }

    private Attributes apply(Node node, AttributeChange change, boolean isExempt, long now, Node.Look look)
            throws IOException {
        Integer mode = change.mode();
        if (mode != null) {
            // The mode change also changes the access control list, which other threads may change too.
            return tree.alone(() -> {
                int before = node.attributes(look).mode() & Modes.PERMISSIONS;
                attributes.changeMode(node, mode);
                try {
                    return applyCharged(node, change, isExempt, now, look);
                } catch (IOException e) {
                    attributes.changeMode(node, before);
                    throw e;
                }
            });
        }
        committer.changes().lock();
        try {
            return applyCharged(node, change, isExempt, now, look);
        } finally {
            committer.changes().unlock();
        }
    }

    /** Charges the inode to its new owner, and applies the change; returns the resulting attributes. EDQUOT. */
    private Attributes applyCharged(Node node, AttributeChange change, boolean isExempt, long now, Node.Look look)
            throws IOException {
        synchronized (node) {
            charge(node, change, isExempt);
            applyLocked(node, change, now);
            nodes.markDirty(node);
            // Within the monitor: of two changes at the same time, the answer of one must not have the other's.
            return node.attributes(look);
        }
    }

    /** Charges the inode to its new owner and group. Called with the node's monitor held. */
    private void charge(Node node, AttributeChange change, boolean isExempt) throws IOException {
        Account before = node.account();
        int uid = change.uid() == null ? before.uid() : change.uid();
        int gid = change.gid() == null ? before.gid() : change.gid();
        nodes.charge(node, quotas.account(uid, gid, before.project()), isExempt);
    }

    private static void applyLocked(Node node, AttributeChange change, long now) {
        if (change.mode() != null) {
            node.mode = node.type | change.mode() & Modes.PERMISSIONS;
        }
        node.accessedNs = change.accessedNs() == null ? node.accessedNs : change.accessedNs();
        node.modifiedNs = change.modifiedNs() == null ? node.modifiedNs : change.modifiedNs();
        node.changedNs = change.changedNs() == null ? now : change.changedNs();
    }

    /** See {@link Volume#extendedAttribute}. */
    public byte @Nullable [] extended(long inode, byte[] name) throws IOException {
        Node node = nodes.pin(inode);
        try {
            return attributes.get(node, name);
        } finally {
            nodes.unpin(node);
        }
    }

    /** See {@link Volume#setExtendedAttribute}. */
    public void setExtended(long inode, byte[] name, byte[] value, SetMode mode) throws IOException {
        Node node = nodes.pin(inode);
        try {
            node.requireChangeable();
            collector.admitMetadata((long) name.length + value.length);
            if (Placements.isAttribute(name)) {
                Placement placement = Placements.parse(value);
                tree.change(node, () -> attributes.set(node, name, value, mode));
                fastTier.placementChanged(node, placement);
                return;
            }
            tree.change(node, () -> attributes.set(node, name, value, mode));
        } finally {
            nodes.unpin(node);
        }
    }

    /** See {@link Volume#removeExtendedAttribute}. */
    public void removeExtended(long inode, byte[] name) throws IOException {
        Node node = nodes.pin(inode);
        try {
            node.requireChangeable();
            tree.change(node, () -> attributes.remove(node, name));
            if (Placements.isAttribute(name)) {
                fastTier.placementChanged(node, null);
            }
        } finally {
            nodes.unpin(node);
        }
    }

    /** See {@link Volume#dropCapability}. */
    public void dropCapability(long inode) throws IOException {
        Node node = nodes.pin(inode);
        try {
            if (!node.isDirectory() && attributes.hasCapability(node)) {
                tree.change(node, () -> attributes.dropCapability(node));
            }
        } finally {
            nodes.unpin(node);
        }
    }
}
