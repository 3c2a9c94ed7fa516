package org.opendedup.sar.heal;

import java.io.IOException;

/** What heals a volume; {@link org.opendedup.sar.volume.care.VolumeHeal} does it. */
public interface HealSource {
    /** @throws IOException if no healing may run; the message says why */
    default void requireAllowed() throws IOException {}

    /**
     * Heals all damaged chunks for which the right bytes can be found.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it
     */
    HealReport run(HealProgress progress) throws IOException;

    /** Returns the number of chunks healed since the volume was mounted, also by passes that nobody asked for. */
    long healedChunks();

    /** Returns the number of chunks that are known to be damaged and not healed. */
    long unhealedChunks();

    /** Returns the number of containers that are missing with their packs; none of their chunks is counted above. */
    long missingContainers();
}
