package org.opendedup.sar.container;

import java.util.Map;

/**
 * What a former place of a container has.
 *
 * @param chunks the chunks that can be read there, by slot
 * @param checksums checksums of the contents of frames, by frame, right or wrong: a frame of a later place that has the
 *     same one is a copy
 */
public record FormerChunks(Map<Integer, byte[]> chunks, Map<Integer, Integer> checksums) {}
