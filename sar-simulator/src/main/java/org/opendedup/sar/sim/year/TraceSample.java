package org.opendedup.sar.sim.year;

import java.util.List;
import org.opendedup.sar.sim.block.Mixing;
import org.opendedup.sar.sim.trace.BackupVersion;

/**
 * Takes a share of each version of a trace, in contiguous runs. Versions are divided into pieces by their content: a
 * piece begins with a chunk whose mixed fingerprint ends in {@value #PIECE_BITS} zero bits, so pieces have 256 chunks
 * on average, about 2.8 MB. Whether a piece is taken depends on the fingerprint of its first chunk. So a piece that two
 * versions have is taken of both or of neither, and the share of data that changes stays about the same.
 */
final class TraceSample {
    private static final int PIECE_BITS = 8;

    private TraceSample() {}

    /** @param share share to take, above 0 to 1 */
    static List<BackupVersion> of(List<BackupVersion> versions, double share) {
        return share == 1
                ? versions
                : versions.stream().map(version -> of(version, share)).toList();
    }

    private static BackupVersion of(BackupVersion version, double share) {
        BackupVersion sample = new BackupVersion();
        boolean taken = false;
        for (int chunk = 0; chunk < version.chunks(); chunk++) {
            long fingerprint = version.fingerprint(chunk);
            if (chunk == 0 || startsPiece(fingerprint)) {
                taken = Mixing.fraction(fingerprint) < share;
            }
            if (taken) {
                sample.add(fingerprint, version.length(chunk));
            }
        }
        return sample;
    }

    private static boolean startsPiece(long fingerprint) {
        return Long.numberOfTrailingZeros(Mixing.mix(fingerprint)) >= PIECE_BITS;
    }
}
