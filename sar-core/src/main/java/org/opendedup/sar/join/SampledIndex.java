package org.opendedup.sar.join;

import java.io.IOException;
import java.util.BitSet;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ForwardingChunkIndex;

/** An index as writers and the collector use it: what they add and remove is noted in a sample. */
public final class SampledIndex extends ForwardingChunkIndex {
    private final LossSample sample;

    public SampledIndex(ChunkIndex index, LossSample sample) {
        super(index);
        this.sample = sample;
    }

    @Override
    public void insert(Segment segment) throws IOException {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (segment.isFresh(chunk)) {
                sample.written(
                        segment.fingerprints(),
                        Segment.fingerprintOffset(chunk),
                        segment.length(chunk),
                        segment.chunkId(chunk));
            }
        }
        super.insert(segment);
    }

    /** The copies are in no sample if their content is not: their length is not known here. */
    @Override
    public void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        sample.written(fingerprints, offset, 0, chunkId);
        super.insert(fingerprints, offset, chunkId);
    }

    @Override
    public void remove(long container, byte[] fingerprints, BitSet slots) throws IOException {
        for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
            sample.remove(fingerprints, slot * Fingerprints.BYTES);
        }
        super.remove(container, fingerprints, slots);
    }
}
