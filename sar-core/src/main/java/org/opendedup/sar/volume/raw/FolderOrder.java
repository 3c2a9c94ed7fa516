package org.opendedup.sar.volume.raw;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.volume.node.RawFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sorts raw files by the folders in which they lie, and within a folder in the order of their creation. So files that
 * are mostly read together lie together in the containers. For one thread.
 */
public final class FolderOrder {
    private static final Logger log = LoggerFactory.getLogger(FolderOrder.class);

    /** Maximum number of names that are read, once after the mount: about a second of work. */
    private static final long MAX_ENTRIES = 500_000;

    private final RawFiles raws;
    private final Namespace namespace;
    private boolean hasRead;

    public FolderOrder(RawFiles raws, Namespace namespace) {
        this.raws = raws;
        this.namespace = namespace;
    }

    /**
     * Returns files in their order. Folders are known of files that were made or looked up since the mount. Once, the
     * names are read for the others; those without a known folder come first.
     */
    List<RawFile> sorted(Collection<RawFile> files) {
        if (!hasRead && files.stream().anyMatch(raw -> raw.folder() == 0)) {
            hasRead = true;
            readFolders();
        }
        List<RawFile> sorted = new ArrayList<>(files);
        sorted.sort(Comparator.comparingLong(RawFile::folder).thenComparingLong(RawFile::inode));
        return sorted;
    }

    private void readFolders() {
        try {
            namespace.forEachEntry(MAX_ENTRIES, (directory, name, inode, isDirectory) -> {
                RawFile raw = isDirectory ? null : raws.get(inode);
                if (raw != null && raw.folder() == 0) {
                    raw.noteFolder(directory);
                }
            });
        } catch (IOException | RuntimeException e) {
            // The order is only better for later reads; the files can be stored without it.
            log.debug("not all folders of raw files can be read", e);
        }
    }
}
