package org.opendedup.sar.container;

/**
 * How much of an open container is written, or durable.
 *
 * @param frames number of frames, from the first on
 * @param complete whether directory and footer follow them
 */
record WrittenExtent(int frames, boolean complete) {
    static final WrittenExtent NONE = new WrittenExtent(0, false);
}
