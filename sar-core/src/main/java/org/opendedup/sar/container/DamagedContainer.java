package org.opendedup.sar.container;

import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.SealedContainers.Whole;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameContent;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;

/** What a container with damaged frames still has. For one thread. */
public final class DamagedContainer {
    private final SealedContainer directory;
    private final FrameTable table;
    private final BitSet sound;
    private final Map<Integer, Map<Integer, byte[]>> damaged;
    private final Map<Integer, Integer> checksums;

    private final boolean isWhole;
    private final boolean isMadeAnew;

    private DamagedContainer(
            SealedContainer directory,
            FrameTable table,
            BitSet sound,
            Map<Integer, Map<Integer, byte[]>> damaged,
            Map<Integer, Integer> checksums,
            boolean isWhole,
            boolean isMadeAnew) {
        this.isWhole = isWhole;
        this.isMadeAnew = isMadeAnew;
        this.directory = directory;
        this.table = table;
        this.sound = sound;
        this.damaged = damaged;
        this.checksums = checksums;
    }

    /**
     * Verifies those frames of a container that have a slot of {@code slots}. One with a lost chunk counts as damaged,
     * and its other chunks as sound. So does one without bytes that lists a chunk of {@code slots}: recovery did not
     * find it.
     *
     * @param isMadeAnew whether the directory was made anew from the frames
     */
    static DamagedContainer of(Whole whole, BitSet slots, FrameDecoder decoder, boolean isMadeAnew) {
        FrameSalvage salvage = new FrameSalvage(decoder);
        FrameContent content = new FrameContent(decoder.cipher());
        BitSet sound = new BitSet();
        Map<Integer, Map<Integer, byte[]>> damaged = new LinkedHashMap<>();
        FrameTable table = whole.table();
        int slot = slots.nextSetBit(0);
        while (slot >= 0) {
            int next = slot + 1;
            int frame = table.anyFrameOf(slot);
            if (frame >= 0 && table.isRemoved(frame)) {
                if (whole.directory().isLost(slot)) {
                    damaged.put(frame, Map.of());
                }
            } else if (frame >= 0) {
                next = table.firstSlot(frame) + table.slotCount(frame);
                FrameDecoder.Expected expected = new FrameDecoder.Expected(whole.container(), whole.at(), frame);
                try {
                    Frame decoded = decoder.decode(whole.bytes(), (int) table.fileOffset(frame), expected, true);
                    sound.set(table.firstSlot(frame), next);
                    IntStream.range(table.firstSlot(frame), next)
                            .filter(decoded::isLost)
                            .forEach(sound::clear);
                    if (sound.nextClearBit(table.firstSlot(frame)) < next) {
                        damaged.put(frame, salvage.chunks(whole, frame));
                    }
                } catch (CorruptionException e) {
                    damaged.put(frame, salvage.chunks(whole, frame));
                }
            }
            slot = slots.nextSetBit(next);
        }
        Map<Integer, Integer> checksums = new HashMap<>();
        damaged.keySet().stream()
                .filter(frame -> !table.isRemoved(frame))
                .forEach(frame -> checksums.put(frame, checksum(whole, frame, content)));
        return new DamagedContainer(
                whole.directory(), table, sound, damaged, checksums, whole.isComplete(), isMadeAnew);
    }

    /**
     * Returns a checksum of what a frame keeps when it is copied as it is: of list and payload, or of all but its
     * header and its own checksum if these cannot be found in it.
     */
    static int checksum(Whole whole, int frame, FrameContent content) {
        int offset = (int) whole.table().fileOffset(frame);
        int length = whole.table().fileLength(frame);
        FrameFormat.Header header = FrameFormat.readHeader(whole.bytes(), offset, offset + length);
        CRC32C crc = new CRC32C();
        if (header != null && header.frameBytes() == length && content.open(whole.bytes(), offset, header) == null) {
            crc.update(content.bytes(), content.list(), header.contentBytes());
        } else {
            int count = length - FrameFormat.HEADER_BYTES - FrameFormat.CRC_BYTES;
            crc.update(whole.bytes(), offset + FrameFormat.HEADER_BYTES, Math.max(0, count));
        }
        return (int) crc.getValue();
    }

    /**
     * Returns whether the disk returned every block. If not, a frame that stays damaged must not be copied: the block
     * may be readable another time.
     */
    public boolean isWhole() {
        return isWhole;
    }

    /**
     * Returns whether the container's own directory is damaged, so that it was made anew from the frames. The slots of
     * a damaged frame have length 0 in it if its chunks are not known.
     */
    public boolean isMadeAnew() {
        return isMadeAnew;
    }

    public SealedContainer directory() {
        return directory;
    }

    /** Returns the slots of frames that turned out to be sound, except lost chunks. */
    public BitSet sound() {
        return sound;
    }

    /** Returns the numbers of the frames that are damaged, or have lost chunks. */
    public Set<Integer> damagedFrames() {
        return damaged.keySet();
    }

    /** Returns whether a frame has bytes in the container. */
    public boolean hasBytes(int frame) {
        return !table.isRemoved(frame);
    }

    /** Returns a checksum of the content of a damaged frame, as it is; see {@link FormerChunks#checksums}. */
    public int checksum(int frame) {
        return checksums.getOrDefault(frame, 0);
    }

    /** Returns the first slot of a frame. */
    public int firstSlot(int frame) {
        return table.firstSlot(frame);
    }

    /** Returns the last slot of a frame plus 1. */
    public int endSlot(int frame) {
        return table.firstSlot(frame) + table.slotCount(frame);
    }

    /** Returns those chunks of a damaged frame that have the right bytes nevertheless, by slot. */
    public Map<Integer, byte[]> salvaged(int frame) {
        return damaged.getOrDefault(frame, Map.of());
    }
}
