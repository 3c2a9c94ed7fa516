package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import org.opendedup.sar.volume.raw.FastTier;

/** The raw files of a mounted volume, as its figures show them; {@link FastTier} has these methods. */
public interface FastTierSource {
    /** Returns what is known without a look at the files. */
    FastTier.Summary summary();

    /** Returns the state. Looks at all raw files. */
    FastTier.Status status() throws IOException;

    /** Returns the number of files whose bytes are lost; may be the number of a minute ago. */
    long lostFiles() throws IOException;
}
