package org.opendedup.sar.damage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.model.TestVolumes;

/**
 * One bit of one file of a closed volume flips, or a sector of it is damaged; some hundred times. Never wrong bytes, a
 * crash or a hang.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BitFlipTest {
    private static final int TRIALS = TestSeed.rounds(80);
    private static final List<Part> PARTS = List.of(Part.values());
    private static final Path MEMORY = Path.of("/dev/shm");
    private static final int THREADS = 2;
    private static final int HANGS_AFTER_S = 60;
    private static final int HEADER_BYTES = 32;
    private static final int FRAME_TAG_AT = 6;
    private static final int FRAME_LENGTHS_AT = 28;
    private static final int FRAME_BYTES = 48;

    private final long seed = TestSeed.next();
    private final List<SampleVolume> samples = new ArrayList<>();
    private final Map<Part, AtomicInteger> damaged = new EnumMap<>(Part.class);
    private final Map<Part, AtomicInteger> noticed = new EnumMap<>(Part.class);
    private final AtomicInteger unmountable = new AtomicInteger();

    private Path folder;

    @BeforeAll
    void makeVolumes() throws IOException {
        // Every trial syncs; no power is cut here, so memory does as well as a disk.
        folder = Files.isWritable(MEMORY)
                ? Files.createTempDirectory(MEMORY, "sar-damage")
                : Files.createTempDirectory("sar-damage");
        for (Chunking chunking : Chunking.values()) {
            samples.add(new SampleVolume(folder.resolve(chunking.name()), chunking, seed));
        }
        for (Part part : Part.values()) {
            damaged.put(part, new AtomicInteger());
            noticed.put(part, new AtomicInteger());
        }
    }

    @AfterAll
    void removeVolumes() throws IOException {
        SampleVolume.delete(folder);
    }

    @Test
    void damageGivesErrorsAndNeverWrongBytesACrashOrAHang() throws Exception {
        ConcurrentLinkedQueue<String> crashes = new ConcurrentLinkedQueue<>();
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> crashes.add(thread.getName() + " died of " + e));
        ExecutorService executor = Executors.newFixedThreadPool(THREADS);
        List<String> problems = new ArrayList<>();
        try {
            List<Future<List<String>>> trials = new ArrayList<>();
            for (int trial = 0; trial < TRIALS; trial++) {
                int number = trial;
                trials.add(executor.submit(() -> withinTime(number, () -> trial(number))));
            }
            for (Future<List<String>> trial : trials) {
                problems.addAll(trial.get());
            }
        } finally {
            executor.shutdownNow();
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
        System.out.println("damaged " + damaged + ", noticed " + noticed + ", refused mounts " + unmountable);

        problems.addAll(crashes);
        assertEquals(List.of(), problems);
        for (Part part : PARTS) {
            assertTrue(
                    damaged.get(part).get() >= TRIALS / PARTS.size() * 9 / 10,
                    () -> part + " was not damaged: " + damaged);
        }
        assertTrue(noticed.get(Part.FRAMES).get() > 0, () -> "no damage to frames was noticed: " + noticed);
        assertTrue(noticed.get(Part.METADATA_TABLE).get() > 0, () -> "no damage to metadata was noticed: " + noticed);
    }

    /** Every second trial flips a bit; the others do something larger. */
    private List<String> trial(int number) throws IOException {
        SplittableRandom random = new SplittableRandom(seed * 31 + number);
        SampleVolume sample = samples.get(number % samples.size());
        Part part = PARTS.get(number / samples.size() % PARTS.size());
        Path copy = folder.resolve("trial-" + number);
        SampleVolume.copy(sample.folder, copy);
        try {
            List<Part.Range> ranges = part.rangesIn(copy);
            if (ranges.isEmpty()) {
                return List.of("there is no " + part);
            }
            Part.Range range;
            Harm harm;
            do {
                range = Part.any(ranges, random);
                harm = random.nextBoolean() ? Harm.FLIPPED_BIT : Harm.values()[random.nextInt(Harm.values().length)];
            } while (!harm.doTo(copy, sample.earlier, range, random));
            damaged.get(part).incrementAndGet();
            DamageTrial trial = new DamageTrial(sample, copy, part.isHealedByWriting());
            String what = "trial " + number + ", " + harm + " in " + range + ": ";
            List<String> problems = new ArrayList<>(trial.run());
            if (!trial.refusals().isEmpty()) {
                noticed.get(part).incrementAndGet();
                if (part.isReplaceable()) {
                    problems.addAll(trial.refusals());
                }
            }
            if (!trial.wasMounted()) {
                unmountable.incrementAndGet();
            }
            return problems.stream().map(problem -> what + problem).toList();
        } finally {
            SampleVolume.delete(copy);
        }
    }

    /** Runs a trial in a thread of its own. One that hangs is a problem, with the stacks of all threads. */
    private static List<String> withinTime(int number, Callable<List<String>> trial) throws Exception {
        FutureTask<List<String>> task = new FutureTask<>(trial);
        Thread thread = new Thread(task, "trial");
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(HANGS_AFTER_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            StringBuilder stacks = new StringBuilder("trial " + number + " hangs:\n");
            Thread.getAllStackTraces().forEach((other, stack) -> {
                stacks.append(other).append('\n');
                for (StackTraceElement frame : stack) {
                    stacks.append("    ").append(frame).append('\n');
                }
            });
            return List.of(stacks.toString());
        }
    }

    /**
     * A bit of a chunk flips and the frame's checksum is computed again, as if nobody verified it, or somebody wanted
     * nobody to notice. On an encrypted volume it is noticed. The control: on another one, the same reading finds wrong
     * bytes.
     */
    @ParameterizedTest
    @EnumSource
    void damageBehindARightChecksumIsNoticedIfTheVolumeIsEncrypted(Chunking chunking) throws IOException {
        SampleVolume sample = samples.get(chunking.ordinal());
        Path copy = folder.resolve("right-checksums-" + chunking);
        SampleVolume.copy(sample.folder, copy);
        int changed = 0;
        for (PackedContainer container : PackedContainer.in(copy.resolve("data"))) {
            byte[] all = container.read();
            ByteBuffer bytes = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN);
            int tag = bytes.getShort(HEADER_BYTES + FRAME_TAG_AT) & 0xffff;
            int list = bytes.getInt(HEADER_BYTES + FRAME_LENGTHS_AT);
            int stored = bytes.getInt(HEADER_BYTES + FRAME_LENGTHS_AT + 2 * Integer.BYTES);
            if (bytes.getInt(HEADER_BYTES) != 0x46524153 || bytes.get(HEADER_BYTES + 4) != 0) {
                // No frame at the beginning, or one that is compressed.
                continue;
            }
            int end = HEADER_BYTES + FRAME_BYTES + list + stored;
            all[end - stored / 2] ^= 1;
            CRC32C crc = new CRC32C();
            crc.update(all, HEADER_BYTES, end + tag - HEADER_BYTES);
            bytes.putInt(end + tag, (int) crc.getValue());
            container.overwrite(0, all);
            changed++;
        }
        assertTrue(changed > 0, "no frame is stored uncompressed");
        // Without the SSD, so that every byte is read from its home.
        SampleVolume.delete(copy.resolve("ssd").resolve("segments"));

        DamageTrial trial = new DamageTrial(sample, copy, false);
        List<String> problems = trial.run();

        boolean isEncrypted = TestVolumes.config(Path.of("none"), chunking).keys() != null;
        assertEquals(
                !isEncrypted,
                problems.stream().anyMatch(problem -> problem.contains("wrong bytes")),
                problems::toString);
        assertEquals(
                isEncrypted,
                trial.refusals().stream().anyMatch(refusal -> refusal.contains("changed or exchanged")),
                () -> trial.refusals().toString());
        SampleVolume.delete(copy);
    }

    /** The other control: what was written again is damaged after each unmount, so that it never becomes readable. */
    @Test
    void whatIsWrittenAgainAndDamagedAgainIsFoundUnreadable() throws IOException {
        SampleVolume sample = samples.get(0);
        Path copy = folder.resolve("damaged-again");
        SampleVolume.copy(sample.folder, copy);
        DamageTrial.Call damageAll = () -> {
            // The SSD has copies of nearly everything.
            SampleVolume.delete(copy.resolve("ssd").resolve("segments"));
            for (PackedContainer container : PackedContainer.in(copy.resolve("data"))) {
                byte[] all = container.read();
                Arrays.fill(all, HEADER_BYTES, container.directoryOffset(), (byte) 0);
                container.overwrite(0, all);
            }
        };

        List<String> problems = new DamageTrial(sample, copy, true, damageAll).run();

        assertTrue(problems.stream().anyMatch(problem -> problem.contains("written again")), problems::toString);
        SampleVolume.delete(copy);
    }
}
