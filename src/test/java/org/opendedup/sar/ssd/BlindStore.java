package org.opendedup.sar.ssd;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.io.FileDirectory;

/** Opens stores that check no record: whatever can be decompressed is taken for the chunk. */
public final class BlindStore {
    private BlindStore() {}

    /** See {@link SsdStore#open}. */
    public static SsdStore open(
            Path location,
            Timeline timeline,
            long capacityBytes,
            StoreMemory memory,
            Runnable makeRoom,
            Consumer<IOException> failure)
            throws IOException {
        SsdStore.claim(location, timeline.current().volume());
        Path folder = Files.createDirectories(location.resolve(SsdStore.SEGMENTS_FOLDER));
        return SsdStore.open(
                location,
                FileDirectory.open(folder),
                new BlindFormat(),
                timeline,
                capacityBytes,
                memory,
                makeRoom,
                failure);
    }

    private static final class BlindFormat extends RecordFormat {
        @Override
        boolean isRecordOf(byte[] bytes, int at, int length, long salt, long chunkId, int check) {
            return lengthAt(bytes, at, length) == length;
        }
    }
}
