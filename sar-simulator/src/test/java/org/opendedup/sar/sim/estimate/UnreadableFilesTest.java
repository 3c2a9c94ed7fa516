package org.opendedup.sar.sim.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.disk.DiskModel;

/** Files that are not read: those that give an error, and all after a stop. */
class UnreadableFilesTest {
    private final List<String> problems = new ArrayList<>();

    @TempDir
    Path folder;

    /** The first page of a process's memory is never mapped, not even for root. */
    @Test
    void aFileThatCanNotBeReadIsNamedAndTheOthersAreRead() throws IOException {
        Path first = Files.write(folder.resolve("first"), new byte[] {1, 2, 3});
        Path unreadable = Path.of("/proc/self/mem");
        Path last = Files.write(folder.resolve("last"), new byte[] {4, 5});
        List<Path> paths = List.of(first, unreadable, last);
        Estimate estimate = Estimator.estimate(paths, settings(), Progress.NONE, problems::add, () -> false);
        assertEquals(5, estimate.readBytes());
        assertEquals(2, estimate.readFiles());
        assertEquals(1, estimate.unreadable());
        assertEquals(1, problems.size());
        assertTrue(problems.get(0).startsWith(unreadable.toRealPath() + ": "), problems::toString);
    }

    @Test
    void whatComesAfterAStopIsNotInTheFigures() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[] {1, 2, 3});
        Path later = Files.write(folder.resolve("later"), new byte[] {1, 2});
        var stopped = new AtomicBoolean();
        Progress stopping = new Progress() {
            @Override
            public void start(long totalBytes) {}

            @Override
            public void onBytesRead(long bytes) {
                stopped.set(true);
            }

            @Override
            public void end() {}
        };
        Estimate estimate = Estimator.estimate(List.of(file, later), settings(), stopping, problems::add, stopped::get);
        assertEquals(3, estimate.readBytes());
        assertEquals(5, estimate.bytes());
        assertFalse(estimate.whole());
        assertTrue(estimate.stopped());
        var text = new StringWriter();
        new EstimateReport(estimate, new PrintWriter(text, true)).print(null);
        assertTrue(text.toString().contains("no bound for the rest"), text::toString);
        assertFalse(text.toString().contains(" : 1 or more"), text::toString);
        assertFalse(text.toString().contains("stored of all"), text::toString);
    }

    @Test
    void aStopBeforeAnythingWasReadIsSaid() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[] {1});
        IOException e = assertThrows(
                IOException.class,
                () -> Estimator.estimate(List.of(file), settings(), Progress.NONE, problems::add, () -> true));
        assertTrue(String.valueOf(e.getMessage()).startsWith("stopped"), e::toString);
    }

    private static EstimateSettings settings() {
        return new EstimateSettings(
                Chunking.SHA256,
                new Compression(Compression.Codec.ZSTD, 1, 64 << 10),
                256L << 20,
                DiskModel.HDD,
                List.of(0.5),
                1,
                1 << 20,
                1,
                new IndexChoice.Conditions(1L << 30, false, 0));
    }
}
