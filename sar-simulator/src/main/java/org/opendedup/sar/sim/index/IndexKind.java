package org.opendedup.sar.sim.index;

import java.util.Locale;

/** The indexes that are compared. */
enum IndexKind {
    EXACT(0),
    CHUNKSTASH(0.75e12),
    DDFS(125e9),
    SPARSE(85e9),
    BINNING(300e9),
    SILO(30e9);

    private final double paperBytesPerPb;

    IndexKind(double paperBytesPerPb) {
        this.paperBytesPerPb = paperBytesPerPb;
    }

    /** Returns the memory for a petabyte of unique data of the SiLo paper's Table 2, in bytes; 0 if it has none. */
    double paperBytesPerPb() {
        return paperBytesPerPb;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
