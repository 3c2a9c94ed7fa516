package org.opendedup.sar.sim.estimate;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;

/** Estimates, next to what a volume made of the same files. */
@Timeout(60)
class EstimateVersusVolumeTest {
    private static final int FILES = 4;
    private static final int BLOCKS_OF_FILE = 2500;
    /** Too small for more than an eighth of the chunks. */
    private static final int SMALL_BYTES = 48 << 10;
    /** Too small for more than one in some sixty. */
    private static final int VERY_SMALL_BYTES = 4 << 10;
    /** Of what depends on when a volume ends frames and containers. */
    private static final double STORED_TOLERANCE = 0.01;
    /** A correct estimate is farther off once in 16 000 times. */
    private static final double STANDARD_ERRORS = 4;

    @TempDir
    static Path folder;

    private static long seed;
    private static List<Path> files;
    private static RealVolume fixed;
    private static RealVolume variable;

    @BeforeAll
    static void storeFiles() throws IOException {
        seed = TestSeed.next();
        Path data = Files.createDirectory(folder.resolve("data"));
        files = new MadeData(seed).makeFiles(data, FILES, BLOCKS_OF_FILE);
        fixed = RealVolume.of(folder.resolve("fixed"), Chunking.SHA256, files);
        variable = RealVolume.of(folder.resolve("variable"), Chunking.VARIABLE_SHA256, files);
    }

    @Test
    void withAllChunksItIsWhatAVolumeStores() throws IOException {
        Estimate estimate = estimate(Chunking.SHA256, 64 << 20, 1);
        assertEquals(1, estimate.chunkShare());
        assertExact(fixed.statistics().chunks(), estimate.chunks());
        assertExact(fixed.statistics().uniqueBytes(), estimate.uniqueBytes());
        assertEquals(fixed.statistics().logicalBytes(), estimate.dataBytes());
        assertEquals(estimate.bytes(), estimate.zeroBytes() + estimate.dataBytes());
        assertNear(
                (double) fixed.statistics().storedBytes(),
                estimate.storedBytes().value(),
                STORED_TOLERANCE);
        assertEquals(0, estimate.storedBytes().standardError());
    }

    @Test
    void withChunksCutByContentItIsWhatAVolumeStores() throws IOException {
        Estimate estimate = estimate(Chunking.VARIABLE_SHA256, 64 << 20, 1);
        // A zero run that continues in the next write may be cut differently.
        assertNear(
                (double) variable.statistics().uniqueBytes(),
                estimate.uniqueBytes().value(),
                0.002);
        assertNear((double) variable.statistics().chunks(), estimate.chunks().value(), 0.002);
        assertNear(
                (double) variable.statistics().storedBytes(),
                estimate.storedBytes().value(),
                STORED_TOLERANCE);
    }

    @Test
    void aSampleOfChunksIsWithinItsStatedError() throws IOException {
        for (int i = 0; i < 3; i++) {
            Estimate estimate = estimate(Chunking.SHA256, SMALL_BYTES, seed + i);
            assertTrue(estimate.chunkShare() < 0.2, () -> "share " + estimate.chunkShare());
            assertAll(
                    () -> assertWithinError(fixed.statistics().chunks(), estimate.chunks()),
                    () -> assertWithinError(fixed.statistics().uniqueBytes(), estimate.uniqueBytes()),
                    () -> assertWithinError(fixed.statistics().storedBytes(), estimate.storedBytes()));
        }
    }

    /** The control: of a tenth of the blocks, drawn by place, few meet their duplicates. The comparison must notice. */
    @Test
    void aSampleOfPlacesIsNot() throws IOException {
        Path part = folder.resolve("part");
        var random = new Random(seed);
        try (OutputStream out = Files.newOutputStream(part)) {
            for (Path file : files) {
                byte[] data = Files.readAllBytes(file);
                for (int at = 0; at < data.length; at += MadeData.BLOCK_BYTES) {
                    if (random.nextInt(10) == 0) {
                        out.write(data, at, MadeData.BLOCK_BYTES);
                    }
                }
            }
        }
        Estimate sample = Estimator.estimate(
                List.of(part), settings(Chunking.SHA256, 64 << 20, 1), Progress.NONE, line -> {}, () -> false);
        double scale = (double) FILES * BLOCKS_OF_FILE * MadeData.BLOCK_BYTES / sample.bytes();
        double error =
                estimate(Chunking.SHA256, SMALL_BYTES, seed).uniqueBytes().standardError();
        Figure naive = new Figure(sample.uniqueBytes().value() * scale, error);
        assertThrows(
                AssertionError.class,
                () -> assertWithinError(fixed.statistics().uniqueBytes(), naive),
                () -> naive + " for " + fixed.statistics().uniqueBytes());
    }

    @Test
    void readingBackIsPredictedAsTheVolumeItselfPredictsIt() throws IOException {
        Estimate estimate = estimate(Chunking.SHA256, 64 << 20, 1);
        for (int file = 0; file < FILES; file++) {
            FileFragmentation real = fixed.fragmentation().get(file);
            Estimate.RestoreRow predicted = estimate.restores().get(file);
            assertEquals(real.bytes(), predicted.dataBytes());
            double seconds = predicted.dataBytes() / Objects.requireNonNull(predicted.bytesPerSecond());
            assertSameSeconds(real, seconds, predicted.requests());
        }
    }

    /** The control: a model that seeks at the borders of containers. One such border in a file must be noticed. */
    @Test
    void aSeekAtTheBorderOfContainersIsNoticed() throws IOException {
        FileFragmentation real = fixed.fragmentation().get(0);
        Estimate.RestoreRow predicted =
                estimate(Chunking.SHA256, 64 << 20, 1).restores().get(0);
        assertTrue(real.containerReads() > real.requests(), real::toString);
        double seconds = DiskModel.HDD.seconds(predicted.requests() + 1, predicted.diskBytes());
        assertThrows(AssertionError.class, () -> assertSameSeconds(real, seconds, predicted.requests() + 1));
    }

    /**
     * Compares the disk's time for a file. The model knows the place of each end of a request to a slice, and the bytes
     * in between to {@link #STORED_TOLERANCE}. Where it joins ranges that the volume does not join, or the reverse, the
     * gap is read in the time of a skip, to a slice at either end, and a seek takes longer.
     */
    private static void assertSameSeconds(FileFragmentation real, double seconds, long requests) {
        long ends = 2 * Math.max(real.requests(), requests);
        double bytes = ends * RestoreModel.SLICE_BYTES + STORED_TOLERANCE * real.diskBytes();
        double joins =
                Math.abs(real.requests() - requests) * (DiskModel.HDD.seekNanos() - DiskModel.HDD.skipNanos()) / 1e9;
        assertEquals(
                real.seconds(DiskModel.HDD), seconds, joins + DiskModel.HDD.seconds(0, (long) bytes), real::toString);
    }

    @Test
    void aSpeedIsNotGivenWhereTheSampleIsTooThinForTheDisk() throws IOException {
        // One chunk in 64 or so stands for more than a slice, but for less than a seek of 13 ms is worth.
        assertNotNull(estimateFor(DiskModel.HDD, VERY_SMALL_BYTES).restore().bytesPerSecond());
        assertNull(estimateFor(DiskModel.configured(0, 150_000_000), VERY_SMALL_BYTES)
                .restore()
                .bytesPerSecond());
        assertNotNull(estimateFor(DiskModel.configured(0, 150_000_000), 64 << 20)
                .restore()
                .bytesPerSecond());
    }

    private static Estimate estimateFor(DiskModel disk, long memoryBytes) throws IOException {
        EstimateSettings all = settings(Chunking.SHA256, memoryBytes, 1);
        return Estimator.estimate(
                files,
                new EstimateSettings(
                        all.chunking(),
                        all.compression(),
                        all.budgetBytes(),
                        disk,
                        all.ssdShares(),
                        all.readShare(),
                        all.memoryBytes(),
                        all.seed(),
                        all.index()),
                Progress.NONE,
                line -> {},
                () -> false);
    }

    private static Estimate estimate(Chunking chunking, long memoryBytes, long sampleSeed) throws IOException {
        return Estimator.estimate(
                files, settings(chunking, memoryBytes, sampleSeed), Progress.NONE, line -> {}, () -> false);
    }

    private static EstimateSettings settings(Chunking chunking, long memoryBytes, long sampleSeed) {
        return new EstimateSettings(
                chunking,
                new Compression(Compression.Codec.ZSTD, 1, 64 << 10),
                256L << 20,
                DiskModel.HDD,
                List.of(0.1),
                1,
                memoryBytes,
                sampleSeed,
                new IndexChoice.Conditions(1L << 30, false, 0));
    }

    private static void assertExact(long expected, Figure figure) {
        assertEquals(new Figure((double) expected, 0), figure);
    }

    private static void assertNear(double expected, double found, double tolerance) {
        assertEquals(expected, found, tolerance * expected);
    }

    private static void assertWithinError(long truth, Figure figure) {
        double off = Math.abs(figure.value() - truth) / figure.standardError();
        assertTrue(
                off <= STANDARD_ERRORS, () -> String.format("%s is %.1f standard errors off %d", figure, off, truth));
    }
}
