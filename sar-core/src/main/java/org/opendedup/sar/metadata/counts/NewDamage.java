package org.opendedup.sar.metadata.counts;

import java.io.IOException;
import org.opendedup.sar.metadata.record.DamageNote;

/** Marks damage that a part of the volume found, and passes it on to who has to know. */
public interface NewDamage {
    /**
     * Chunks of a container are not what was written. Does nothing more if that was known.
     *
     * @param firstSlot first of their slots
     * @param endSlot last of their slots plus 1
     * @throws IOException if they could not be marked
     */
    void found(long container, int firstSlot, int endSlot, DamageNote.How how, IOException why) throws IOException;

    /** The directory of a container cannot be read; whether its chunks can is not known. */
    void suspected(long container);
}
