package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;

/** Snapshots that are made, read and deleted while programs write show one moment of the whole volume. */
@Timeout(300)
class SnapshotConcurrencyTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final int SNAPSHOTS = 40;
    private static final int BYTES = 20_000;

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final AtomicBoolean isOver = new AtomicBoolean();
    private Volume volume;

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    /** A content that tells its number, and is not whole if a part of another one is in it. */
    private static byte[] content(int number) {
        byte[] content = new byte[BYTES];
        new SplittableRandom(number).nextBytes(content);
        ByteBuffer.wrap(content).putInt(0, number).putInt(BYTES - Integer.BYTES, number);
        return content;
    }

    private long make(String name) throws IOException {
        Attributes made = volume.makeNode(Inode.ROOT, bytes(name), 0100644, 0, OWNER);
        volume.forget(made.inode(), 1);
        return made.inode();
    }

    private void write(long inode, int number, boolean isSynced) throws IOException {
        OpenFile file = volume.open(inode, true);
        try {
            volume.write(file, 0, ByteBuffer.wrap(content(number)));
            if (isSynced) {
                volume.sync(file);
            }
        } finally {
            volume.close(file);
        }
    }

    /** Returns the number in a file of a directory, whose bytes are all of one moment. */
    private int number(long directory, String name) throws IOException {
        Attributes found = volume.lookup(directory, bytes(name));
        OpenFile file = volume.open(found.inode(), false);
        try {
            ByteBuffer bytes = ByteBuffer.allocate(BYTES);
            assertEquals(BYTES, volume.read(file, 0, bytes), name);
            int number = bytes.getInt(0);
            assertEquals(number, bytes.getInt(BYTES - Integer.BYTES), name);
            return number;
        } finally {
            volume.close(file);
            volume.forget(found.inode(), 1);
        }
    }

    /**
     * Writes numbers to one file and then to another, each durably: no snapshot may have the second without the first.
     */
    private void writeInOrder(long first, long second) throws IOException {
        for (int number = 1; !isOver.get(); number++) {
            write(first, number, true);
            write(second, number, true);
        }
    }

    /** Replaces a file by a rename, as an editor does. */
    private void replace() throws IOException {
        for (int number = 1; !isOver.get(); number++) {
            write(make("new"), number, number % 2 == 0);
            volume.rename(Inode.ROOT, bytes("new"), Inode.ROOT, bytes("replaced"), RenameMode.REPLACE);
        }
    }

    private void garbage() throws IOException {
        while (!isOver.get()) {
            GarbageTrial.collect(volume, 0);
        }
    }

    @Test
    void eachIsOneMomentOfTheWholeVolume() throws Exception {
        VolumeInMemory stores = VolumeInMemory.create(
                VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256).withKeys(TestKeys.of(1)), seed);
        volume = stores.open();
        long first = make("first");
        long second = make("second");
        write(first, 0, true);
        write(second, 0, true);
        write(make("replaced"), 0, true);
        ExecutorService programs = Executors.newFixedThreadPool(3);
        try {
            Future<?> order = programs.submit(() -> {
                writeInOrder(first, second);
                return null;
            });
            Future<?> editor = programs.submit(() -> {
                replace();
                return null;
            });
            Future<?> collector = programs.submit(() -> {
                garbage();
                return null;
            });
            for (int snapshot = 0; snapshot < SNAPSHOTS; snapshot++) {
                String name = "s" + snapshot;
                volume.snapshots().create(name, 0, false);
                check(name);
                if (snapshot >= 5) {
                    check("s" + (snapshot - 5));
                    volume.snapshots().delete("s" + (snapshot - 5));
                }
            }
            isOver.set(true);
            order.get();
            editor.get();
            collector.get();
        } finally {
            isOver.set(true);
            programs.shutdown();
        }
        volume.snapshots().freed().get();
        assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);
        assertTrue(number(Inode.ROOT, "first") > 0);
        volume.close();
    }

    private void check(String snapshot) throws IOException {
        long root = TreeDigest.snapshotRoot(volume, snapshot);
        int first = number(root, "first");
        int second = number(root, "second");
        assertTrue(first == second || first == second + 1, snapshot + " has " + first + " and " + second);
        number(root, "replaced");
    }
}
