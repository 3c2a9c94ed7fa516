package org.opendedup.sar.volume.care;

import org.opendedup.sar.common.HashChunk;

/**
 * A stored chunk that was looked up by its fingerprint.
 *
 * @param chunk the copy to which the fingerprint index leads, with its count
 * @param fingerprint as whoever wrote the chunk has it, in hexadecimal
 * @param pack number of the file that has the container
 * @param frame number of the frame in the container; -1 if the container cannot be read
 * @param isOnSsd whether there is a copy on the SSD, or one on its way there
 * @param isDamaged whether its bytes are known to be damaged at home
 */
public record FoundChunk(
        HashChunk chunk, String fingerprint, long pack, int frame, boolean isOnSsd, boolean isDamaged) {}
