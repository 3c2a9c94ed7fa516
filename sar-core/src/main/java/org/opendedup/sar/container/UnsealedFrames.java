package org.opendedup.sar.container;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;

/**
 * The whole frames of a container that was not sealed, in order. After a damaged frame, searches for the next one byte
 * by byte. For one thread.
 */
final class UnsealedFrames {
    private final SalvagedFile file;
    private final ContainerIdentity identity;
    private long at = ContainerFormat.HEADER_BYTES;
    private int nextSlot;
    private int place;

    UnsealedFrames(SalvagedFile file, ContainerIdentity identity) {
        this.file = file;
        this.identity = identity;
    }

    /**
     * Returns a table of the whole frames of a container that was not sealed.
     *
     * @param bytes the container; the rest of the array is unused
     * @param name names the container in messages
     */
    static FrameTable table(long container, StoredContainer stored, byte[] bytes, String name) throws IOException {
        SalvagedFile file = new SalvagedFile(new ArrayInput(bytes, stored.bytes()), name, stored.bytes());
        FrameTable.Builder table = new FrameTable.Builder(stored.writing());
        UnsealedFrames frames = new UnsealedFrames(
                file,
                new ContainerIdentity(
                        container, stored.writing().salt(), stored.writing().generation()));
        for (FrameFormat.Header frame = frames.next(); frame != null; frame = frames.next()) {
            int offset = (int) frames.at - frame.frameBytes();
            table.add(frame.firstSlot(), frame.chunks(), offset, frame.frameBytes(), frame.rawBytes());
        }
        return table.build();
    }

    /** Returns the offset of the next place where a frame may begin, or -1. */
    private static long nextMagic(SalvagedFile file, long from) throws IOException {
        for (long at = from; file.has(at, FrameFormat.HEADER_BYTES); at++) {
            if (FrameFormat.magicAt(file.bytes(), file.place(at))) {
                return at;
            }
        }
        return -1;
    }

    private static FrameFormat.@Nullable Header frameAt(SalvagedFile file, long at) {
        int place = file.place(at);
        long room = Math.min(file.length() - at, FrameFormat.MAX_FRAME_BYTES);
        return FrameFormat.readHeader(file.bytes(), place, place + (int) room);
    }

    private static boolean crcHolds(SalvagedFile file, long at, FrameFormat.Header frame) throws IOException {
        return file.has(at, frame.frameBytes()) && FrameFormat.crcHolds(file.bytes(), file.place(at), frame);
    }

    /**
     * Returns the next whole frame, whose bytes are then at {@link #place} of the file's bytes; null if there is none.
     */
    FrameFormat.@Nullable Header next() throws IOException {
        while (true) {
            long found = nextMagic(file, at);
            if (found < 0) {
                at = file.length();
                return null;
            }
            FrameFormat.Header frame = frameAt(file, found);
            if (frame != null
                    && frame.identity().equals(identity)
                    && frame.firstSlot() >= nextSlot
                    && crcHolds(file, found, frame)) {
                nextSlot = frame.firstSlot() + frame.chunks();
                at = found + frame.frameBytes();
                place = file.place(found);
                return frame;
            }
            at = found + 1;
        }
    }

    /** Returns the position in the file's bytes of the frame that {@link #next} returned, valid until its next call. */
    int place() {
        return place;
    }
}
