package org.opendedup.sar.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Which containers an index covers. A volume never asks for all of them. */
public final class CoveredContainers {
    private CoveredContainers() {}

    /** Returns the covered containers in ascending order. */
    public static List<Long> of(ChunkIndex index) throws IOException {
        return upTo(index.highestContainer(), index);
    }

    /** As above, with ids up to {@code highest}. */
    public static List<Long> upTo(long highest, ChunkIndex index) throws IOException {
        List<Long> covered = new ArrayList<>();
        for (long container = 0; container <= highest; container++) {
            if (index.frameTable(container) != null) {
                covered.add(container);
            }
        }
        return covered;
    }
}
