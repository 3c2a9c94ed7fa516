package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.sdfs.restore.TreeEntry;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.raw.FastTier.Place;

/** Reads files that lie in chunks, each once and in sequence, as programs read them. */
final class TierReload extends TreeJob {
    private static final int PIECE_BYTES = 256 << 10;

    private static final String READ = "readFiles";
    private static final String READ_BYTES = "readBytes";
    private static final String RAW = "rawFiles";

    private final ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);

    TierReload(ServedPaths paths, String path) {
        super(paths, path, "read files", READ, List.of(READ, READ_BYTES, RAW));
    }

    @Override
    void visit(TreeEntry entry, ShownPath at, Progress progress) throws IOException {
        long inode = entry.inode();
        if (entry.isDirectory()) {
            return;
        }
        if (volume().fastTier().explain(inode).place() != Place.CHUNKS) {
            add(RAW, 1);
            return;
        }
        OpenFile file = volume().open(inode, false);
        try {
            long offset = 0;
            for (int length = PIECE_BYTES; length == PIECE_BYTES; offset += length) {
                length = volume().read(file, offset, piece.clear());
                add(READ_BYTES, length);
                checkStopped(progress);
            }
        } finally {
            volume().close(file);
        }
        add(READ, 1);
    }
}
