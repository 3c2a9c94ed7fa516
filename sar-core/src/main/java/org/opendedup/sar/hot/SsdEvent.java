package org.opendedup.sar.hot;

/**
 * Something about a volume's SSD that an administrator should know.
 *
 * @param state state of the SSD after it
 * @param message one sentence, with the location and what the volume does now
 */
public record SsdEvent(SsdState state, String message) {}
