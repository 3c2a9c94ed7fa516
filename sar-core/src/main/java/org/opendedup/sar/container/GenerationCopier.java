package org.opendedup.sar.container;

import java.util.BitSet;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.SealedContainers.Whole;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.FrameCopier;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.RawFrame;

/**
 * Makes the next generation of a container, frame by frame, and has the memory for both; used again for others. For one
 * thread at a time.
 */
final class GenerationCopier {
    private final FrameCopier copier;
    private final ContainerCipher cipher;
    private final Bytes frames = new Bytes(0);
    private final Bytes chunkLists = new Bytes(0);
    /** Memory for the present generation; the caller reads it. */
    byte[] source = new byte[0];

    private final RawFrame replaced = new RawFrame(0);
    private final Bytes encoded = new Bytes(0);
    private final ContentHasher hasher = new ContentHasher();

    private @Nullable Copying copying;

    /** @param probe see {@link FrameCopier} */
    GenerationCopier(FrameDecoder decoder, @Nullable Compressor probe) {
        copier = new FrameCopier(decoder, probe);
        cipher = decoder.cipher();
    }

    /**
     * Begins a container.
     *
     * @param kept slots whose chunks stay
     * @param damaged slots that are known to be damaged
     * @param level zstd level of the recompressor; frames that keep all their chunks are compressed anew if it is
     *     higher than the container's
     * @param replacements for chunks of frames that are known to be damaged, or that have lost chunks
     */
    void begin(
            Whole whole, BitSet kept, BitSet damaged, Compressor recompressor, int level, Replacements replacements) {
        frames.clear();
        chunkLists.clear();
        copying = new Copying(whole, kept, damaged, recompressor, level, replacements);
    }

    /**
     * Copies the next frame, and verifies its chunks by their fingerprints; returns false if there is none.
     *
     * @throws DamagedFrame if it is damaged and not known to be
     */
    boolean copyFrame() throws DamagedFrame {
        return Objects.requireNonNull(copying).copyFrame();
    }

    /** Ends the container. The result uses the memory of this object until the next one begins. */
    NextGeneration end() {
        NextGeneration made = Objects.requireNonNull(copying).end();
        copying = null;
        return made;
    }

    /** A container that is being copied. */
    private final class Copying {
        private final Whole whole;
        private final FrameTable table;
        private final BitSet kept;
        private final BitSet removed;
        private final BitSet damaged;
        private final ContainerWriting next;
        private final FrameTable.Builder newTable;
        private final Compressor recompressor;
        private final int level;
        private final Replacements replacements;
        private int frame;
        private long rawBytes;
        private long bytesBefore;
        private long savedBytes;
        private boolean isCompressedAnew;
        private boolean hasLost;

        Copying(
                Whole whole,
                BitSet kept,
                BitSet damaged,
                Compressor recompressor,
                int level,
                Replacements replacements) {
            this.replacements = replacements;
            this.whole = whole;
            this.kept = kept;
            this.damaged = damaged;
            this.recompressor = recompressor;
            this.level = level;
            table = whole.table();
            removed = (BitSet) kept.clone();
            removed.flip(0, table.slots());
            next = new ContainerWriting(
                    cipher,
                    new ContainerIdentity(
                            whole.container(),
                            table.writing().salt(),
                            whole.stored().writing().generation() + 1));
            newTable = new FrameTable.Builder(next.identity().writing());
        }

        boolean copyFrame() throws DamagedFrame {
            if (frame == table.frames()) {
                return false;
            }
            if (replacements.hasFrame(frame)) {
                copyReplaced();
            } else {
                FrameDecoder.Expected expected = new FrameDecoder.Expected(whole.container(), whole.at(), frame);
                try {
                    copySound(expected);
                } catch (CorruptionException e) {
                    if (!isKnownToBeDamaged()) {
                        throw new DamagedFrame(table.firstSlot(frame), table.slotCount(frame), e);
                    }
                    copyDamaged(expected, e);
                }
            }
            bytesBefore += table.fileLength(frame);
            frame++;
            return true;
        }

        private void copySound(FrameDecoder.Expected expected) throws CorruptionException {
            int offset = ContainerFormat.HEADER_BYTES + frames.length();
            Bytes copied = copier.copy(
                    whole.bytes(),
                    (int) table.fileOffset(frame),
                    expected,
                    removed,
                    next,
                    recompressor,
                    level > whole.stored().recompressed());
            int length = copied == null ? 0 : copied.length();
            if (copied != null) {
                frames.putBytes(copied.array(), 0, length);
                copier.putList(chunkLists);
            }
            newTable.add(table.firstSlot(frame), table.slotCount(frame), offset, length, copier.rawBytes());
            rawBytes += copier.listedBytes();
            hasLost |= copier.listedBytes() > copier.rawBytes();
            savedBytes += copier.savedBytes();
            isCompressedAnew |= copier.isCompressedAnew();
        }

        /** The list in the frame may be damaged as well; the one in the directory is whole. */
        private void copyDamaged(FrameDecoder.Expected expected, CorruptionException why) throws DamagedFrame {
            if (!whole.isComplete()) {
                // The zeros of a block that may be readable another time.
                throw new DamagedFrame(table.firstSlot(frame), table.slotCount(frame), why);
            }
            int offset = ContainerFormat.HEADER_BYTES + frames.length();
            Bytes copied = copier.copyDamaged(whole.bytes(), (int) table.fileOffset(frame), expected, next);
            frames.putBytes(copied.array(), 0, copied.length());
            whole.directory().putChunkList(frame, chunkLists);
            newTable.add(
                    table.firstSlot(frame), table.slotCount(frame), offset, copied.length(), table.rawLength(frame));
            rawBytes += bytesInUse();
            hasLost |= IntStream.range(0, table.slotCount(frame))
                    .anyMatch(slot -> whole.directory().isLost(table.firstSlot(frame) + slot));
        }

        /**
         * Makes the frame from replacements of its chunks, each verified by its fingerprint; a chunk without one is
         * lost.
         */
        private void copyReplaced() {
            SealedContainer directory = whole.directory();
            int first = table.firstSlot(frame);
            replaced.start(first);
            for (int slot = first; slot < first + table.slotCount(frame); slot++) {
                int length = directory.listedLength(slot);
                if (!kept.get(slot) || length == 0) {
                    replaced.addRemoved();
                    continue;
                }
                byte[] chunk = replacements.chunk(slot);
                int fingerprint = slot * Fingerprints.BYTES;
                if (chunk != null
                        && chunk.length == length
                        && hasher.matches(chunk, 0, length, directory.fingerprints(), fingerprint)) {
                    replaced.add(chunk, 0, length, directory.fingerprints(), fingerprint);
                } else {
                    replaced.addLost(length, directory.fingerprints(), fingerprint);
                }
            }
            hasLost |= replaced.hasLost();
            int offset = ContainerFormat.HEADER_BYTES + frames.length();
            int length = 0;
            if (replaced.listedBytes() > 0) {
                FrameFormat.encode(replaced, next, recompressor, encoded);
                length = encoded.length();
                frames.putBytes(encoded.array(), 0, length);
                replaced.putList(chunkLists);
            }
            newTable.add(first, table.slotCount(frame), offset, length, replaced.bytes());
            rawBytes += replaced.listedBytes();
        }

        /**
         * Returns whether all bytes of the frame that files need are known to be damaged. A mark on a chunk that is
         * lost says nothing of the others: the frame was sound when it was written.
         */
        private boolean isKnownToBeDamaged() {
            int first = table.firstSlot(frame);
            int end = first + table.slotCount(frame);
            int marked = damaged.nextSetBit(first);
            if (marked < 0 || marked >= end) {
                return false;
            }
            SealedContainer directory = whole.directory();
            for (int slot = kept.nextSetBit(first); slot >= 0 && slot < end; slot = kept.nextSetBit(slot + 1)) {
                if (!damaged.get(slot) && !directory.isLost(slot)) {
                    return false;
                }
            }
            return true;
        }

        /**
         * The chunks of a damaged frame that are not in use do not count: they cannot be removed, and would let the
         * container be chosen again and again.
         */
        private long bytesInUse() {
            int end = table.firstSlot(frame) + table.slotCount(frame);
            long bytes = 0;
            for (int slot = table.firstSlot(frame); slot < end; slot++) {
                bytes += kept.get(slot) ? whole.directory().listedLength(slot) : 0;
            }
            return bytes;
        }

        NextGeneration end() {
            int before = whole.stored().recompressed();
            return new NextGeneration(
                    next,
                    whole.stored(),
                    newTable.build(),
                    frames,
                    chunkLists,
                    rawBytes,
                    isCompressedAnew || before < level ? level : before,
                    bytesBefore,
                    savedBytes,
                    hasLost);
        }
    }
}
