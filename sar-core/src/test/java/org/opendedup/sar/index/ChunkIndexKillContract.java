package org.opendedup.sar.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;

/**
 * The driver of the tests of {@link ChunkIndex#cover} after a kill: starts a process that fills containers of an index
 * until it is killed, and says which covered containers are incomplete then. A class of index adds its own moments of
 * the kill. The process makes its own object of the test class, so that needs a constructor without parameters.
 */
public abstract class ChunkIndexKillContract {
    /** Exit value of a process that ends itself as if it were killed. */
    private static final int HALTED = 99;

    private static final int KILLED = 128 + 9;
    private static final int MOST_SECONDS = 60;
    private static final byte[] FRAME_TABLE = new byte[500];

    @TempDir
    protected Path folder;

    /** The order in which the process changes the index. */
    protected enum Order {
        INSERT_THEN_COVER,
        /** Wrong on purpose: covering is even made durable, so that the kill shows the fault. */
        COVER_THEN_INSERT
    }

    /** What a kill left: the covered containers, and those of them that lack a fingerprint. */
    protected record Left(List<Long> covered, List<Long> incomplete) {}

    /** Returns the number of chunks of a container. */
    protected abstract int slots();

    /** Returns the number of chunks of an inserted segment. */
    protected int segment() {
        return slots();
    }

    /** Opens the index after the kill. */
    protected abstract ChunkIndex open(Path folder) throws IOException;

    /**
     * In the process: opens the index that will be killed.
     *
     * @param moment when to kill, as it was passed to {@link #runUntilHalted}
     */
    protected ChunkIndex openToBeKilled(Path folder, String moment) throws IOException {
        return open(folder);
    }

    /** In the process: is called before the chunks of a container are inserted. */
    protected void beforeInsert(ChunkIndex index, long container, Order order, String moment) throws IOException {
        // Nothing.
    }

    /** In the process: is called when a container is inserted and covered. */
    protected void after(ChunkIndex index, long container, Order order) throws IOException {
        // Nothing.
    }

    /** Is called after the kill, when all chunks of the covered containers were looked up. */
    protected void verify(ChunkIndex index) {
        // Nothing.
    }

    /** In the process: ends it at once, without closing anything. */
    protected static void halt() {
        Runtime.getRuntime().halt(HALTED);
    }

    /** Runs the process until it ends itself by {@link #halt}. */
    protected final void runUntilHalted(Path index, Order order, String moment) throws Exception {
        Process process = start(index, order, moment);
        try (BufferedReader reports = process.inputReader()) {
            assertTrue(reports.lines().count() > 0, "the process did nothing");
            assertTrue(process.waitFor(MOST_SECONDS, TimeUnit.SECONDS));
        } finally {
            process.destroyForcibly();
        }
        assertEquals(HALTED, process.exitValue());
    }

    /** Runs the process and kills it (SIGKILL) when it is at a container, whatever it does then. */
    protected final void runAndKill(Path index, Order order, long atContainer) throws Exception {
        Process process = start(index, order, Long.toString(atContainer));
        try (BufferedReader reports = process.inputReader()) {
            String at = reports.readLine();
            while (at != null && Long.parseLong(at) < atContainer) {
                at = reports.readLine();
            }
            assertTrue(at != null, "the process ended by itself");
        } finally {
            process.destroyForcibly();
        }
        assertTrue(process.waitFor(MOST_SECONDS, TimeUnit.SECONDS));
        assertEquals(KILLED, process.exitValue());
    }

    private Process start(Path index, Order order, String moment) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        // Compiling for speed costs more than the few seconds of its life give back.
                        "-XX:TieredStopAtLevel=1",
                        // It leaves the library of RocksDB there, which only a JVM that ends in order deletes.
                        "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ChunkIndexKillContract.class.getName(),
                        getClass().getName(),
                        index.toString(),
                        order.name(),
                        moment)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** Opens the index and looks up all chunks of the containers that it covers. */
    protected final Left left(Path index) throws IOException {
        Left left = new Left(new ArrayList<>(), new ArrayList<>());
        try (ChunkIndex opened = open(index)) {
            left.covered.addAll(CoveredContainers.of(opened));
            for (long container : left.covered) {
                if (!hasAll(opened, container)) {
                    left.incomplete.add(container);
                }
            }
            verify(opened);
        }
        return left;
    }

    private boolean hasAll(ChunkIndex index, long container) throws IOException {
        Segment segment = TestSegments.of(container * slots(), slots());
        index.lookup(segment);
        for (int slot = 0; slot < slots(); slot++) {
            if (segment.hint(slot) != ChunkId.of(container, slot)) {
                return false;
            }
        }
        return true;
    }

    /** In the process: inserts chunks of a container, from one slot to before another. */
    protected final void insert(ChunkIndex index, long container, int from, int to) throws IOException {
        Segment segment = TestSegments.of(container * slots() + from, to - from);
        for (int i = 0; i < to - from; i++) {
            segment.setChunkId(i, ChunkId.of(container, from + i));
            segment.setFresh(i, true);
        }
        index.insert(segment);
    }

    /** The process. Arguments: test class, folder, order, moment. It says at which container it is, and never ends. */
    public static void main(String[] arguments) throws Exception {
        var constructor = Class.forName(arguments[0]).getDeclaredConstructor();
        constructor.setAccessible(true);
        ((ChunkIndexKillContract) constructor.newInstance())
                .fill(Path.of(arguments[1]), Order.valueOf(arguments[2]), arguments[3]);
    }

    private void fill(Path index, Order order, String moment) throws IOException {
        ChunkIndex opened = openToBeKilled(index, moment);
        for (long container = 1; ; container++) {
            if (order == Order.COVER_THEN_INSERT) {
                opened.cover(container, FRAME_TABLE);
            }
            System.out.println(container);
            beforeInsert(opened, container, order, moment);
            for (int from = 0; from < slots(); from += segment()) {
                insert(opened, container, from, from + segment());
            }
            if (order == Order.INSERT_THEN_COVER) {
                opened.cover(container, FRAME_TABLE);
            }
            after(opened, container, order);
        }
    }
}
