package org.opendedup.sar.ssd;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.io.FileDirectory;

/**
 * Opens stores whose writing and reading stand still while a gate is closed: an SSD that is as slow as a test wants.
 */
public final class GatedStore {
    private GatedStore() {}

    /** Opened and closed by a test; open at first. */
    public static final class Gate {
        private boolean closed;
        private int waiting;

        public synchronized void close() {
            closed = true;
        }

        public synchronized void open() {
            closed = false;
            notifyAll();
        }

        /** Waits until a thread stands before this. */
        synchronized void awaitOne() throws InterruptedException {
            while (waiting == 0) {
                wait();
            }
        }

        synchronized void pass() {
            boolean interrupted = false;
            waiting++;
            notifyAll();
            while (closed) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            waiting--;
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** See {@link SsdStore#open}. */
    public static SsdStore open(
            Path location,
            Timeline timeline,
            long capacityBytes,
            StoreMemory memory,
            Runnable makeRoom,
            Consumer<IOException> failure,
            Gate writes,
            Gate reads)
            throws IOException {
        SsdStore.claim(location, timeline.current().volume());
        Path folder = Files.createDirectories(location.resolve(SsdStore.SEGMENTS_FOLDER));
        return SsdStore.open(
                location,
                FileDirectory.open(folder),
                new GatedFormat(writes, reads),
                timeline,
                capacityBytes,
                memory,
                makeRoom,
                failure);
    }

    private static final class GatedFormat extends RecordFormat {
        private final Gate writes;
        private final Gate reads;

        GatedFormat(Gate writes, Gate reads) {
            this.writes = writes;
            this.reads = reads;
        }

        @Override
        int encode(long chunkId, int check, byte[] data, int from, int rawLength, byte[] target, int at) {
            writes.pass();
            return super.encode(chunkId, check, data, from, rawLength, target, at);
        }

        @Override
        byte @Nullable [] decode(byte[] bytes, int at, int length, long salt, long chunkId, int check, int wanted) {
            reads.pass();
            return super.decode(bytes, at, length, salt, chunkId, check, wanted);
        }
    }
}
