package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.ContainerFormat.Identity;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Seals the containers that a crash left open. Every frame whose checksum holds is copied, in order, to a new file that is
 * made durable under the sealed name before the open file goes: a crash during recovery leaves at least one of the two, and
 * recovering again gives the same.
 */
final class ContainerRecovery {
    private static final Logger log = LoggerFactory.getLogger(ContainerRecovery.class);

    private final Directory directory;

    ContainerRecovery(Directory directory) {
        this.directory = directory;
    }

    /** Recovers every unsealed container of {@code names}; the ids of those that were sealed by it. */
    List<Long> recover(List<String> names) throws IOException {
        // Left by a recovery that did not get to its end; in the way of this one.
        for (String name : names) {
            if (ContainerFormat.containerOf(name, ContainerFormat.RECOVERY_SUFFIX)
                    .isPresent()) {
                directory.delete(name);
            }
        }
        List<Long> recovered = new ArrayList<>();
        for (String name : names) {
            OptionalLong container = ContainerFormat.containerOf(name, ContainerFormat.OPEN_SUFFIX);
            if (container.isPresent() && recover(container.getAsLong(), name)) {
                recovered.add(container.getAsLong());
            }
        }
        directory.sync();
        return recovered;
    }

    private boolean recover(long container, String name) throws IOException {
        if (directory.exists(ContainerFormat.fileName(container, ContainerFormat.SEALED_SUFFIX))) {
            // Was whole and durable before it got that name; what still lies beside it must not take its place.
            log.warn("container {}: sealed already, the unsealed file beside it is removed", container);
            directory.delete(name);
            return true;
        }
        byte[] file = readWhole(name);
        Identity identity = identity(file, container, name);
        boolean sealed = identity != null && copy(file, identity);
        if (!sealed) {
            log.info("container {}: unsealed and without a whole frame, removed", container);
        }
        directory.delete(name);
        return sealed;
    }

    private byte[] readWhole(String name) throws IOException {
        try (Input input = directory.open(name)) {
            long length = input.length();
            if (length > Integer.MAX_VALUE - Long.BYTES) {
                throw new CorruptionException(name, -1, "less than 2 GiB", length + " bytes");
            }
            byte[] file = new byte[(int) length];
            input.readFully(0, ByteBuffer.wrap(file));
            return file;
        }
    }

    /** From the header or, where that is damaged, from the first whole frame of this container; null if there is none. */
    private static @Nullable Identity identity(byte[] file, long container, String name)
            throws UnsupportedFormatException {
        if (file.length < ContainerFormat.HEADER_BYTES) {
            return null;
        }
        try {
            return ContainerFormat.readHeader(file, container, name);
        } catch (CorruptionException damaged) {
            log.warn("{}; looking for its frames", damaged.getMessage());
        }
        for (int at = ContainerFormat.HEADER_BYTES; at <= file.length - FrameFormat.HEADER_BYTES; at++) {
            FrameFormat.Header frame = FrameFormat.readHeader(file, at, file.length);
            if (frame != null && frame.identity().container() == container && FrameFormat.crcHolds(file, at, frame)) {
                return frame.identity();
            }
        }
        return null;
    }

    /** Writes the sealed file; false, and nothing written, if no frame is whole. */
    private boolean copy(byte[] file, Identity identity) throws IOException {
        List<Integer> frames = wholeFrames(file, identity);
        if (frames.isEmpty()) {
            return false;
        }
        long container = identity.container();
        String temporary = ContainerFormat.fileName(container, ContainerFormat.RECOVERY_SUFFIX);
        try (Output output = directory.create(temporary)) {
            write(file, identity, frames, output);
            output.force();
        }
        directory.rename(temporary, ContainerFormat.fileName(container, ContainerFormat.SEALED_SUFFIX));
        directory.sync();
        log.info("container {}: sealed with {} whole frames after a crash", container, frames.size());
        return true;
    }

    /** Where the frames that count begin. Behind damage the next one is looked for byte by byte. */
    private static List<Integer> wholeFrames(byte[] file, Identity identity) {
        List<Integer> frames = new ArrayList<>();
        int nextSlot = 0;
        int at = ContainerFormat.HEADER_BYTES;
        while (at <= file.length - FrameFormat.HEADER_BYTES) {
            FrameFormat.Header frame = FrameFormat.readHeader(file, at, file.length);
            if (frame != null
                    && frame.identity().equals(identity)
                    && frame.firstSlot() >= nextSlot
                    && FrameFormat.crcHolds(file, at, frame)) {
                frames.add(at);
                nextSlot = frame.firstSlot() + frame.chunks();
                at += frame.frameBytes();
            } else {
                at++;
            }
        }
        return frames;
    }

    private static void write(byte[] file, Identity identity, List<Integer> frames, Output output) throws IOException {
        Bytes header = new Bytes(ContainerFormat.HEADER_BYTES);
        ContainerFormat.putHeader(identity, header);
        output.append(header.buffer());
        FrameTable.Builder table = new FrameTable.Builder(identity.generation());
        Bytes chunkLists = new Bytes(1024);
        for (int at : frames) {
            FrameFormat.Header frame = Objects.requireNonNull(FrameFormat.readHeader(file, at, file.length));
            long offset = output.append(ByteBuffer.wrap(file, at, frame.frameBytes()));
            table.add(frame.firstSlot(), frame.chunks(), (int) offset, frame.frameBytes(), frame.rawBytes());
            chunkLists.putBytes(file, at + FrameFormat.HEADER_BYTES, frame.listBytes());
        }
        byte[] tableBytes = table.build().encode();
        output.append(ContainerFormat.tail(identity, tableBytes, chunkLists, output.position())
                .buffer());
    }
}
