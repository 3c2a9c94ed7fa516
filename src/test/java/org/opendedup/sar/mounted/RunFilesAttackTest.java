package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** The run folder is no source of truth: leftovers are no obstacle, and a real obstacle is named. */
class RunFilesAttackTest {
    @TempDir
    Path folder;

    @Test
    void leftoversInTheRunFolderAreNoObstacle() throws IOException {
        try (MountedVolume volume = MountedVolume.make(folder.resolve("left")).inItsOwnProcess()) {
            volume.mount();
            Bytes.writeAndSync(volume.mountPoint().resolve("file"), Bytes.random(1, 100_000));
            volume.kill();
            Path lock = volume.runFolder().resolve(volume.name() + ".lock");
            assertTrue(Files.exists(lock), "a killed daemon leaves its lock file");
            assertTrue(Files.exists(volume.socket()), "a killed daemon leaves its socket");
            remountAndCheck(volume);

            Files.write(lock, Bytes.random(2, 5000));
            Files.writeString(volume.runFolder().resolve(volume.name() + ".pid"), "1\n");
            Files.deleteIfExists(volume.socket());
            Files.write(volume.socket(), Bytes.random(3, 5000));
            Commands.Result info = volume.cli("info");
            assertEquals(0, info.exitCode(), info::output);
            remountAndCheck(volume);

            leaveSocket(volume.socket());
            Files.delete(lock);
            Files.createSymbolicLink(lock, Path.of("other.lock"));
            remountAndCheck(volume);
        }
    }

    private static void leaveSocket(Path socket) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
        }
        assertTrue(Files.exists(socket));
    }

    private static void remountAndCheck(MountedVolume volume) throws IOException {
        volume.mount();
        assertEquals(
                new Bytes.Comparison(25, 0, 0),
                Bytes.compare(volume.mountPoint().resolve("file"), Bytes.random(1, 100_000)));
        volume.unmount();
    }

    @Test
    void aFolderInThePlaceOfARunFileIsNamed() throws IOException {
        try (MountedVolume volume = MountedVolume.make(folder.resolve("occupied"))) {
            volume.mount();
            volume.unmount();
            Path lock = volume.runFolder().resolve(volume.name() + ".lock");
            Files.deleteIfExists(lock);
            for (Path occupied : List.of(lock, volume.socket())) {
                Path inside = Files.createDirectories(occupied.resolve("inside"));

                Commands.Result refused = volume.tryMount(volume.mountPoint());

                assertEquals(1, refused.exitCode(), refused::output);
                assertTrue(refused.output().contains(occupied.toString()), refused::output);
                assertFalse(volume.isMounted());
                Files.delete(inside);
                Files.delete(occupied);
            }
            volume.mount();
        }
    }

    @Test
    void ofTwoDaemonsStartedAtOnceExactlyOneServesTheVolume() throws Exception {
        try (MountedVolume volume = MountedVolume.make(folder.resolve("twice")).inItsOwnProcess()) {
            ExecutorService starters = Executors.newFixedThreadPool(2);
            try {
                List<Commands.Result> results = startTwo(volume, starters);
                List<Commands.Result> refused =
                        results.stream().filter(r -> r.exitCode() != 0).toList();
                assertEquals(1, refused.size(), results::toString);
                assertEquals(1, refused.get(0).exitCode(), results::toString);
                assertTrue(
                        refused.get(0).output().contains("'" + volume.name() + "'")
                                || refused.get(0).output().contains("mounted on"),
                        results::toString);
                volume.adopt();
                Bytes.writeAndSync(volume.mountPoint().resolve("file"), Bytes.random(0, 100_000));
                volume.unmount();
            } finally {
                starters.shutdownNow();
            }
            volume.mount();
            assertEquals(
                    new Bytes.Comparison(25, 0, 0),
                    Bytes.compare(volume.mountPoint().resolve("file"), Bytes.random(0, 100_000)));
        }
    }

    private static List<Commands.Result> startTwo(MountedVolume volume, ExecutorService starters) throws Exception {
        List<Future<Commands.Result>> started = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            started.add(starters.submit(() -> volume.tryMount(volume.mountPoint())));
        }
        return List.of(started.get(0).get(), started.get(1).get());
    }
}
