package org.opendedup.sar.heal;

import java.io.IOException;
import java.util.BitSet;
import org.opendedup.sar.metadata.counts.NewDamage;

/** Where healing says what it found: chunks with the right bytes, and chunks that are damaged. */
public interface HealMarks extends NewDamage {
    /**
     * Slots of a container are sound: takes their marks back.
     *
     * @param written whether they were written anew; otherwise they were sound all the time
     */
    void sound(long container, BitSet slots, boolean written) throws IOException;
}
