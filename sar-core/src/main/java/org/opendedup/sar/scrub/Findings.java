package org.opendedup.sar.scrub;

import java.io.IOException;

/** Receives what a scrub finds. */
public interface Findings {
    /**
     * A frame is not what was written: its checksum, a chunk's fingerprint or its header is wrong, or it cannot be
     * read.
     *
     * @param firstSlot first slot of the frame
     * @param endSlot slot after its last one
     */
    void damagedFrame(long container, int frame, int firstSlot, int endSlot, IOException why) throws IOException;

    /**
     * Header, footer or directory of a container are not what was written, or its pack is missing. Its frames may be
     * readable nevertheless, by a copy of its frame table; of a missing pack none is reported, because it may come
     * back.
     */
    void damagedContainer(long container, IOException why) throws IOException;

    /** A chunk that files refer to is not in its container, and was not known to be lost. */
    void missingChunk(long container, int slot) throws IOException;

    /** The metadata say something else about a container than the container itself. */
    void contradiction(long container, String sentence);

    /**
     * An entry of the fingerprint index named a chunk with another fingerprint, or none that is stored, and was
     * removed.
     *
     * @param sentence which entry, and what it named
     */
    void wrongEntry(String sentence);

    /**
     * A part of the volume is not verified, or not to its end.
     *
     * @param part what
     * @param why the reason, for a person
     */
    void passedOver(String part, String why);
}
