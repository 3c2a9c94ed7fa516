package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * A sealed container on a disk, found by the bytes of its pack alone, as docs/FORMAT.md describes them. Tests damage
 * it.
 *
 * @param offset its first byte in the pack
 * @param bytes its length, header and footer included
 */
public record PackedContainer(Path pack, long offset, int bytes, long id) {
    private static final int ALIGNMENT = 4096;
    private static final int HEADER_BYTES = 32;
    private static final int FOOTER_BYTES = 48;
    private static final int DIRECTORY_OFFSET_AT = 32;
    private static final int FRAME_HEADER_BYTES = 48;
    /** {@code SARF}, little-endian. */
    private static final int FRAME_MAGIC = 0x46524153;

    /** {@code SARC} and {@code SARE}, little-endian. */
    private static final int HEADER_MAGIC = 0x43524153;

    private static final int FOOTER_MAGIC = 0x45524153;

    /** Finds the sealed containers of all packs of a folder, at any depth, in ascending order of ids. */
    public static List<PackedContainer> in(Path folder) throws IOException {
        List<PackedContainer> found = new ArrayList<>();
        for (Path pack : packs(folder)) {
            found.addAll(of(pack));
        }
        found.sort(Comparator.comparingLong(PackedContainer::id));
        return found;
    }

    /** Finds the longest sealed container of all packs of a folder. */
    public static PackedContainer largestIn(Path folder) throws IOException {
        return Collections.max(in(folder), Comparator.comparingInt(PackedContainer::bytes));
    }

    /** Finds the packs of a folder, at any depth, in the order of their paths. */
    public static List<Path> packs(Path folder) throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            return walk.filter(file -> file.toString().endsWith(".pack"))
                    .sorted()
                    .toList();
        }
    }

    /** Finds the sealed containers of a pack in the order in which they lie there. */
    public static List<PackedContainer> of(Path pack) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(pack)).order(ByteOrder.LITTLE_ENDIAN);
        List<PackedContainer> found = new ArrayList<>();
        int begin = -1;
        for (int at = ALIGNMENT; at < bytes.limit(); at += ALIGNMENT) {
            if (isWhole(bytes, at, HEADER_MAGIC, HEADER_BYTES)) {
                addIfSealed(pack, bytes, begin, at, found);
                begin = at;
            }
        }
        addIfSealed(pack, bytes, begin, bytes.limit(), found);
        return found;
    }

    private static void addIfSealed(Path pack, ByteBuffer bytes, int begin, int end, List<PackedContainer> found) {
        if (begin < 0) {
            return;
        }
        long id = bytes.getLong(begin + 8);
        for (int footer = end - FOOTER_BYTES; footer > Math.max(begin, end - FOOTER_BYTES - ALIGNMENT); footer--) {
            if (isWhole(bytes, footer, FOOTER_MAGIC, FOOTER_BYTES) && bytes.getLong(footer + 8) == id) {
                found.add(new PackedContainer(pack, begin, footer + FOOTER_BYTES - begin, id));
                return;
            }
        }
    }

    private static boolean isWhole(ByteBuffer bytes, int at, int magic, int length) {
        if (at + length > bytes.limit() || bytes.getInt(at) != magic) {
            return false;
        }
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), at, length - Integer.BYTES);
        return (int) crc.getValue() == bytes.getInt(at + length - Integer.BYTES);
    }

    /** Returns the container's bytes. */
    public byte[] read() throws IOException {
        ByteBuffer read = ByteBuffer.allocate(bytes);
        try (FileChannel channel = FileChannel.open(pack, StandardOpenOption.READ)) {
            while (read.hasRemaining() && channel.read(read, offset + read.position()) > 0) {
                continue;
            }
        }
        assertTrue(!read.hasRemaining(), () -> this + " ends early");
        return read.array();
    }

    /** Flips a bit of the byte at {@code at} in the container. */
    public void flipBit(int at) throws IOException {
        byte[] all = read();
        all[at] ^= 0x10;
        overwrite(at, new byte[] {all[at]});
    }

    /** Overwrites a part of the container, from {@code at} in it on. */
    public void overwrite(int at, byte[] with) throws IOException {
        assertTrue(at >= 0 && at + with.length <= bytes, () -> with.length + " bytes at " + at + " of " + this);
        try (FileChannel channel = FileChannel.open(pack, StandardOpenOption.WRITE)) {
            ByteBuffer rest = ByteBuffer.wrap(with);
            while (rest.hasRemaining()) {
                channel.write(rest, offset + at + rest.position());
            }
        }
    }

    /**
     * Flips a bit in the chunks of a frame, about the middle one. Its header, its list of chunks and its checksum stay:
     * damage to these costs no byte of a chunk.
     */
    public void flipBitInFrames() throws IOException {
        ByteBuffer all = ByteBuffer.wrap(read()).order(ByteOrder.LITTLE_ENDIAN);
        int end = directoryOffset();
        int middle = HEADER_BYTES + (end - HEADER_BYTES) / 2;
        int chosen = -1;
        for (int at = HEADER_BYTES; at + FRAME_HEADER_BYTES < end && (chosen < 0 || at <= middle); ) {
            boolean isFrame = all.getInt(at) == FRAME_MAGIC && all.getLong(at + 8) == id;
            if (isFrame) {
                chosen = payload(all, at) + payloadBytes(all, at) / 2;
            }
            // Between frames there may be bytes that belong to none.
            at = isFrame ? payload(all, at) + payloadBytes(all, at) + Integer.BYTES : at + 1;
        }
        assertTrue(chosen > 0 && chosen < end, () -> "no frame in " + this);
        flipBit(chosen);
    }

    private static int payload(ByteBuffer container, int frame) {
        return frame + FRAME_HEADER_BYTES + container.getInt(frame + 28);
    }

    private static int payloadBytes(ByteBuffer container, int frame) {
        return container.getInt(frame + 36);
    }

    /** Returns the offset in the container of the directory, which follows the frames. */
    public int directoryOffset() throws IOException {
        ByteBuffer all = ByteBuffer.wrap(read()).order(ByteOrder.LITTLE_ENDIAN);
        return (int) all.getLong(bytes - FOOTER_BYTES + DIRECTORY_OFFSET_AT);
    }
}
