package org.opendedup.sar.common;

import java.util.UUID;

/**
 * Names the state in which a database or a location of a volume was last used. Each mount begins a new epoch and writes
 * it into all of them. The token is random: it distinguishes two histories that branch from one backup although their
 * numbers are equal.
 *
 * @param volume the volume
 * @param number 1 for the state that mkfs.sdfs creates; each mount adds 1
 * @param token random
 */
public record Epoch(UUID volume, long number, long token) {
    @Override
    public String toString() {
        return "epoch " + number + " of volume " + volume;
    }
}
