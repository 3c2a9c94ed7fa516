package org.opendedup.sar.sdfs.cli.files;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.sdfs.restore.TreeEntry;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * Pins a file or folder, and the raw files below it: sets the attribute {@link Placement#ATTRIBUTE} of the path. Or
 * ends that: removes the attribute of the path and of all below it, where it says {@code pin}.
 */
final class TierPinning extends TreeJob {
    private static final byte[] ATTRIBUTE = Placement.ATTRIBUTE.getBytes(US_ASCII);
    private static final byte[] PIN = Placement.PIN.toString().getBytes(US_ASCII);

    private static final String DONE = "rawFiles";
    private static final String IN_CHUNKS = "inChunksFiles";

    private final boolean isPinned;

    TierPinning(ServedPaths paths, String path, boolean isPinned) {
        super(paths, path, isPinned ? "pinned files" : "unpinned files", DONE, List.of(DONE, IN_CHUNKS));
        this.isPinned = isPinned;
    }

    @Override
    void work(Progress progress) throws IOException {
        try {
            walk(progress);
        } finally {
            volume().commit();
        }
    }

    @Override
    void visit(TreeEntry entry, ShownPath at, Progress progress) throws IOException {
        long inode = entry.inode();
        if (isPinned && entry.isRoot()) {
            volume().setExtendedAttribute(inode, ATTRIBUTE, PIN, SetMode.CREATE_OR_REPLACE);
        } else if (!isPinned) {
            byte[] value = volume().extendedAttribute(inode, ATTRIBUTE);
            if (value != null && Placement.of(value) == Placement.PIN) {
                volume().removeExtendedAttribute(inode, ATTRIBUTE);
            }
        }
        if (!entry.isDirectory()) {
            add(volume().fastTier().pin(inode, isPinned) ? DONE : IN_CHUNKS, 1);
        }
    }
}
