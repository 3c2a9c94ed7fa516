package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;

/** The capacity that files use: the written bytes, each once, whatever is a hole and whatever is stored by now. */
class CapacityTest {
    private static final int MIB = 1 << 20;
    private static final long CAPACITY = 20L * MIB;
    /** 95 %. */
    private static final long FOR_USERS = CAPACITY / 100 * 95 + CAPACITY % 100 * 95 / 100;

    private static final int BLOCK = 4096;
    private static final int STEPS = 100;
    private static final int WRITERS = 3;

    private final SplittableRandom random = new SplittableRandom(1);
    private VolumeInMemory stores;
    private Volume volume;

    private void make(Chunking chunking) throws IOException {
        stores = VolumeInMemory.create(VolumeConfigs.in(Path.of("in memory"), CAPACITY, chunking), 1);
        volume = stores.open();
    }

    @AfterEach
    void close() throws IOException {
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        assertEquals(
                volume.context().metadata().totals().logicalBytes(),
                volume.context().capacity().takenBytes());
        volume.close();
    }

    private OpenFile open(String name, boolean asRoot) throws IOException {
        byte[] bytes = name.getBytes(UTF_8);
        long inode =
                volume.makeNode(Inode.ROOT, bytes, 0100644, 0, new Owner(1, 1)).inode();
        return volume.open(inode, true, asRoot ? 0 : 1);
    }

    private void remove(String name, OpenFile file) throws IOException {
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
        volume.close(file);
        volume.forget(file.inode(), 1);
    }

    private byte[] data(int bytes) {
        byte[] data = new byte[bytes];
        random.nextBytes(data);
        return data;
    }

    private void write(OpenFile file, long offset, int bytes) throws IOException {
        volume.write(file, offset, ByteBuffer.wrap(data(bytes)));
    }

    private long taken() {
        return volume.context().capacity().takenBytes();
    }

    /** Writes blocks until there is no more room. Returns the accepted bytes. */
    private long fill(OpenFile file, long from) throws IOException {
        for (long at = from; ; at += BLOCK) {
            try {
                write(file, at, BLOCK);
            } catch (NoSpaceException e) {
                return at - from;
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void holesTakeNothing(Chunking chunking) throws IOException {
        make(chunking);
        OpenFile sparse = open("sparse", false);
        volume.change(sparse.inode(), AttributeChange.ofSize(99L << 40));
        assertEquals(0, taken());
        assertEquals(CAPACITY, volume.space().freeBytes());
        assertEquals(FOR_USERS, volume.space().availableBytes());
        OpenFile file = open("file", false);
        write(file, 0, MIB);
        write(sparse, 50L << 40, 100);
        volume.sync();
        assertEquals(MIB + 100, taken());
        volume.close(file);
        volume.close(sparse);
    }

    @ParameterizedTest
    @EnumSource
    void writesEndAtTheCapacityAndRootHasTheRest(Chunking chunking) throws IOException {
        make(chunking);
        OpenFile first = open("first", false);
        OpenFile second = open("second", false);
        OpenFile ofRoot = open("of root", true);
        write(first, 0, 3 * MIB);
        long filled = 3 * MIB + fill(second, 0);
        assertTrue(filled <= FOR_USERS && filled > FOR_USERS - BLOCK, () -> filled + " of " + FOR_USERS);
        volume.sync();
        assertEquals(filled, taken());
        assertEquals(0, fill(first, 3 * MIB));
        long rest = fill(ofRoot, 0);
        assertTrue(rest > CAPACITY - filled - BLOCK, () -> rest + " for root");
        assertEquals(filled + rest, taken());
        assertEquals(0, volume.space().availableBytes());
        // Stored bytes can be overwritten when nothing is free, and so can dirty ones.
        write(first, 100, 2 * MIB);
        write(first, 200, 2 * MIB);
        volume.sync();
        write(ofRoot, 5, 1000);
        remove("second", second);
        write(first, 3 * MIB, 2 * MIB);
        volume.close(first);
        volume.close(ofRoot);
    }

    @Test
    void theCapacityGrowsAtOnceAndShrinksDownToWhatIsUsed() throws IOException {
        make(Chunking.VARIABLE_SHA256);
        OpenFile file = open("file", true);
        long filled = fill(file, 0);
        volume.resize(2L * CAPACITY, 100);
        assertEquals(2L * CAPACITY - filled, volume.space().freeBytes());
        write(file, filled, MIB);
        long used = taken();
        assertThrows(NoSpaceException.class, () -> volume.resize(used - 1, 100));
        assertEquals(2L * CAPACITY, volume.space().capacityBytes(), "refused and unchanged");
        volume.resize(used, 50);
        assertEquals(0, volume.space().freeBytes());
        assertThrows(NoSpaceException.class, () -> write(file, filled + MIB, BLOCK));
        volume.sync();
        volume.resize(CAPACITY * 2L, 100);
        write(file, filled + MIB, BLOCK);
        volume.close(file);
    }

    @Test
    void aFileLargerThanTheCapacityEndsThere() throws IOException {
        make(Chunking.VARIABLE_SHA256);
        OpenFile file = open("file", false);
        long filled = fill(file, 100L << 30);
        assertTrue(filled > FOR_USERS - BLOCK && filled <= FOR_USERS, () -> filled + " bytes");
        assertThrows(NoSpaceException.class, () -> volume.allocate(file, 200L << 30, MIB, false));
        // It is there already.
        volume.allocate(file, 100L << 30, filled, true);
        volume.close(file);
    }

    @Test
    void aCrashKeepsWhatIsTakenExact() throws IOException {
        make(Chunking.VARIABLE_SHA256);
        OpenFile kept = open("kept", false);
        OpenFile gone = open("gone", false);
        write(kept, 0, 3 * MIB);
        write(gone, 0, 5 * MIB);
        volume.sync();
        volume.unlink(Inode.ROOT, "gone".getBytes(UTF_8));
        volume.zero(kept, 1000, MIB, true);
        volume.context().committer().commit();
        assertEquals(7 * MIB, taken());
        write(kept, 3 * MIB, MIB);
        VolumeInMemory left = stores.crash(1);
        VolumeInMemory.abandon(volume);
        volume = left.open();
        assertEquals(2 * MIB, taken());
    }

    /** One thread's files, with the value written to each byte; 0: a hole. */
    private final class Model {
        private static final int FILES = 4;
        private static final int MAX_BYTES = 9 * MIB;
        private static final int FIRST_BYTES = 5 * MIB;

        private final SplittableRandom own;
        private final String name;
        /** Whether no other thread writes: then it is known which writes must be refused. */
        private final boolean alone;

        private final OpenFile[] files = new OpenFile[FILES];
        private final byte[][] contents = new byte[FILES][0];
        private int refused;

        Model(SplittableRandom own, String name, boolean alone) {
            this.own = own;
            this.name = name;
            this.alone = alone;
        }

        void run(int steps) throws IOException {
            for (int i = 0; i < FILES; i++) {
                files[i] = open(name + i, false);
                // Together they exceed the capacity: something is refused.
                write(i, 0, FIRST_BYTES);
            }
            for (int step = 0; step < steps; step++) {
                step();
                assertTrue(taken() <= FOR_USERS, () -> taken() + " taken");
            }
            for (int i = 0; i < FILES; i++) {
                byte[] found = new byte[contents[i].length + 1];
                assertEquals(contents[i].length, volume.read(files[i], 0, ByteBuffer.wrap(found)));
                assertArrayEquals(contents[i], Arrays.copyOf(found, contents[i].length));
            }
        }

        private long used() {
            long used = 0;
            for (byte[] content : contents) {
                used += written(content, 0, content.length);
            }
            return used;
        }

        private int written(byte[] content, int from, int to) {
            int count = 0;
            for (int at = from; at < Math.min(to, content.length); at++) {
                count += content[at] == 0 ? 0 : 1;
            }
            return count;
        }

        private void step() throws IOException {
            int file = own.nextInt(FILES);
            int at = own.nextInt(MAX_BYTES - 1);
            int length = 1 + own.nextInt(own.nextBoolean() ? Math.min(3 * MIB, MAX_BYTES - at) : 9000);
            length = Math.min(length, MAX_BYTES - at);
            switch (own.nextInt(12)) {
                case 0 -> {
                    volume.change(files[file].inode(), AttributeChange.ofSize(at));
                    contents[file] = Arrays.copyOf(contents[file], at);
                }
                case 1 -> {
                    if (at + length >= contents[file].length) {
                        // Zeros at the end of what is not stored would be bytes of the file's last chunk.
                        volume.sync(files[file]);
                    }
                    volume.zero(files[file], at, length, true);
                    int end = Math.min(at + length, contents[file].length);
                    if (at < end) {
                        Arrays.fill(contents[file], at, end, (byte) 0);
                    }
                }
                case 2 -> volume.sync(files[file]);
                case 3 -> copy(file, own.nextInt(FILES), at, length);
                case 4 -> volume.context().writer().storeEverything();
                default -> write(file, at, length);
            }
        }

        private void write(int file, int at, int length) throws IOException {
            byte[] data = new byte[length];
            own.nextBytes(data);
            for (int i = 0; i < length; i++) {
                data[i] |= 1;
            }
            long more = length - written(contents[file], at, at + length);
            boolean fits = used() + more <= FOR_USERS;
            try {
                volume.write(files[file], at, ByteBuffer.wrap(data));
                assertTrue(fits || !alone, "written beyond the capacity");
                contents[file] = Arrays.copyOf(contents[file], Math.max(contents[file].length, at + length));
                System.arraycopy(data, 0, contents[file], at, length);
            } catch (NoSpaceException e) {
                refused++;
                long before = used();
                assertTrue(!fits || !alone, () -> "refused: " + more + " more, " + before + " used: " + e.getMessage());
            }
        }

        private void copy(int source, int target, int from, int length) throws IOException {
            int to = own.nextInt(MAX_BYTES - length + 1);
            if (source == target) {
                return;
            }
            long copied;
            try {
                copied = volume.copy(files[source], from, files[target], to, length);
            } catch (NoSpaceException e) {
                return;
            }
            byte[] old = contents[target];
            contents[target] = Arrays.copyOf(old, copied == 0 ? old.length : (int) Math.max(old.length, to + copied));
            System.arraycopy(
                    contents[source], copied == 0 ? 0 : from, contents[target], copied == 0 ? 0 : to, (int) copied);
        }
    }

    @Test
    void admissionIsExactToTheByte() throws IOException {
        make(Chunking.VARIABLE_SHA256);
        Model model = new Model(new SplittableRandom(TestSeed.next()), "model", true);
        model.run(STEPS);
        assertTrue(model.refused > 0, "nothing was refused");
        volume.sync();
        assertEquals(model.used(), taken());
    }

    @Test
    void manyWritersStayWithinTheCapacityAndNothingIsCountedTwice() throws Exception {
        make(Chunking.SHA256);
        SplittableRandom seeds = new SplittableRandom(TestSeed.next());
        List<Model> models = new ArrayList<>();
        List<FutureTask<Void>> running = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            Model model = new Model(seeds.split(), "of " + i + " ", false);
            models.add(model);
            running.add(new FutureTask<>(() -> {
                model.run(STEPS / WRITERS);
                return null;
            }));
            new Thread(running.get(i)).start();
        }
        for (FutureTask<Void> one : running) {
            one.get();
        }
        volume.sync();
        assertEquals(models.stream().mapToLong(Model::used).sum(), taken());
        assertTrue(models.stream().anyMatch(model -> model.refused > 0), "nothing was refused");
    }
}
