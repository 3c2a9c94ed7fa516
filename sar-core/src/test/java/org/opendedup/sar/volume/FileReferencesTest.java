package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.rewrite.FileState;
import org.opendedup.sar.volume.store.VolumeStores;

/** The references of a file are those of one moment, or none. */
@Timeout(60)
class FileReferencesTest {
    private static final int LENGTH = 3 << 20;

    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
    private Volume volume;
    private long inode;
    private OpenFile file;

    /** What a program does to a file while its references are visited. */
    private enum Change {
        NOTHING,
        WRITE_WITHOUT_STORING,
        WRITE_AND_STORE,
        PUNCH,
        CUT,
        APPEND_BY_REFERENCE
    }

    @BeforeEach
    void create() throws IOException {
        CrashDirectory data = new CrashDirectory(1);
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        Volume.create(config, data, metadata, InstantSource.system());
        HotChunks.Opener none = (location, timeline, settings, memory, counts, name) ->
                HotChunks.open(null, timeline, null, memory, counts, name);
        volume = Volume.open(
                config,
                new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system(), none, null),
                Verification.CHECKSUMS);
        inode = volume.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        file = volume.open(inode, true);
        byte[] content = new byte[LENGTH];
        new Random(1).nextBytes(content);
        volume.write(file, 0, ByteBuffer.wrap(content));
        volume.sync();
    }

    @AfterEach
    void close() throws IOException {
        volume.close(file);
        volume.close();
    }

    private void make(Change change) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(new byte[] {1, 2, 3});
        switch (change) {
            case NOTHING -> {}
            case WRITE_WITHOUT_STORING -> volume.write(file, LENGTH - 10, bytes);
            case WRITE_AND_STORE -> {
                volume.write(file, LENGTH - 10, bytes);
                volume.sync();
            }
            case PUNCH -> volume.zero(file, LENGTH / 2, 100_000, true);
            case CUT -> volume.change(inode, new AttributeChange(null, null, null, 1000L, null, null, null));
            case APPEND_BY_REFERENCE -> volume.copy(file, 0, file, LENGTH, 100_000);
        }
    }

    @ParameterizedTest
    @EnumSource(Change.class)
    void aChangeMeanwhileLeavesNoStateUnlessItIsInMemoryOnly(Change change) throws IOException {
        long[] visited = new long[2];
        Optional<FileState> state = volume.maintenance()
                .forEachReference(inode, (offset, chunk, from, length, prefix) -> {
                    if (visited[0]++ == 0) {
                        make(change);
                    }
                    visited[1] += length;
                });
        boolean isOneMoment = change == Change.NOTHING || change == Change.WRITE_WITHOUT_STORING;
        assertEquals(isOneMoment ? Optional.of((long) LENGTH) : Optional.empty(), state.map(FileState::size));
        if (isOneMoment) {
            assertEquals(LENGTH, visited[1]);
        }
    }

    @Test
    void whatWasWrittenBeforeIsIncludedWithoutACommit() throws IOException {
        volume.write(file, LENGTH, ByteBuffer.wrap(new byte[] {1, 2, 3}));
        volume.sync(file);
        volume.write(file, LENGTH + 3, ByteBuffer.wrap(new byte[] {4}));
        long[] end = new long[1];
        Optional<FileState> state = volume.maintenance()
                .forEachReference(inode, (offset, chunk, from, length, prefix) -> end[0] = offset + length);
        assertEquals(Optional.of(LENGTH + 4L), state.map(FileState::size));
        assertEquals(LENGTH + 4, end[0]);
    }
}
