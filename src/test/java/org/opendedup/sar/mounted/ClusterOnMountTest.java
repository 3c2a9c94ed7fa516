package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Commands;

/** A cluster of three volumes with a daemon each, one of which is killed and comes back. */
@Timeout(300)
class ClusterOnMountTest {
    private static final int FILES = 20;
    private static final int MOST_FILE_BYTES = 800 << 10;

    @TempDir
    Path folder;

    private final Random random = new Random(TestSeed.next());
    private final InThisJvm here = new InThisJvm();
    private final List<MountedVolume> volumes = new ArrayList<>();

    @AfterEach
    void remove() throws IOException {
        for (MountedVolume volume : volumes) {
            volume.close();
        }
    }

    private Commands.Result cluster(String... words) {
        return here.run(
                Map.of("SDFS_CONFIG_DIR", folder.resolve("etc").toString()),
                "sdfscli",
                Stream.concat(Stream.of("cluster"), Arrays.stream(words)).toList());
    }

    private String succeed(String... words) {
        Commands.Result result = cluster(words);
        assertEquals(0, result.exitCode(), result::output);
        return result.output();
    }

    /** Makes a folder of files, in folders. */
    private Path tree(String name) throws IOException {
        Path tree = folder.resolve(name);
        for (int i = 0; i < FILES; i++) {
            byte[] bytes = new byte[random.nextInt(MOST_FILE_BYTES)];
            random.nextBytes(bytes);
            Files.write(Files.createDirectories(tree.resolve("d" + i % 3)).resolve("f" + i), bytes);
        }
        return tree;
    }

    private void assertSame(Path tree, String archive) throws IOException {
        Path target = folder.resolve("out-" + archive + random.nextInt());
        succeed("get", "home", archive, target.toString());
        Commands.succeed("diff", "-r", tree, target);
    }

    @Test
    void nothingThatWasAcknowledgedIsLostWithADaemon() throws Exception {
        List<String> create = new ArrayList<>(List.of("create", "home"));
        for (String name : List.of("a", "b", "c")) {
            // A timed commit would keep what the control expects to be lost.
            MountedVolume volume = MountedVolume.makeWith(folder.resolve(name), "--memory-budget=256MB")
                    .withoutTimedCommits()
                    .inItsOwnProcess();
            volumes.add(volume);
            create.add("--volume=" + volume.mount().mountPoint());
        }
        succeed(create.toArray(String[]::new));
        Path one = tree("one");
        Path two = tree("two");
        succeed("put", "home", "one", one.toString());
        MountedVolume victim = volumes.stream()
                .max(Comparator.comparingLong(ClusterOnMountTest::blocks))
                .orElseThrow();
        succeed("put", "home", "two", two.toString());
        // The control: what was not synced is lost with the daemon.
        Path unsynced = victim.mountPoint().resolve("unsynced");
        Files.write(unsynced, new byte[100_000]);
        victim.kill();

        Commands.Result part =
                cluster("get", "home", "one", folder.resolve("part").toString());
        assertEquals(1, part.exitCode(), part::output);
        assertTrue(part.output().contains("not made") && part.output().contains("away"), part::output);
        try (Stream<Path> made = Files.walk(folder.resolve("part"))) {
            List<Path> files = made.filter(Files::isRegularFile).toList();
            assertTrue(files.size() < FILES, "the control: some files have blocks on the dead volume");
            for (Path file : files) {
                assertEquals(
                        -1,
                        Files.mismatch(file, one.resolve(folder.resolve("part").relativize(file))));
            }
        }
        assertEquals(1, cluster("status", "home").exitCode());
        Path three = tree("three");
        succeed("put", "home", "three", three.toString());
        assertSame(three, "three");

        victim.mount();
        assertFalse(Files.exists(unsynced) && Files.size(unsynced) == 100_000, "the control");
        assertSame(one, "one");
        assertSame(two, "two");
        assertSame(three, "three");
        succeed("balance", "home");
        assertTrue(succeed("check", "home").contains("0 are damaged"));
        assertSame(three, "three");

        // Killed in the middle of a put: nothing of the archive is seen, or all of it; the same command goes on.
        Path four = tree("four");
        long before = blocks(victim);
        CompletableFuture<Commands.Result> putting =
                CompletableFuture.supplyAsync(() -> cluster("put", "home", "four", four.toString()));
        TestWait.until(() -> putting.isDone() || blocks(victim) > before);
        victim.kill();
        boolean isDone = putting.get().exitCode() == 0;
        assertEquals(isDone, cluster("ls", "home").output().contains("four"));
        if (!isDone) {
            succeed("put", "home", "four", four.toString());
            assertSame(four, "four");
        }
        victim.mount();
        assertSame(four, "four");
        assertSame(one, "one");
        // What noted that it puts was in this process, and withdrew that where it could.
        succeed("rm", "home", "one");
        succeed("gc", "home", "--ignore-unfinished");
        assertSame(four, "four");
        assertSame(two, "two");
    }

    @Test
    void whatFindsNoRoomOnItsVolumeGoesToTheNext() throws IOException {
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount");
        Path small = Files.createDirectory(folder.resolve("small"));
        Path large = Files.createDirectory(folder.resolve("large"));
        try {
            // Of both the capacity is below 1 GiB, so each gets half of the shards.
            Commands.succeed("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small);
            Commands.succeed("mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", large);
            for (Path volume : List.of(small, large)) {
                // As each volume has one: only its folder tells a volume that another machine mounts.
                Files.createDirectory(volume.resolve(".snapshots"));
            }
            succeed("create", "home", "--volume=" + small, "--volume=" + large);
            Path tree = folder.resolve("tree");
            byte[] bytes = new byte[30 << 20];
            random.nextBytes(bytes);
            Files.write(Files.createDirectory(tree).resolve("large"), bytes);
            succeed("put", "home", "one", tree.toString());
            assertSame(tree, "one");
            String balance = succeed("balance", "home");
            assertTrue(balance.contains("wait for a volume that is away or full"), balance);
            assertTrue(succeed("check", "home").contains("0 are damaged"));
        } finally {
            Commands.run("umount", small);
            Commands.run("umount", large);
        }
    }

    private static long blocks(MountedVolume volume) {
        try (Stream<Path> all = Files.walk(volume.mountPoint().resolve("home.cluster/blocks"))) {
            return all.filter(Files::isRegularFile).count();
        } catch (IOException | UncheckedIOException e) {
            return 0;
        }
    }
}
