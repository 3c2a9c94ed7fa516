package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.util.concurrent.locks.Lock;
import java.util.function.LongUnaryOperator;
import org.opendedup.sar.arrange.ArrangedFiles;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.parts.VolumeContext;

/** The files of an open volume, as an arrangement changes them while they are in use. */
public final class VolumeFiles implements ArrangedFiles {
    private final VolumeContext context;
    private final ReferenceReplacement replacement;

    public VolumeFiles(VolumeContext context) {
        this.context = context;
        replacement = new ReferenceReplacement(context);
    }

    @Override
    public Lock changes() {
        return context.committer().changes();
    }

    @Override
    public void settle() throws IOException {
        context.containers().endAll();
        context.committer().commit();
    }

    /** Does not collect garbage if there is no room, because the caller relies on copies without references. */
    @Override
    public void admit(long bytes) throws IOException {
        context.committer().checkWritable();
        context.devices().admitData(bytes, context.underWayBytes());
    }

    @Override
    public long replace(long inode, long[] pages, LongUnaryOperator copyOf) throws IOException {
        context.committer().checkWritable();
        Node node = context.nodes().pinIfPresent(inode);
        if (node == null) {
            return 0;
        }
        try {
            if (!node.isRegular()) {
                return 0;
            }
            node.use(context.dirtyBudget(), context.capacity());
            try {
                return replacement.replace(node, pages, copyOf);
            } finally {
                node.leave();
            }
        } finally {
            context.nodes().unpin(node);
        }
    }
}
