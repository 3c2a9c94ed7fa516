package org.opendedup.sar.container.format;

/**
 * A container's frame table together with the place that it describes. A reader takes both in one step, because a
 * container can be written anew in another place.
 *
 * @param pack number of the pack; {@link #NO_PACK} if there are no frames
 * @param offset first byte of the container in the pack
 * @param table its frames; their offsets are counted from {@code offset}
 */
public record LocatedTable(long pack, long offset, FrameTable table) {
    /** The pack of a container that is being written, and has no frames in a pack yet. */
    public static final long NO_PACK = -1;

    /** Returns the offset in the pack at which a frame begins. */
    public long start(int frame) {
        return offset + table.fileOffset(frame);
    }

    /** Returns the offset in the pack at which a frame ends. */
    public long end(int frame) {
        return start(frame) + table.fileLength(frame);
    }
}
