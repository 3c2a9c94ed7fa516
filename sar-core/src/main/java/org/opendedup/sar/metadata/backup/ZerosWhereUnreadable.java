package org.opendedup.sar.metadata.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;

/** A file on a failing disk: a block that cannot be read becomes zeros, which match no checksum. */
record ZerosWhereUnreadable(Input input) implements Input {
    /** The sector size of most disks. */
    private static final int BLOCK_BYTES = 4096;

    @Override
    public void readFully(long offset, ByteBuffer target) throws IOException {
        int from = target.position();
        try {
            input.readFully(offset, target);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            target.position(from);
            readBlocks(offset, target);
        }
    }

    private void readBlocks(long offset, ByteBuffer target) throws IOException {
        long at = offset;
        int limit = target.limit();
        while (target.position() < limit) {
            int block = (int) Math.min(limit - target.position(), BLOCK_BYTES - at % BLOCK_BYTES);
            int end = target.position() + block;
            target.limit(end);
            try {
                input.readFully(at, target.slice());
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                target.slice().put(new byte[block]);
            }
            target.limit(limit).position(end);
            at += block;
        }
    }

    @Override
    public long length() throws IOException {
        return input.length();
    }

    @Override
    public void close() throws IOException {
        input.close();
    }
}
