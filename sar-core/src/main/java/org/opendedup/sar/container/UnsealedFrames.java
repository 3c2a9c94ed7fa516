package org.opendedup.sar.container;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameContent;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole frames of a container that was not sealed, in order. After a damaged frame, searches for the next one byte
 * by byte. For one thread.
 */
final class UnsealedFrames {
    private static final Logger log = LoggerFactory.getLogger(UnsealedFrames.class);

    private final SalvagedFile file;
    private final ContainerIdentity identity;
    private long at = ContainerFormat.HEADER_BYTES;
    private int nextSlot;
    private int place;
    private final FrameContent content;
    private final boolean isEncrypted;

    UnsealedFrames(SalvagedFile file, ContainerIdentity identity, ContainerCipher cipher) {
        this.file = file;
        content = new FrameContent(cipher);
        isEncrypted = cipher.tagBytes() > 0;
        this.identity = identity;
    }

    /**
     * Returns a table of the whole frames of a container that was not sealed.
     *
     * @param bytes the container; the rest of the array is unused
     * @param name names the container in messages
     */
    static FrameTable table(long container, StoredContainer stored, byte[] bytes, ContainerCipher cipher, String name)
            throws IOException {
        SalvagedFile file = new SalvagedFile(new ArrayInput(bytes, stored.bytes()), name, stored.bytes());
        FrameTable.Builder table = new FrameTable.Builder(stored.writing());
        UnsealedFrames frames = new UnsealedFrames(
                file,
                new ContainerIdentity(
                        container, stored.writing().salt(), stored.writing().generation()),
                cipher);
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
     * @throws UnsupportedFormatException if the frame is encrypted and there is no key: it must not count as damaged
     */
    private boolean isOpened(long at, FrameFormat.Header frame) throws UnsupportedFormatException {
        if (frame.isEncrypted() && !isEncrypted) {
            throw UnsupportedFormatException.encrypted(file.toString());
        }
        String problem = content.open(file.bytes(), file.place(at), frame);
        if (problem != null) {
            log.error("{}: at byte {} is a frame that is left out: {}", file, at, problem);
        }
        return problem == null;
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
                    && crcHolds(file, found, frame)
                    && isOpened(found, frame)) {
                nextSlot = frame.firstSlot() + frame.chunks();
                at = found + frame.frameBytes();
                place = file.place(found);
                return frame;
            }
            at = found + 1;
        }
    }

    /** Returns list and payload of the frame that {@link #next} returned, valid until its next call. */
    FrameContent content() {
        return content;
    }

    /** Returns the position in the file's bytes of the frame that {@link #next} returned, valid until its next call. */
    int place() {
        return place;
    }
}
