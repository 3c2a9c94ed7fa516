package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongHashSet;
import com.carrotsearch.hppc.LongObjectHashMap;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Extreme Binning (Bhagwat et al., MASCOTS 2009): the representative of each file is in memory, with the hash of the
 * whole file, and leads to a bin with all chunks of the files that share it. A file that is not known as a whole takes
 * a read of its bin, and is compared with that only.
 */
final class BinningModel extends IndexModel {
    /** Bytes of an entry in memory (SiLo paper, section 4.3.2). */
    private static final int ENTRY_BYTES = 60;

    private final LongObjectHashMap<Bin> bins = new LongObjectHashMap<>();
    private final List<Long> keys = new ArrayList<>();
    private final List<Integer> lengths = new ArrayList<>();

    private static final class Bin {
        private final LongHashSet chunks = new LongHashSet();
        private long file;
    }

    @Override
    void store(TraceSegment segment) {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            keys.add(segment.key(chunk));
            lengths.add(segment.length(chunk));
            if (TraceFiles.ends(segment.key(chunk), keys.size())) {
                finish();
            }
        }
    }

    /** Stores a file. */
    @Override
    void finish() {
        if (keys.isEmpty()) {
            return;
        }
        long representative = Long.MAX_VALUE;
        long file = 0;
        for (long key : keys) {
            representative = Math.min(representative, key);
            file = TraceSegment.mixed(file ^ key);
        }
        @Nullable Bin bin = bins.get(representative);
        boolean whole = bin != null && bin.file == file;
        if (bin == null) {
            bin = new Bin();
            bins.put(representative, bin);
        } else if (!whole) {
            read((long) bin.chunks.size() * StoredContainers.ENTRY_BYTES);
        }
        bin.file = file;
        for (int chunk = 0; chunk < keys.size(); chunk++) {
            if (!bin.chunks.add(keys.get(chunk))) {
                found(lengths.get(chunk));
            }
        }
        keys.clear();
        lengths.clear();
    }

    @Override
    long indexBytes() {
        return (long) bins.size() * ENTRY_BYTES;
    }

    @Override
    long cacheBytes() {
        return 0;
    }
}
