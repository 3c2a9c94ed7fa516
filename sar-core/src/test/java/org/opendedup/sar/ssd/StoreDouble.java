package org.opendedup.sar.ssd;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;

/** Opens stores whose records are written and read in a way of the test's own. */
public final class StoreDouble {
    private final Supplier<RecordFormat> formats;
    private final UnaryOperator<Directory> disk;

    private StoreDouble(Supplier<RecordFormat> formats) {
        this(formats, UnaryOperator.identity());
    }

    private StoreDouble(Supplier<RecordFormat> formats, UnaryOperator<Directory> disk) {
        this.formats = formats;
        this.disk = disk;
    }

    /** The segment files lie on a disk of the test's own, made from the folder of the SSD. */
    public static StoreDouble onDisk(UnaryOperator<Directory> disk) {
        return onDisk(disk, null);
    }

    /** As above, encrypted with keys unless they are null. */
    static StoreDouble onDisk(UnaryOperator<Directory> disk, @Nullable VolumeKeys keys) {
        return new StoreDouble(() -> new RecordFormat(ContentHash.SHA_256, keys), disk);
    }

    /** Writing and reading stand still while a gate is closed: an SSD that is as slow as a test wants. */
    public static StoreDouble gated(Gate writes, Gate reads) {
        return gated(writes, reads, null);
    }

    /** As above, encrypted with keys unless they are null. */
    static StoreDouble gated(Gate writes, Gate reads, @Nullable VolumeKeys keys) {
        return new StoreDouble(() -> new GatedFormat(writes, reads, keys));
    }

    /** No record is checked: whatever can be decompressed is taken for the chunk. */
    public static StoreDouble blind() {
        return blindOnDisk(UnaryOperator.identity());
    }

    /** As {@link #blind}, with the segment files of {@link #onDisk}. */
    static StoreDouble blindOnDisk(UnaryOperator<Directory> disk) {
        return new StoreDouble(BlindFormat::new, disk);
    }

    /** See {@link SsdStore#open}. */
    public SsdStore open(
            Path location,
            Timeline timeline,
            long capacityBytes,
            StoreMemory memory,
            Runnable makeRoom,
            Consumer<IOException> failure)
            throws IOException {
        SsdStore.claim(location, timeline.current().volume());
        Path folder = Files.createDirectories(location.resolve(LocationFiles.SEGMENTS));
        return SsdStore.open(
                location,
                disk.apply(FileDirectory.open(folder)),
                formats.get(),
                timeline,
                capacityBytes,
                memory,
                makeRoom,
                failure);
    }

    private static final class GatedFormat extends RecordFormat {
        private final Gate writes;
        private final Gate reads;

        GatedFormat(Gate writes, Gate reads, @Nullable VolumeKeys keys) {
            super(ContentHash.SHA_256, keys);
            this.writes = writes;
            this.reads = reads;
        }

        @Override
        int encode(long chunkId, int fingerprintPrefix, byte[] data, int from, int rawLength, byte[] target, int at) {
            writes.pass();
            return super.encode(chunkId, fingerprintPrefix, data, from, rawLength, target, at);
        }

        @Override
        byte @Nullable [] decode(
                byte[] bytes,
                int at,
                int length,
                RecordSeal seal,
                long offset,
                long chunkId,
                int fingerprintPrefix,
                int wanted) {
            reads.pass();
            return super.decode(bytes, at, length, seal, offset, chunkId, fingerprintPrefix, wanted);
        }
    }

    private static final class BlindFormat extends RecordFormat {
        @Override
        boolean isRecordOf(byte[] bytes, int at, int length, RecordSeal seal, long chunkId) {
            return seal.lengthAt(bytes, at, length) == length;
        }

        @Override
        boolean isOf(RecordSeal.Opened record, int fingerprintPrefix) {
            return true;
        }
    }
}
