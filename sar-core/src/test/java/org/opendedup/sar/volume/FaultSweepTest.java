package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.copies.HotOnDisk;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.volume.HookedStores.Call;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * The n-th call of one of a volume's stores fails, in a run that uses everything. Then nothing that was accepted is
 * lost, no byte is wrong, nothing hangs, and the volume can be mounted again. A few n are chosen at random, by
 * {@code -Dsar.seed}; {@code -Dsar.all=true} tries each, and {@code -Dsar.at.DATA=17} the same again and again;
 * {@code -Dsar.location=DATA} tries no other store, and {@code -Dsar.fault=ERROR} no other fault. A sweep goes on after
 * a trial that fails, and reports all of them, each with the step of the script.
 */
class FaultSweepTest {
    private static final int SAMPLES = 2;
    /** Time after which a trial counts as one that hangs. */
    private static final Duration HANGS = Duration.ofMinutes(2);

    private static final HotSettings SETTINGS =
            new HotSettings(true, 6_700_000, 2, 1 << 30, true, 10_000, Policy.REFERENCE_COUNT);

    /** Calls that change something, for which a disk may lack space, or which a read-only one refuses. */
    private static final Set<String> CHANGES =
            Set.of("create", "append", "force", "release", "delete", "rename", "sync", "commit", "insert", "cover");

    private enum Location {
        DATA,
        METADATA,
        INDEX,
        SSD
    }

    private enum Fault {
        /** EIO, and nothing is done. */
        ERROR,
        /** EIO, and all is done. */
        ERROR_AFTERWARDS,
        /** EIO, and half is done: of bytes that are written or read, of a commit, or of ranges that are released. */
        HALF,
        /** EIO, now and at the next four calls. */
        FIVE_ERRORS,
        /** ENOSPC at calls that change something, nothing at others. */
        NO_SPACE,
        /** EROFS at calls that change something, nothing at others. */
        READ_ONLY,
        /** For the control: half of an append is done, and nobody is told. */
        SILENT,
        /** For the control: from this call on, force does nothing. */
        FORGETFUL
    }

    @MemoryFolder
    Path folder;

    private long seed;
    private int trials;

    @BeforeEach
    void seed() {
        seed = TestSeed.next();
    }

    /** One run with a fault. */
    private final class Trial {
        private final Location location;
        private final Fault fault;
        /** Number of the call that fails, from 0; more than there are: none. */
        private final int at;

        private final CrashDirectory data;
        private CrashKeyValueStore metadata = new CrashKeyValueStore();
        private final Path ssd;
        private final VolumeConfig config;
        private final AtomicInteger errorsLeft;
        private final Map<Location, AtomicInteger> calls = new EnumMap<>(Location.class);
        private volatile String failed = "";
        private volatile boolean ended;
        private final FaultScript script;

        Trial(Location location, Fault fault, int at) throws IOException {
            this.location = location;
            this.fault = fault;
            this.at = at;
            Path own = Files.createDirectory(folder.resolve("trial" + trials++));
            ssd = Files.createDirectory(own.resolve("ssd"));
            config = VolumeConfigs.in(own, 1L << 40, Chunking.VARIABLE_SHA256).withSsd(ssd, SETTINGS);
            data = new CrashDirectory(seed + at);
            errorsLeft = new AtomicInteger(
                    fault == Fault.FORGETFUL ? Integer.MAX_VALUE : fault == Fault.FIVE_ERRORS ? 5 : 1);
            for (Location each : Location.values()) {
                calls.put(each, new AtomicInteger());
            }
            Volume.create(config, data, metadata, InstantSource.system());
            script = new FaultScript(ssd, this::open, () -> !failed.isEmpty());
        }

        private Volume open() throws IOException {
            return open(hooked(Location.DATA), hooked(Location.METADATA), hooked(Location.INDEX), hooked(Location.SSD));
        }

        private HookedStores hooked(Location of) {
            HookedStores stores = new HookedStores();
            stores.hook = call -> around(of, call);
            return stores;
        }

        private Volume open(HookedStores ofData, HookedStores ofMetadata, HookedStores ofIndex, HookedStores ofSsd)
                throws IOException {
            UnaryOperator<Directory> disk = ofSsd::hooked;
            HotChunks.Opener hot = new HotOnDisk(disk);
            ChunkIndex index = ofIndex.hooked(new HeapChunkIndex());
            VolumeStores stores = new VolumeStores(
                    ofData.hooked(data), ofMetadata.hooked(metadata), index, InstantSource.system(), hot);
            return Volume.open(config, stores, Verification.CHECKSUMS);
        }

        private Object around(Location of, Call call) throws IOException {
            boolean changesOnly = fault == Fault.NO_SPACE || fault == Fault.READ_ONLY;
            boolean counts = !ended
                    && (!changesOnly || CHANGES.contains(call.what()))
                    && (fault != Fault.SILENT || isOfAPack("append", call))
                    && (fault != Fault.FORGETFUL || isOfAPack("force", call));
            if (!counts
                    || calls.get(of).getAndIncrement() < at
                    || of != location
                    || errorsLeft.getAndDecrement() <= 0) {
                return call.proceed();
            }
            failed = of + " " + call;
            switch (fault) {
                case NO_SPACE -> throw new NoSpaceException("No space left on device");
                case READ_ONLY -> throw failure(call, "Read-only file system");
                case SILENT -> {
                    return half(call);
                }
                case FORGETFUL -> {
                    return null;
                }
                case HALF -> {
                    var unused = half(call);
                }
                case ERROR_AFTERWARDS -> {
                    var unused = call.proceed();
                }
                case ERROR, FIVE_ERRORS -> {}
            }
            throw failure(call, "Input/output error");
        }

        /** A control must not find what identifies the volume, which is written anew by each mount. */
        private static boolean isOfAPack(String what, Call call) {
            return call.what().equals(what) && !call.file().startsWith("volume.id");
        }

        /** A metadata database reports commits that failed as the volume's own does. */
        private static IOException failure(Call call, String message) {
            return call.isOfMetadata() && call.what().equals("commit")
                    ? new WriteFailedException(message, null)
                    : new IOException(message);
        }

        private Object half(Call call) throws IOException {
            switch (call.what()) {
                case "append" -> {
                    ByteBuffer source = (ByteBuffer) call.arguments()[0];
                    long offset = ((Output) call.target()).position();
                    int end = source.limit();
                    source.limit(source.position() + source.remaining() / 2);
                    var unused = call.proceed();
                    source.limit(end);
                    if (fault == Fault.SILENT) {
                        ByteBuffer zeros = ByteBuffer.allocate(source.remaining());
                        source.position(end);
                        ((Output) call.target()).append(zeros);
                    }
                    return offset;
                }
                case "readFully" -> {
                    ByteBuffer target = (ByteBuffer) call.arguments()[1];
                    int end = target.limit();
                    target.limit(target.position() + target.remaining() / 2);
                    var unused = call.proceed();
                    target.limit(end);
                    throw new EOFException("the file ends");
                }
                case "release" -> {
                    if (location == Location.DATA) {
                        data.failRelease(1);
                    }
                    return call.proceed();
                }
                case "commit" -> {
                    metadata.failNextCommits(1);
                    try {
                        return call.proceed();
                    } catch (IOException e) {
                        throw failure(call, e.getMessage());
                    }
                }
                default -> {
                    return null;
                }
            }
        }

        int calls(Location of) {
            return calls.get(of).get();
        }

        /** Returns what is wrong, at the end or before. */
        List<String> problems() {
            try {
                return problemsAtTheEnd();
            } catch (IOException | RuntimeException | AssertionError e) {
                return List.of(script.at() + ": " + e + (e.getCause() == null ? "" : ": " + e.getCause()));
            } finally {
                script.end();
            }
        }

        private List<String> problemsAtTheEnd() throws IOException {
            script.run();
            ended = true;
            // Everything was acknowledged by a sync: an unmount and a power cut must both leave it.
            boolean cut = at % 2 == 1;
            CrashDirectory left = cut ? data.crash(seed) : data;
            if (cut) {
                metadata = metadata.crash(seed);
            }
            script.unmount();
            List<String> problems = new ArrayList<>();
            VolumeStores stores = new VolumeStores(left, metadata, new HeapChunkIndex(), InstantSource.system());
            try (Volume found = Volume.open(config, stores, Verification.FINGERPRINTS)) {
                problems.addAll(script.problemsIn(found));
                script.useAgain();
            }
            if (location == Location.INDEX || location == Location.SSD) {
                // Whoever attaches an SSD is told that it fails.
                List<String> noticed = script.failures.stream()
                        .filter(failure -> !failure.contains("(attach)"))
                        .toList();
                if (!noticed.isEmpty()) {
                    problems.add("programs noticed it: " + noticed);
                }
            }
            return problems;
        }

        @Override
        public String toString() {
            return fault + " at call " + at + " of " + location + " (" + failed + "), seed " + seed + ", failures "
                    + script.failures;
        }
    }

    private Trial tried(Location location, Fault fault, int at) throws IOException {
        Trial trial = new Trial(location, fault, at);
        List<String> problems = assertTimeoutPreemptively(HANGS, trial::problems, trial::toString);
        assertEquals(List.of(), problems, trial::toString);
        return trial;
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"SILENT", "FORGETFUL"},
            mode = EnumSource.Mode.EXCLUDE)
    void whateverCallFailsNothingIsLostOrWrong(Fault fault) throws IOException {
        String onlyFault = System.getProperty("sar.fault", fault.name());
        assumeTrue(onlyFault.equals(fault.name()), "not asked for");
        Trial sound = tried(Location.DATA, fault, Integer.MAX_VALUE);
        Random random = new Random(seed);
        boolean all = Boolean.getBoolean("sar.all");
        List<String> wrong = new ArrayList<>();
        for (Location location : locations()) {
            int calls = sound.calls(location);
            assertTrue(calls > 0, () -> "nothing is called at " + location);
            int only = Integer.getInteger("sar.at." + location, -1);
            for (int i = 0; i < (all ? calls : TestSeed.rounds(SAMPLES)); i++) {
                try {
                    tried(location, fault, only >= 0 ? only : all ? i : random.nextInt(calls));
                } catch (IOException | RuntimeException | AssertionError e) {
                    // The others are tried nevertheless: together they show what is wrong.
                    wrong.add(e.toString());
                }
            }
        }
        assertTrue(wrong.isEmpty(), () -> wrong.size() + " trials failed:\n" + String.join("\n", wrong));
    }

    private static List<Location> locations() {
        String only = System.getProperty("sar.location");
        return only == null ? List.of(Location.values()) : List.of(Location.valueOf(only));
    }

    /** A disk that reports success and keeps half of what was written is noticed: so wrong bytes would be. */
    @Test
    void controlAWriteThatIsLostInSilenceIsNoticed() throws IOException {
        int calls = tried(Location.DATA, Fault.SILENT, Integer.MAX_VALUE).calls(Location.DATA);
        List<String> found = new ArrayList<>();
        // A read may meet the lost bytes before the scrub does: which one depends on when packs are written.
        for (int at = 0; at < calls && !found.toString().contains("the scrub found"); at++) {
            found.addAll(new Trial(Location.DATA, Fault.SILENT, at).problems());
        }
        assertTrue(found.toString().contains("the scrub found"), () -> "of " + calls + " lost writes: " + found);
    }

    /** What was acknowledged and is not durable is missing after the power cut. */
    @Test
    void controlADiskThatForgetsWhatWasForcedIsNoticed() throws IOException {
        // The power is cut where the number of the call is odd.
        List<String> found = new ArrayList<>();
        for (int at = 1; at < 20 && found.isEmpty(); at += 2) {
            found.addAll(new Trial(Location.DATA, Fault.FORGETFUL, at).problems());
        }
        assertTrue(found.toString().contains(".pack"), found::toString);
    }
}
