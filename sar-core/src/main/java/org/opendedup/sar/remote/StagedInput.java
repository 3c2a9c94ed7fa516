package org.opendedup.sar.remote;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The local file of a pack while it is put. Notes when bytes of it cannot be read. When the pack is given up, it has
 * zeros in place of the blocks that cannot be read: readers find that damage by the checksums of the frames, and all
 * other frames are kept. For one thread.
 */
final class StagedInput implements Input {
    private static final Logger log = LoggerFactory.getLogger(StagedInput.class);
    /** A disk does not read a part of one. */
    private static final int BLOCK_BYTES = 4096;

    private final Input file;
    private final StagedPack pack;
    private final long nowNs;

    /** @param nowNs now, as the clock of {@link StagedPack#isGivenUp(long)} has it */
    StagedInput(Input file, StagedPack pack, long nowNs) {
        this.file = file;
        this.pack = pack;
        this.nowNs = nowNs;
    }

    @Override
    public void readFully(long offset, ByteBuffer target) throws IOException {
        int at = target.position();
        try {
            file.readFully(offset, target);
        } catch (IOException e) {
            if (NoAnswer.is(e) || !pack.isGivenUp(nowNs)) {
                throw e;
            }
            target.position(at);
            readBlocks(offset, target);
        }
    }

    private void readBlocks(long offset, ByteBuffer target) throws IOException {
        int end = target.limit();
        int base = target.position();
        while (target.position() < end) {
            long from = offset + target.position() - base;
            int begin = target.position();
            target.limit((int) Math.min(end, begin + BLOCK_BYTES - from % BLOCK_BYTES));
            try {
                file.readFully(from, target);
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                log.error("{}: bytes {} to {} cannot be read", pack.name, from, from + target.limit() - begin, e);
                target.position(begin);
                while (target.hasRemaining()) {
                    target.put((byte) 0);
                }
            }
            target.limit(end);
        }
    }

    @Override
    public long length() throws IOException {
        return file.length();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
