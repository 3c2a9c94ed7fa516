package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.metadata.ContainerEntry;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.volume.HookedStores.Call;
import org.opendedup.sar.volume.config.VolumeConfigs;

/**
 * Each call of the stores during a collection fails once. No file loses a byte, in the same mount, after an unmount and
 * after a crash; the volume goes on, at the latest after {@code resume}; and the next collection gives everything back.
 */
@Timeout(300)
@Tag("slow")
class CollectionFaultTest {
    private static final String EIO = "Input/output error";

    private final long seed = TestSeed.next();
    private GarbageTrial trial;

    enum Fault {
        /** EIO: of an append after half of the bytes, of a force and a release with any part lost. */
        EIO,
        /** ENOSPC at calls that need space. */
        ENOSPC;

        boolean hits(Call call) {
            return this == EIO
                    || Set.of("create", "append", "release", "commit").contains(call.what());
        }
    }

    @BeforeEach
    void makeGarbage() throws IOException {
        trial = new GarbageTrial(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.SHA256), seed);
    }

    /** One collection, with a fault at one of its calls. */
    private final class Faulty {
        private final Fault fault;
        private final int at;
        final CrashDirectory data;
        CrashKeyValueStore metadata;
        final HookedStores stores = new HookedStores();
        private int calls;
        private boolean collecting;
        /** The call that failed; null if there were fewer. */
        Call failed;

        IOException failure;

        Faulty(Fault fault, int at) throws IOException {
            this.fault = fault;
            this.at = at;
            data = trial.data(seed + at);
            metadata = trial.metadata();
            stores.hook = this::around;
        }

        Volume collect() throws IOException {
            Volume volume = trial.open(stores.hooked(data), stores.hooked(metadata));
            collecting(true);
            try {
                GarbageTrial.collect(volume);
            } catch (IOException e) {
                failure = e;
            } finally {
                collecting(false);
            }
            return volume;
        }

        private synchronized void collecting(boolean now) {
            collecting = now;
        }

        private synchronized Object around(Call call) throws IOException {
            if (collecting && failed == null && fault.hits(call) && calls++ == at) {
                failed = call;
                if (fault == Fault.ENOSPC) {
                    noSpace(call);
                } else {
                    fail(call);
                }
            }
            return call.proceed();
        }

        private void noSpace(Call call) throws IOException {
            if (call.what().equals("commit")) {
                metadata.failNextCommits(1);
                try {
                    call.proceed();
                } catch (IOException e) {
                    throw new NoSpaceException("No space left on device");
                }
            }
            throw new NoSpaceException("No space left on device");
        }

        /** Fails as the disk does; what the models of the stores can do is left to them. */
        private void fail(Call call) throws IOException {
            switch (call.what()) {
                case "append" -> {
                    ByteBuffer bytes = (ByteBuffer) call.arguments()[0];
                    ((Output) call.target()).append(bytes.slice(bytes.position(), bytes.remaining() / 2));
                    throw new IOException(EIO);
                }
                case "force" -> data.failForce(1);
                case "release" -> data.failRelease(1);
                case "commit" -> metadata.failNextCommits(1);
                default -> throw new IOException(EIO);
            }
        }

        /** A commit may stop the volume; what fails for the collector alone must not. */
        boolean mayStop() {
            return failed.isOfMetadata() || failed.what().equals("sync");
        }

        List<String> problems(Volume volume) throws IOException {
            List<String> problems = new ArrayList<>();
            if (volume.context().committer().stopped() != null) {
                if (!mayStop()) {
                    problems.add("the volume stopped: "
                            + volume.context().committer().stopped());
                }
                volume.context().committer().resume();
            }
            problems.addAll(trial.problems(volume));
            byte[] more = trial.random(100_000);
            volume.sync();
            GarbageTrial.store(volume, "later", more);
            assertArrayEquals(more, GarbageTrial.read(volume, "later", more.length));
            return problems;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFaultAtAnyCallLosesNothing(Fault fault) throws IOException {
        int reported = 0;
        for (int at = 0; ; at++) {
            Faulty faulty = new Faulty(fault, at);
            Volume volume = faulty.collect();
            String when = fault + " at call " + at + ", " + faulty.failed + ", reported as " + faulty.failure;
            if (faulty.failed == null) {
                volume.close();
                assertEquals(null, faulty.failure);
                assertTrue(at > 10 && reported > 5, at + " calls, reported " + reported);
                return;
            }
            reported += faulty.failure == null ? 0 : 1;
            assertEquals(List.of(), faulty.problems(volume), when);
            // In the same mount.
            GarbageTrial.collect(volume);
            assertEquals(List.of(), trial.problems(volume), when);
            if (at % 2 == 0) {
                volume.close();
                assertEquals(List.of(), trial.problemsFrom(faulty.data, faulty.metadata, seed), when);
            } else {
                CrashKeyValueStore metadataLeft = faulty.metadata.crash(seed);
                CrashDirectory dataLeft = faulty.data.crash(seed);
                VolumeInMemory.abandon(volume);
                assertEquals(List.of(), trial.problemsFrom(dataLeft, metadataLeft, seed), when);
            }
        }
    }

    @Test
    void whatCannotBeReadStaysAndTheRestIsCollected() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        try (Volume volume = trial.open(data, metadata)) {
            List<ContainerEntry> partlyDead = new ArrayList<>();
            volume.context().metadata().containers().forEach(entry -> {
                if (entry.liveBytes() > 0 && entry.liveBytes() < entry.stored().rawBytes()) {
                    partlyDead.add(entry);
                }
            });
            assertTrue(partlyDead.size() > 1);
            ContainerEntry bad = partlyDead.get(0);
            String pack = PackFormat.fileName(bad.stored().pack());
            int from = (int) bad.stored().offset() + 5000;
            data.failReads(pack, from, from + 512);
            CollectionReport report = GarbageTrial.collect(volume);
            assertEquals(1, report.keptContainers(), report::toString);
            assertEquals(partlyDead.size() - 1, report.rewritten(), report::toString);
            assertTrue(report.removed() > 0, report::toString);
            assertEquals(List.of(), VolumeChecker.check(volume));
            data.failReads(pack, 0, 0);
            CollectionReport again = GarbageTrial.collect(volume);
            assertEquals(1, again.rewritten(), again::toString);
            assertEquals(0, again.keptContainers(), again::toString);
            assertEquals(List.of(), trial.problems(volume));
            assertEquals(List.of(), GarbageTrial.waste(volume, data));
        }
    }

    /** A file system without holes: only whole packs come back, and the report says so. */
    @Test
    void packsWithoutContainersAreDeletedWhereNoRangeCanBeReleased() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        data.refuseReleases();
        long before = allocated(data);
        try (Volume volume = trial.open(data, metadata)) {
            CollectionReport report = GarbageTrial.collect(volume);
            assertTrue(report.rewritten() > 0 && report.removed() > 0, report::toString);
            assertEquals(-report.copiedBytes(), report.returnedBytes(), report::toString);
            assertTrue(report.strayBytes() > 0, report::toString);
            assertEquals(before - allocated(data), report.returnedBytes() + report.strayBytes(), 200_000);
            assertFalse(
                    GarbageTrial.waste(volume, data).stream().anyMatch(problem -> problem.contains("no container")));
            assertEquals(List.of(), trial.problems(volume));
            // Nothing more comes back, and nothing is promised.
            CollectionReport again = GarbageTrial.collect(volume);
            assertEquals(0, again.rewritten() + again.removed() + again.strayBytes(), again::toString);
        }
        try (Volume volume = trial.open(data, metadata)) {
            assertEquals(List.of(), trial.problems(volume));
        }
    }

    private static long allocated(CrashDirectory data) throws IOException {
        long bytes = 0;
        for (String name : data.list()) {
            bytes += data.allocatedBytes(name);
        }
        return bytes;
    }

    /** Control: a read of a victim that gives other bytes, unnoticed, is a problem that the checks find. */
    @Test
    void controlWrongBytesInAFileAreNoticed() throws IOException {
        CrashDirectory data = trial.data(seed);
        CrashKeyValueStore metadata = trial.metadata();
        try (Volume volume = trial.open(data, metadata)) {
            volume.context().metadata().containers().forEach(entry -> {
                String pack = PackFormat.fileName(entry.stored().pack());
                byte[] bytes = data.contents(pack);
                bytes[(int) entry.stored().offset() + 5000] ^= 1;
                data.put(pack, bytes);
            });
        }
        try (Volume volume = trial.open(data, metadata)) {
            assertFalse(trial.problems(volume).isEmpty());
        }
    }
}
