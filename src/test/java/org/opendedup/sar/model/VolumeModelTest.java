package org.opendedup.sar.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.VolumeConfig;

/** A whole volume on real files does what the model does. {@code -Dsar.seed=N -Dsar.ops=M} goes deeper. */
class VolumeModelTest {
    private static final int OPS = 1000;
    private static final int SEEDS = 3;

    @TempDir
    Path folder;

    static Stream<Arguments> seedsAndChunkings() {
        return Seeds.upTo(SEEDS)
                .boxed()
                .flatMap(seed -> Stream.of(Chunking.values()).map(chunking -> Arguments.of(seed, chunking)));
    }

    @ParameterizedTest
    @MethodSource("seedsAndChunkings")
    void aVolumeDoesWhatTheModelDoes(long seed, Chunking chunking) throws IOException {
        new Comparison(() -> newVolume(chunking)).check(seed, Seeds.ops(OPS), getClass());
    }

    private FileSystem newVolume(Chunking chunking) throws IOException {
        VolumeConfig config = TestVolumes.config(Files.createTempDirectory(folder, "volume"), chunking);
        Volume.create(config);
        return new VolumeFileSystem(() -> Volume.open(config), VolumeChecker::check);
    }
}
