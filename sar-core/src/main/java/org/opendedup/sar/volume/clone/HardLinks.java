package org.opendedup.sar.volume.clone;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.parts.VolumeContext;

/**
 * The clones of files with several names, found by the inode numbers of their sources: each has a further name in the
 * staging directory while the tree is being cloned. So the database has them, however many there are.
 */
final class HardLinks {
    private static final char FIRST = '#';
    private static final int BATCH = 256;

    private final VolumeContext context;
    private final Namespace namespace;
    private final long staging;
    private boolean isUsed;

    HardLinks(VolumeContext context, long staging) {
        this.context = context;
        this.namespace = context.metadata().namespace();
        this.staging = staging;
    }

    private static byte[] name(long source) {
        return (FIRST + Long.toString(source)).getBytes(US_ASCII);
    }

    /** Returns the inode number of the clone of a file; 0 if there is none yet. */
    long find(long source) throws IOException {
        Entry entry = isUsed ? namespace.entry(staging, name(source)) : null;
        return entry == null ? 0 : entry.inode();
    }

    /** Remembers a clone, whose links count this name. Called under the change lock. */
    void put(Node source, long clone) {
        isUsed = true;
        namespace.putEntry(staging, name(source.id), clone, source.type);
    }

    /** Removes these names, before the tree gets its own. */
    void removeNames() throws IOException {
        long cookie = isUsed ? 0 : -1;
        while (cookie >= 0) {
            List<byte[]> names = new ArrayList<>();
            long[] last = {-1};
            namespace.list(staging, cookie, (name, inode, type, next) -> {
                last[0] = names.size() < BATCH ? next : last[0];
                return names.size() < BATCH && names.add(name);
            });
            for (byte[] name : names) {
                if (name[0] == FIRST) {
                    context.tree().unlink(staging, name);
                }
            }
            cookie = last[0];
        }
    }
}
