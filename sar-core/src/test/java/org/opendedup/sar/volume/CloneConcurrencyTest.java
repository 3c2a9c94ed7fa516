package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.SetMode;

/** Clones of files and folders that programs change all the time. */
@Timeout(120)
class CloneConcurrencyTest {
    private static final int ROUNDS = 8;
    /** Places of a file that are written in turn, each with the number of the write. */
    private static final int PLACES = 16;

    private static final long DISTANCE = 3 << 20;
    private static final int LINE = 1 << 10;

    @MemoryFolder
    Path folder;

    private final ExecutorService writers = Executors.newCachedThreadPool();
    private volatile boolean ends;
    /** Changes of the file with places. */
    private final AtomicLong written = new AtomicLong();

    private VolumeConfig config;
    private Volume volume;
    private CloneTrial trial;

    @BeforeEach
    void makeVolume() throws IOException {
        config = VolumeConfigs.in(folder, 1L << 34, Chunking.SHA256);
        Volume.create(config);
        volume = Volume.open(config);
        trial = new CloneTrial(volume);
    }

    @AfterEach
    void closeVolume() throws IOException {
        ends = true;
        writers.shutdownNow();
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
    }

    /** Something that a program does again and again. */
    @FunctionalInterface
    private interface Change {
        void make(long number) throws Exception;
    }

    /** Makes changes until the end, and waits for the first of them. */
    private Future<?> begin(Change change, long first) throws Exception {
        AtomicLong made = new AtomicLong();
        Future<?> writing = writers.submit(() -> {
            for (long number = 0; !ends; number++) {
                change.make(number);
                made.incrementAndGet();
            }
            return null;
        });
        TestWait.until(() -> made.get() >= first || writing.isDone());
        return writing;
    }

    private static ByteBuffer line(long number) {
        return ByteBuffer.allocate(LINE).putLong(0, number);
    }

    /** Returns whether the places of a file are those of one moment: no place has missed a turn. */
    private boolean isOfOneMoment(long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        long newest = 0;
        long oldest = Long.MAX_VALUE;
        for (int place = 0; place < PLACES; place++) {
            ByteBuffer read = ByteBuffer.allocate(LINE);
            volume.read(file, place * DISTANCE, read);
            newest = Math.max(newest, read.getLong(0));
            oldest = Math.min(oldest, read.getLong(0));
        }
        volume.close(file);
        return newest - oldest < PLACES;
    }

    private long writePlaces() throws Exception {
        long inode = trial.file(Inode.ROOT, "places", new byte[0]);
        OpenFile file = volume.open(inode, true);
        // The kernel sends nothing else while a program writes.
        var unused = begin(
                number -> {
                    volume.write(file, number % PLACES * DISTANCE, line(number));
                    written.incrementAndGet();
                },
                10 * PLACES);
        return inode;
    }

    @Test
    void aLongFileIsThatOfOneMoment() throws Exception {
        long inode = writePlaces();
        for (int round = 0; round < ROUNDS; round++) {
            trial.clone(inode, "clone" + round);
            assertTrue(isOfOneMoment(trial.find("clone" + round)), "round " + round);
        }
    }

    @Test
    void controlACopyInTwoPartsIsOfTwoMoments() throws Exception {
        long inode = writePlaces();
        List<Boolean> found = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            OpenFile source = volume.open(inode, false);
            OpenFile copy = volume.open(trial.file(Inode.ROOT, "copy" + round, new byte[0]), true);
            long half = PLACES / 2 * DISTANCE;
            assertEquals(half, volume.copy(source, 0, copy, 0, half));
            long before = written.get();
            TestWait.until(() -> written.get() > before + 2 * PLACES);
            volume.copy(source, half, copy, half, half);
            found.add(isOfOneMoment(copy.inode()));
            volume.close(copy);
            volume.close(source);
        }
        assertTrue(found.contains(false), found::toString);
    }

    /** A log that is cut off and written anew: its lines are numbered, and a clone has all up to one of them. */
    @Test
    void aFileThatIsTruncatedIsThatOfOneMoment() throws Exception {
        cloneLog(2000, ROUNDS);
    }

    /**
     * While a clone looks at it, such a file is now empty and stored, and has its first lines in memory a moment later.
     */
    @Test
    void aShortFileThatIsTruncatedIsThatOfOneMoment() throws Exception {
        cloneLog(3, 25 * ROUNDS);
    }

    private void cloneLog(int lines, int rounds) throws Exception {
        long inode = trial.file(Inode.ROOT, "log", new byte[0]);
        OpenFile file = volume.open(inode, true);
        Future<?> writing = begin(
                number -> {
                    long line = number % lines;
                    if (line == 0) {
                        volume.change(inode, AttributeChange.ofSize(0));
                    }
                    volume.write(file, line * LINE, line(number));
                },
                lines + 1);
        for (int round = 0; round < rounds; round++) {
            trial.clone(inode, "clone" + round);
            long clone = trial.find("clone" + round);
            ByteBuffer bytes = ByteBuffer.wrap(trial.read(clone));
            long first = bytes.capacity() == 0 ? lines : bytes.getLong(0);
            assertTrue(first >= lines && first % lines == 0, "round " + round + ": " + first);
            for (int at = 0; at < bytes.capacity(); at += LINE) {
                assertEquals(first + at / LINE, bytes.getLong(at), "round " + round);
            }
        }
        ends = true;
        writing.get();
    }

    /**
     * A program writes a secret into a file that it has hidden before, while a clone is between the file's name and its
     * bytes.
     */
    @Test
    void aLongFileHasTheModeOfItsBytes() throws Exception {
        long inode = trial.file(Inode.ROOT, "secret", new byte[1 << 20]);
        long[] calls = {0};
        trial.clone(inode, "clone", (stage, done, of) -> {
            if (stage.contains("cloned") && calls[0]++ == 1) {
                try {
                    volume.change(inode, new AttributeChange(0600, 7, 8, null, null, null, null));
                    volume.setExtendedAttribute(inode, CloneTrial.bytes("user.kind"), new byte[1], SetMode.CREATE);
                    trial.write(inode, 0, CloneTrial.bytes("secret"));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        });
        assertTrue(calls[0] > 1, "control: it was written meanwhile");
        long clone = trial.find("clone");
        Attributes is = volume.attributes(clone);
        Attributes source = volume.attributes(inode);
        assertEquals("secret", new String(trial.read(clone), 0, 6, US_ASCII));
        assertEquals(source.mode(), is.mode());
        assertEquals(List.of(7, 8), List.of(is.uid(), is.gid()));
        assertEquals(source.modifiedNs(), is.modifiedNs());
        assertEquals(1, volume.extendedAttributes(clone).size());
    }

    /** A program gives a file an attribute with the number of the line that it writes next. */
    @ParameterizedTest
    @ValueSource(longs = {0, DISTANCE})
    void attributesAndBytesAreOfOneMoment(long end) throws Exception {
        byte[] name = CloneTrial.bytes("user.number");
        long inode = trial.file(Inode.ROOT, "numbered", new byte[LINE]);
        OpenFile file = volume.open(inode, true);
        Future<?> writing = begin(
                number -> {
                    volume.setExtendedAttribute(inode, name, line(number).array(), SetMode.CREATE_OR_REPLACE);
                    volume.write(file, end, line(number));
                },
                1);
        for (int round = 0; round < ROUNDS; round++) {
            trial.clone(inode, "clone" + round);
            long clone = trial.find("clone" + round);
            long number = ByteBuffer.wrap(volume.extendedAttribute(clone, name)).getLong();
            long bytes = ByteBuffer.wrap(trial.read(clone)).getLong((int) end);
            assertTrue(number == bytes || number == bytes + 1, "round " + round + ": " + number + ", " + bytes);
        }
        ends = true;
        writing.get();
        volume.close(file);
    }

    /**
     * A program writes a file on the fast tier anew, and gives it a time with the number of its lines: a clone with
     * such a time has these lines, while the file is migrated and comes back.
     */
    @Test
    void aFileOnTheFastTierIsThatOfOneMoment() throws Exception {
        volume.close();
        HotSettings sar = new HotSettings(true, 64L << 20, 2, 1 << 20, true, 1000, HotSettings.Policy.REFERENCE_COUNT);
        volume = Volume.open(config.withSsd(folder.resolve("ssd"), sar)
                .withRaw(new RawSettings(Placement.TDDFS, 64L << 20, 80, 60, 0)));
        volume.fastTier().attach(true);
        trial = new CloneTrial(volume);
        long inode = trial.file(Inode.ROOT, "raw", new byte[0]);
        AtomicLong migrated = new AtomicLong();
        List<Future<?>> programs = List.of(
                begin(
                        number -> {
                            volume.change(inode, AttributeChange.ofSize(0));
                            for (int line = 0; line < 3; line++) {
                                trial.write(inode, line * LINE, line(number).array());
                            }
                            volume.change(inode, new AttributeChange(null, null, null, null, null, number, null));
                            Thread.sleep(number % 50);
                        },
                        1),
                begin(
                        number -> {
                            try {
                                migrated.addAndGet(volume.fastTier().migrate(inode) ? 1 : 0);
                            } catch (PosixException e) {
                                Thread.sleep(1);
                            }
                        },
                        1));
        long found = 0;
        for (int round = 0; round < 20 * ROUNDS; round++) {
            try {
                trial.clone(inode, "clone" + round);
            } catch (IOException e) {
                continue;
            }
            found++;
            long clone = trial.find("clone" + round);
            ByteBuffer bytes = ByteBuffer.wrap(trial.read(clone));
            long number = volume.attributes(clone).modifiedNs();
            long first = bytes.capacity() == 0 ? -1 : bytes.getLong(0);
            if (number < 1_000_000_000) {
                assertEquals(3 * LINE, bytes.capacity(), "round " + round);
                assertEquals(number, first, "round " + round);
            }
            for (int at = 0; at < bytes.capacity(); at += LINE) {
                assertEquals(first, bytes.getLong(at), "round " + round);
            }
        }
        ends = true;
        for (Future<?> each : programs) {
            each.get();
        }
        assertTrue(found > 0 && migrated.get() > 0, "control: " + found + " clones, " + migrated + " migrations");
    }

    /** What a clone of a folder has was in the folder; others may take files away and bring new ones. */
    @Test
    void aFolderInUseIsCloned() throws Exception {
        long source = trial.folder(Inode.ROOT, "source");
        for (int i = 0; i < 100; i++) {
            trial.file(source, "stays" + i, ("stays" + i).getBytes());
        }
        List<Future<?>> writing = List.of(
                begin(
                        number -> {
                            String name = "goes" + number % 10;
                            trial.file(source, name, name.getBytes());
                            volume.unlink(source, CloneTrial.bytes(name));
                        },
                        20),
                begin(
                        number -> {
                            long inode = trial.folder(source, "folder");
                            trial.file(inode, "in it", new byte[300_000]);
                            volume.unlink(inode, CloneTrial.bytes("in it"));
                            volume.removeDirectory(source, CloneTrial.bytes("folder"));
                        },
                        5),
                begin(number -> trial.write(trial.find("source/stays7"), 0, "STAYS7".getBytes()), 5));
        for (int round = 0; round < ROUNDS; round++) {
            trial.clone(source, "clone" + round);
            for (int i = 0; i < 100; i++) {
                String content = new String(trial.read(trial.find("clone" + round + "/stays" + i)));
                assertEquals("stays" + i, content.toLowerCase(java.util.Locale.ROOT));
            }
        }
        ends = true;
        for (Future<?> each : writing) {
            each.get();
        }
    }
}
