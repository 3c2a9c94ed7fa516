package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.FrameCopier;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;

/** The bytes of a sealed container, and of its next generations. */
public record ContainerBytes(ContainerIdentity identity, byte[] bytes, FrameTable table, ContainerCipher cipher) {
    private static final String NAME = "container";

    /** Reads a container, with all checks of its directory. */
    public static ContainerBytes of(long container, byte[] bytes, ContainerCipher cipher) throws IOException {
        SealedContainer directory = directory(container, bytes, cipher);
        ContainerIdentity identity = new ContainerIdentity(
                container,
                directory.frameTable().writing().salt(),
                directory.frameTable().writing().generation());
        return new ContainerBytes(identity, bytes, directory.frameTable(), cipher);
    }

    private static SealedContainer directory(long container, byte[] bytes, ContainerCipher cipher) throws IOException {
        CrashDirectory disk = new CrashDirectory(0);
        disk.put(NAME, bytes);
        try (Input input = disk.open(NAME)) {
            return new DirectoryReader(input, container, NAME, cipher, new ReadStatistics()).directory();
        }
    }

    SealedContainer directory() throws IOException {
        return directory(identity.container(), bytes, cipher);
    }

    FrameDecoder.Expected expected(int frame) {
        return new FrameDecoder.Expected(identity.container(), new LocatedTable(1, 0, table), frame);
    }

    /** Returns the number of bytes of all chunks. */
    long rawBytes() {
        long rawBytes = 0;
        for (int frame = 0; frame < table.frames(); frame++) {
            rawBytes += table.rawLength(frame);
        }
        return rawBytes;
    }

    /**
     * Returns the next generation.
     *
     * @param removed slots whose chunks it leaves out
     * @param recompress compresses all frames anew that get smaller by it; null: only those that lose chunks
     */
    public ContainerBytes without(BitSet removed, Compressor compressor, @Nullable Compressor recompress)
            throws IOException {
        ContainerWriting next = new ContainerWriting(
                cipher, new ContainerIdentity(identity.container(), identity.salt(), identity.generation() + 1));
        FrameCopier copier = new FrameCopier(new FrameDecoder(compressor, cipher), null);
        FrameTable.Builder frames = new FrameTable.Builder(next.identity().writing());
        Bytes out = ContainerFormat.begin(next, 0);
        Bytes chunkLists = new Bytes(1024);
        for (int frame = 0; frame < table.frames(); frame++) {
            int first = table.firstSlot(frame);
            int slots = table.slotCount(frame);
            Bytes copy = copier.copy(
                    bytes,
                    (int) table.fileOffset(frame),
                    expected(frame),
                    removed,
                    next,
                    recompress == null ? compressor : recompress,
                    recompress != null);
            if (copy == null) {
                frames.addRemoved(first, slots);
            } else {
                frames.add(first, slots, out.length(), copy.length(), copier.rawBytes());
                copier.putList(chunkLists);
                out.putBytes(copy.array(), 0, copy.length());
            }
        }
        return sealed(next, out, frames, chunkLists, cipher);
    }

    static ContainerBytes sealed(
            ContainerWriting writing, Bytes out, FrameTable.Builder frames, Bytes chunkLists, ContainerCipher cipher)
            throws IOException {
        Bytes tail = ContainerFormat.tail(writing, frames.build().encode(), chunkLists, out.length());
        out.putBytes(tail.array(), 0, tail.length());
        byte[] bytes = new byte[out.length()];
        System.arraycopy(out.array(), 0, bytes, 0, bytes.length);
        return of(writing.identity().container(), bytes, cipher);
    }

    /** Returns the container that the entry names. */
    public static ContainerBytes read(
            Directory directory, long container, StoredContainer entry, ContainerCipher cipher) throws IOException {
        byte[] bytes = new byte[(int) entry.bytes()];
        try (Input input = directory.open(PackFormat.fileName(entry.pack()))) {
            input.readFully(entry.offset(), ByteBuffer.wrap(bytes));
        }
        return of(container, bytes, cipher);
    }

    /** Writes the container to a pack of its own, with this number; returns its entry. */
    public StoredContainer write(Directory directory, long pack) throws IOException {
        try (Output output = directory.create(PackFormat.fileName(pack))) {
            output.append(PackFormat.header(pack).buffer());
            output.append(ByteBuffer.wrap(bytes));
            output.force();
        }
        directory.sync();
        return new StoredContainer(
                identity.writing(),
                StoredContainer.State.SEALED,
                pack,
                PackFormat.FIRST_CONTAINER,
                bytes.length,
                table.slots(),
                rawBytes());
    }

    /**
     * Writes a container anew without some of its chunks, while no store is open, and commits its place.
     *
     * @param removed its slots
     * @param compression of frames that lose chunks
     */
    public static void remove(
            Directory directory,
            HeapContainerTable table,
            long container,
            BitSet removed,
            Compression compression,
            ContainerCipher cipher)
            throws IOException {
        StoredContainer entry = Objects.requireNonNull(table.stored(container));
        try (Compressor compressor = new Compressor(compression)) {
            ContainerBytes next = read(directory, container, entry, cipher).without(removed, compressor, null);
            StoredContainer written =
                    next.write(directory, 1000 * container + next.identity().generation());
            table.commit(new ContainerChanges(Map.of(container, written), Set.of()));
        }
    }
}
