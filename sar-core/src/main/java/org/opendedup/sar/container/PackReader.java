package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.format.ByteReader;
import org.opendedup.sar.container.format.ChunkEntry;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameContent;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.NoAnswer;

/**
 * Reads what lies in one pack, without the container table: for the check of a volume, and for making that table anew.
 * Changes nothing. For one thread.
 *
 * <p>A container begins at a multiple of {@value PackFormat#ALIGNMENT} bytes, with its header. Its frames name it, and
 * so does its footer; so its length can be found without the table, by reading it once. Bytes that belong to a
 * container are not searched for further ones: a user's file may have the bytes of a pack.
 */
public final class PackReader implements Closeable {
    /**
     * Longest part of a pack, in bytes, that is searched for the rest of a container with a damaged frame or without a
     * footer.
     */
    private static final long MAX_CONTAINER_BYTES = 64L << 20;

    /** A header and the header of a frame: nothing shorter is of use. */
    private static final int MIN_CONTAINER_BYTES = ContainerFormat.HEADER_BYTES + FrameFormat.HEADER_BYTES;

    private final WatchedInput input;
    private final long pack;
    private final String name;
    private final long length;
    private final ContainerCipher cipher;
    private final ReadStatistics statistics = new ReadStatistics();

    private PackReader(WatchedInput input, long pack, ContainerCipher cipher) throws IOException {
        this.cipher = cipher;
        this.input = input;
        this.pack = pack;
        name = PackFormat.fileName(pack);
        length = input.length();
    }

    /** Returns the numbers of the packs in a folder, in ascending order. */
    public static long[] packs(Directory directory) throws IOException {
        return directory.list().stream()
                .map(PackFormat::numberOf)
                .flatMapToLong(OptionalLong::stream)
                .sorted()
                .toArray();
    }

    /** @throws java.nio.file.NoSuchFileException if there is no such pack */
    static PackReader open(Directory directory, long pack, ContainerCipher cipher) throws IOException {
        WatchedInput input = new WatchedInput(directory.open(PackFormat.fileName(pack)));
        try {
            return new PackReader(input, pack, cipher);
        } catch (IOException e) {
            input.close();
            throw e;
        }
    }

    /** Returns the length of the pack's file in bytes. */
    public long length() {
        return length;
    }

    /**
     * Returns whether a part of the pack could not be read so far. What was not found may be there then: nobody may
     * take it for lost.
     */
    public boolean hasUnreadable() {
        return input.hasUnreadable();
    }

    /** @throws CorruptionException if the pack's own header is damaged, or is that of another pack */
    public void checkHeader() throws IOException {
        ByteBuffer header = ByteBuffer.allocate(PackFormat.FIRST_CONTAINER);
        input.readFully(0, header);
        PackFormat.checkHeader(header.array(), pack);
    }

    /**
     * Reads footer and directory of a sealed container, and neither its header nor a frame: all that is needed to read
     * its chunks.
     *
     * @throws CorruptionException if it is not there with that length
     */
    public FoundContainer sealed(long container, long offset, long bytes) throws IOException {
        if (bytes < 0 || offset < 0 || bytes > length - offset) {
            throw new CorruptionException(
                    place(offset), length, "a container of " + bytes + " bytes", "the end of the file");
        }
        SealedContainer directory = reader(container, offset, bytes).directoryWithoutHeader();
        BitSet present = new BitSet();
        for (int slot = 0; slot < directory.slots(); slot++) {
            present.set(slot, directory.length(slot) > 0);
        }
        return FoundContainer.sealed(directory, pack, offset, bytes, present);
    }

    private DirectoryReader reader(long container, long offset, long bytes) {
        return new DirectoryReader(new SlicedInput(input, offset, bytes), container, place(offset), cipher, statistics);
    }

    private String place(long offset) {
        return name + " from byte " + offset;
    }

    /** @throws CorruptionException if the header at an offset is not that of the container found there */
    public void checkHeader(FoundContainer found) throws IOException {
        long offset = found.stored().offset();
        byte[] header = new byte[ContainerFormat.HEADER_BYTES];
        input.readFully(offset, ByteBuffer.wrap(header));
        ContainerIdentity identity = ContainerFormat.readHeader(header, found.container(), cipher, place(offset));
        if (!identity.writing().equals(found.stored().writing())) {
            throw new CorruptionException(
                    place(offset),
                    0,
                    found.stored().writing().toString(),
                    identity.writing().toString());
        }
    }

    /**
     * Returns which container begins at an offset, by its header or by its first frame; null if none does. A
     * container's id is never greater than the number of its pack.
     */
    private @Nullable ContainerIdentity identity(long offset) throws IOException {
        if (length - offset < MIN_CONTAINER_BYTES) {
            return null;
        }
        byte[] begin = new byte[MIN_CONTAINER_BYTES];
        input.readFully(offset, ByteBuffer.wrap(begin));
        ContainerIdentity identity = null;
        try {
            identity = ContainerFormat.readHeader(begin, cipher, place(offset));
        } catch (CorruptionException e) {
            FrameFormat.Header frame =
                    FrameFormat.readHeader(begin, ContainerFormat.HEADER_BYTES, FrameFormat.MAX_FRAME_BYTES);
            if (frame != null
                    && frame.tagBytes() == cipher.tagBytes()
                    && isWhole(frame, offset + ContainerFormat.HEADER_BYTES)) {
                identity = frame.identity();
            }
        }
        return identity != null && identity.container() > 0 && identity.container() <= pack ? identity : null;
    }

    private boolean isWhole(FrameFormat.Header frame, long offset) throws IOException {
        if (frame.frameBytes() > length - offset) {
            return false;
        }
        byte[] bytes = new byte[frame.frameBytes()];
        try {
            input.readFully(offset, ByteBuffer.wrap(bytes));
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            return false; // A sector of it cannot be read; the rest of the pack may be readable.
        }
        return FrameFormat.crcHolds(bytes, 0, frame);
    }

    /**
     * Reads the container that begins at an offset, all its frames included. It is sealed if its footer and directory
     * are whole, and open otherwise; an open one ends with its last whole frame.
     *
     * @param limit length in bytes that it has at most
     * @return null if no container begins there, or an open one has no whole frame
     */
    public @Nullable FoundContainer whole(long offset, long limit) throws IOException {
        ContainerIdentity identity = identity(offset);
        return identity == null ? null : new Walk(offset, identity, limit).run();
    }

    /** Returns the container in a place that the container table names, as it really is there. */
    public @Nullable FoundContainer at(long container, StoredContainer stored) throws IOException {
        return stored.state() == State.SEALED
                ? sealed(container, stored.offset(), stored.bytes())
                : whole(stored.offset(), Math.min(stored.bytes(), length - stored.offset()));
    }

    /** Where the containers of a pack are thought to end: a guess, which saves reading their frames if it is right. */
    @FunctionalInterface
    public interface Lengths {
        /** Returns the length in bytes of the container that begins at {@code offset}; 0 if unknown. */
        long at(long offset);
    }

    /** Receives the containers of a pack; see {@link #forEach}. */
    @FunctionalInterface
    public interface Visitor {
        void visit(FoundContainer found) throws IOException;
    }

    /** Visits all containers of the pack in the order of their offsets. */
    public void forEach(Lengths lengths, Visitor visitor) throws IOException {
        HeaderWindow window = new HeaderWindow();
        long at = PackFormat.FIRST_CONTAINER;
        while (at < length) {
            FoundContainer found = window.mayBegin(at) ? found(at, lengths.at(at)) : null;
            if (found == null) {
                at += PackFormat.ALIGNMENT;
            } else {
                visitor.visit(found);
                at = PackFormat.align(at + found.stored().bytes());
            }
        }
    }

    private @Nullable FoundContainer found(long offset, long guess) throws IOException {
        ContainerIdentity identity = identity(offset);
        if (identity != null && guess > 0 && guess <= length - offset) {
            try {
                return sealed(identity.container(), offset, guess);
            } catch (UnsupportedFormatException e) {
                throw e;
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                // The guess is wrong, or its directory is damaged: its frames tell.
                return whole(offset, Long.MAX_VALUE);
            }
        }
        return identity == null ? null : whole(offset, Long.MAX_VALUE);
    }

    /** Reads the pack in large pieces where no container is, and looks only at the first bytes of each block. */
    private final class HeaderWindow {
        private static final int BYTES = 1 << 20;

        private final byte[] window = new byte[BYTES];
        private long start;
        private int bytes;
        /** Up to there, blocks are read one by one: one of them cannot be read. */
        private long singlyUntil;

        boolean mayBegin(long offset) throws IOException {
            if (length - offset < MIN_CONTAINER_BYTES) {
                return false;
            }
            if (offset < start || offset + MIN_CONTAINER_BYTES > start + bytes) {
                // After a container follows another one, mostly: a block is enough to see that.
                boolean goesOn = bytes > 0 && offset == start + bytes && offset >= singlyUntil;
                int wanted = (int) Math.min(goesOn ? BYTES : PackFormat.ALIGNMENT, length - offset);
                start = offset;
                bytes = fill(offset, wanted);
            }
            int at = (int) (offset - start);
            return ContainerFormat.magicAt(window, at)
                    || FrameFormat.magicAt(window, at + ContainerFormat.HEADER_BYTES);
        }

        /** Reads a part of the pack, or only its first block if not all of it can be read; returns how many bytes. */
        private int fill(long offset, int wanted) throws IOException {
            try {
                input.readFully(offset, ByteBuffer.wrap(window, 0, wanted));
                return wanted;
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                if (wanted > PackFormat.ALIGNMENT) {
                    singlyUntil = offset + BYTES;
                    return fill(offset, PackFormat.ALIGNMENT);
                }
                // A block that cannot be read has no header; the next block may be readable.
                Arrays.fill(window, 0, PackFormat.ALIGNMENT, (byte) 0);
                return wanted;
            }
        }
    }

    /** Reads one container from its header on. */
    private final class Walk {
        private final long offset;
        private final ContainerIdentity identity;
        private final SalvagedFile file;
        private final FrameTable.Builder table;
        private final BitSet whole = new BitSet();
        private final BitSet lost = new BitSet();
        private final FrameContent content = new FrameContent(cipher);
        private int[] lengths = new int[256];
        private int[] prefixes = new int[256];
        private long end;

        Walk(long offset, ContainerIdentity identity, long limit) throws IOException {
            this.offset = offset;
            this.identity = identity;
            long most = Math.min(Math.min(limit, MAX_CONTAINER_BYTES), length - offset);
            file = new SalvagedFile(new SlicedInput(input, offset, most), place(offset), most);
            table = new FrameTable.Builder(identity.writing());
        }

        @Nullable
        FoundContainer run() throws IOException {
            long at = ContainerFormat.HEADER_BYTES;
            while (file.has(at, ContainerFormat.FOOTER_BYTES)) {
                FrameFormat.Header frame = frameAt(at);
                if (frame != null) {
                    add(frame, at);
                    at += frame.frameBytes();
                    end = at;
                } else {
                    FoundContainer sealed = sealedAt(at);
                    if (sealed != null) {
                        return sealed;
                    }
                    at++;
                }
            }
            return table.frames() == 0
                    ? null
                    : FoundContainer.open(
                            identity.container(),
                            pack,
                            offset,
                            end,
                            table.build(),
                            Arrays.copyOf(lengths, table.slots()),
                            Arrays.copyOf(prefixes, table.slots()),
                            lost);
        }

        private FrameFormat.@Nullable Header frameAt(long at) throws IOException {
            int room = (int) Math.min(file.length() - at, FrameFormat.MAX_FRAME_BYTES);
            int place = file.place(at);
            if (!FrameFormat.magicAt(file.bytes(), place)) {
                return null;
            }
            FrameFormat.Header frame = FrameFormat.readHeader(file.bytes(), place, place + room);
            boolean isNext = frame != null
                    && frame.identity().equals(identity)
                    && frame.firstSlot() >= table.slots()
                    && file.has(at, frame.frameBytes())
                    && FrameFormat.crcHolds(file.bytes(), file.place(at), frame)
                    && content.open(file.bytes(), file.place(at), frame) == null;
            return isNext ? frame : null;
        }

        private void add(FrameFormat.Header frame, long at) throws CorruptionException {
            table.add(frame.firstSlot(), frame.chunks(), (int) at, frame.frameBytes(), frame.rawBytes());
            if (table.slots() > lengths.length) {
                int room = Math.max(table.slots(), 2 * lengths.length);
                lengths = Arrays.copyOf(lengths, room);
                prefixes = Arrays.copyOf(prefixes, room);
            }
            ByteReader in = content.listReader(place(offset));
            for (int slot = frame.firstSlot(); slot < table.slots(); slot++) {
                int entry = in.readVarint();
                lengths[slot] = ChunkEntry.storedBytes(entry);
                if (ChunkEntry.hasFingerprint(entry)) {
                    prefixes[slot] = Fingerprints.fingerprintPrefix(content.bytes(), in.position());
                    in.skip(Fingerprints.BYTES);
                    whole.set(slot, lengths[slot] > 0);
                    lost.set(slot, ChunkEntry.isLost(entry));
                }
            }
        }

        /** Returns the container if its footer is at that place, and its directory is whole. */
        private @Nullable FoundContainer sealedAt(long at) throws IOException {
            if (!ContainerFormat.footerMagicAt(file.bytes(), file.place(at))) {
                return null;
            }
            long bytes = at + ContainerFormat.FOOTER_BYTES;
            try {
                SealedContainer directory =
                        reader(identity.container(), offset, bytes).directoryWithoutHeader();
                return directory.frameTable().writing().equals(identity.writing())
                        ? FoundContainer.sealed(directory, pack, offset, bytes, whole)
                        : null;
            } catch (UnsupportedFormatException e) {
                throw e;
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                return null; // Damaged: the frames are what is left.
            }
        }
    }

    @Override
    public void close() throws IOException {
        input.close();
    }
}
