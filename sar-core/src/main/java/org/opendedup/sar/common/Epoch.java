package org.opendedup.sar.common;

import java.util.UUID;

/**
 * Names the state that a database or a location of a volume was last used in: each mount begins a new epoch and writes it into all of
 * them. The token is random, so that two histories that part from one backup are told from each other though they count alike.
 *
 * @param volume the volume
 * @param number 1 for the state that mkfs.sdfs made; each mount counts up
 * @param token random
 */
public record Epoch(UUID volume, long number, long token) {
    @Override
    public String toString() {
        return "epoch " + number + " of volume " + volume;
    }
}
