package org.opendedup.sar.sdfs.fuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.fuse.kernel.KernelMount;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.posix.Owner;

/**
 * The kernel releases every reference it got: when no program uses the mount and the kernel has dropped its caches, no
 * inode is in use. This is checked before the unmount, because the kernel does not promise to forget its inodes then.
 * The root is not counted: the kernel has it without a lookup.
 */
class ReferenceBalanceTest {
    private static final int STILL_DROPS = 10;
    private static final int PAUSE_MS = 100;
    private static final String LEAKY = "leaky";

    /** Every call that returns references, calls that fail, and callers that are killed while they wait. */
    private static final String LOAD = """
            set -e
            mkdir -p d/sub
            for i in $(seq 60); do echo $i > d/f$i; done
            for i in $(seq 20); do ln d/f$i d/l$i; ln -s f$i d/s$i; mkfifo d/p$i; mkdir d/sub/d$i; done
            ls -lR . > /dev/null; cat d/s[0-9]* > /dev/null
            for i in $(seq 20); do mv d/f$i d/f$((i + 20)); mv d/l$i d/sub; ! stat d/none$i 2> /dev/null; done
            for i in $(seq 20); do timeout -s KILL 0.0$i find . -ls > /dev/null || true; done
            for i in $(seq 10); do (exec 3< d/f$((i + 40)); rm d/f$((i + 40)); cat <&3 > /dev/null); done
            touch leaky; stat leaky > /dev/null
            rm -r d/sub/d*; ls -l d > /dev/null
            """;

    @TempDir
    Path folder;

    @Test
    void noInodeIsInUseOnceTheKernelHasDroppedItsCaches() throws IOException, InterruptedException {
        assertEquals(0, inUseAfterLoad(FuseFileSystem::new, 0));
    }

    @Test
    void anInodeWithAReferenceTooManyIsFound() throws IOException, InterruptedException {
        assertEquals(1, inUseAfterLoad(ReferenceBalanceTest::retainingOnceMore, 1));
    }

    private long inUseAfterLoad(BiFunction<Volume, MountOptions, FuseFileSystem> made, long expected)
            throws IOException, InterruptedException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "needs /dev/fuse");
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount");
        Path mountPoint = Files.createDirectories(folder.resolve("mnt"));
        MountOptions options = MountOptions.of(mountPoint, "balance");
        try (Volume volume = MemoryFileSystem.volumeInMemory();
                KernelMount mount = KernelMount.mount(made.apply(volume, options), options)) {
            Commands.succeed("sh", "-c", "cd " + mountPoint + "\n" + LOAD);
            assertTrue(volume.statistics().inodesInUse() > 0, "the kernel keeps nothing in its caches");
            return inUseAfterDrops(volume, mountPoint, expected);
        }
    }

    /**
     * Waits for the kernel, which forgets some time after a remount: until no more inodes are in use than expected. If
     * some are, a few more remounts follow, after which they must still be in use.
     */
    private static long inUseAfterDrops(Volume volume, Path mountPoint, long expected)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (volume.statistics().inodesInUse() > expected && System.nanoTime() < deadline) {
            dropCaches(mountPoint);
        }
        for (int still = 0; still < STILL_DROPS && volume.statistics().inodesInUse() > 0; still++) {
            dropCaches(mountPoint);
        }
        return volume.statistics().inodesInUse();
    }

    private static void dropCaches(Path mountPoint) throws IOException, InterruptedException {
        // A remount drops the caches of this mount only.
        Commands.succeed("mount", "-i", "-o", "remount", mountPoint);
        Thread.sleep(PAUSE_MS);
    }

    /** The fault: one file is retained twice when it is made. */
    private static FuseFileSystem retainingOnceMore(Volume volume, MountOptions options) {
        byte[] leaky = LEAKY.getBytes(StandardCharsets.US_ASCII);
        return new FuseFileSystem(volume, options) {
            @Override
            public CreatedFile create(long directory, byte[] name, int mode, boolean writable, Owner caller)
                    throws IOException {
                CreatedFile created = super.create(directory, name, mode, writable, caller);
                if (Arrays.equals(name, leaky)) {
                    lookup(directory, leaky);
                }
                return created;
            }
        };
    }
}
