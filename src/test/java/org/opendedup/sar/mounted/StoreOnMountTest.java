package org.opendedup.sar.mounted;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.S3Gateway;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.config.StoredVolumeFile;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.rocksdb.RocksDB;

/** A volume in an object store, mounted by two machines one after the other: two folders for volume files. */
@Timeout(120)
class StoreOnMountTest {
    @TempDir
    Path folder;

    private String address;
    private Random random;

    @BeforeEach
    void makeStore() throws IOException {
        address = "file://" + Files.createDirectories(folder.resolve("store"));
        random = new Random(TestSeed.next());
    }

    private MountedVolume made(String... options) throws IOException {
        String[] all = new String[options.length + 1];
        System.arraycopy(options, 0, all, 0, options.length);
        all[options.length] = "--object-store=" + address;
        return MountedVolume.makeWith(folder.resolve("first/pool"), all);
    }

    private MountedVolume bare() throws IOException {
        return MountedVolume.ofStore(folder.resolve("second/pool"), address);
    }

    private byte[] write(Path file, int length) throws IOException {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        try (RandomAccessFile written = new RandomAccessFile(file.toFile(), "rw")) {
            written.write(bytes);
            written.getFD().sync();
        }
        return bytes;
    }

    /** In a server of S3, which is a process of its own. */
    @Test
    void aKilledMachineLosesNothingThatTheStorePromisedAndKeysFollow() throws Exception {
        try (S3Gateway gateway = new S3Gateway(folder.resolve("gateway"))) {
            address = gateway.address("pool");
            aKilledMachineLosesNothing();
        }
    }

    private void aKilledMachineLosesNothing() throws Exception {
        byte[] large;
        byte[] small;
        try (MountedVolume first = made("--durability=remote", "--encrypt").inItsOwnProcess();
                MountedVolume second = bare()) {
            first.mount();
            large = write(first.mountPoint().resolve("large"), 3_000_000);
            small = write(first.mountPoint().resolve("small"), 1000);
            first.kill();
            assertEquals(
                    ExitCode.NO_KEY,
                    second.withPassphrase("wrong").tryMount(second.mountPoint()).exitCode());
            second.withPassphrase(MountedVolume.PASSPHRASE).mount();
            assertArrayEquals(large, Files.readAllBytes(second.mountPoint().resolve("large")));
            assertArrayEquals(small, Files.readAllBytes(second.mountPoint().resolve("small")));
            byte[] more = write(second.mountPoint().resolve("more"), 100_000);
            second.run("set", "--capacity=200GB", "--memory=300MB");
            String changed = Files.writeString(folder.resolve("new"), "of another machine")
                    .toString();
            second.run("key", "change", "--new-passphrase-file=" + changed);
            second.unmount();

            Commands.Result refused = first.tryMount(first.mountPoint());
            assertEquals(ExitCode.NO_KEY, refused.exitCode(), refused::output);
            first.withPassphrase("of another machine").mount();
            assertArrayEquals(more, Files.readAllBytes(first.mountPoint().resolve("more")));
            assertArrayEquals(large, Files.readAllBytes(first.mountPoint().resolve("large")));
            assertEquals(200L << 30, first.figure("info", "capacityBytes"));
            assertEquals(512L << 20, first.figure("info", "memoryBudgetBytes"), "each machine has its own");
            first.unmount();
        }
        try (ObjectStore store = ObjectStores.open(address)) {
            byte[] file = store.replaceable()
                    .orElseThrow()
                    .current(StoredVolumeFile.NAME)
                    .orElseThrow()
                    .contents();
            assertFalse(new String(file, ISO_8859_1).contains(folder + "/second"));
        }
    }

    @Test
    void anUnmountLeavesEverythingInTheStore() throws Exception {
        try (MountedVolume first = made();
                MountedVolume second = bare()) {
            first.mount();
            byte[] bytes = write(first.mountPoint().resolve("file"), 3_000_000);
            Files.write(first.mountPoint().resolve("unsynced"), bytes);
            first.unmount();
            Commands.Result again = first.script(
                    "mkfs.sdfs",
                    List.of("other", folder + "/other", "--volume-capacity=1GB", "--object-store=" + address));
            assertEquals(ExitCode.FAILED, again.exitCode());
            assertTrue(again.output().contains("is not empty"), again.output());

            second.mount();
            assertArrayEquals(bytes, Files.readAllBytes(second.mountPoint().resolve("file")));
            assertArrayEquals(bytes, Files.readAllBytes(second.mountPoint().resolve("unsynced")));
            second.unmount();
            // All that a machine has can be lost, when its user says so.
            Commands.succeed(
                    "rm", "-r", first.data().toString(), first.metadata().toString());
            Commands.Result missing = first.tryMount(first.mountPoint());
            assertEquals(ExitCode.FAILED, missing.exitCode());
            assertTrue(missing.output().contains("comes back from its object store"), missing.output());
            Commands.succeed(
                    "mkdir",
                    "-m",
                    "700",
                    first.data().toString(),
                    first.metadata().toString());
            first.mount();
            assertArrayEquals(bytes, Files.readAllBytes(first.mountPoint().resolve("file")));
            first.unmount();
            try (var objects = Files.newDirectoryStream(folder.resolve("store"), "volume.xml*")) {
                for (Path object : objects) {
                    Files.delete(object);
                }
            }
            assertEquals(
                    ExitCode.NO_SUCH_VOLUME,
                    second.tryMount(second.mountPoint()).exitCode(),
                    "there is no volume file");
            Commands.Result restored = first.tryMount(first.mountPoint());
            assertEquals(0, restored.exitCode(), restored::output);
            assertTrue(restored.output().contains("wrote that of this machine"), restored.output());
            first.adopt().unmount();
            // What a machine has goes; the volume stays.
            Path base = second.metadata().getParent();
            String destroyed = second.run("destroy", "--yes");
            assertTrue(destroyed.contains("stays in " + address), destroyed);
            assertFalse(Files.exists(base), destroyed);
            // A machine that has only read has nothing that says whose its folders are.
            second.with("ro").mount();
            assertArrayEquals(bytes, Files.readAllBytes(second.mountPoint().resolve("file")));
            second.unmount();
            second.run("destroy", "--yes");
            assertFalse(Files.exists(base), () -> "left in " + base);
            Files.move(folder.resolve("store"), folder.resolve("gone"));
            Commands.Result gone = first.tryMount(first.mountPoint());
            assertEquals(ExitCode.FAILED, gone.exitCode());
            assertTrue(gone.output().contains(folder + "/store"), gone.output());
        }
    }

    /**
     * Two volumes whose leases end in the same ten seconds: the owner of one is stopped, the store of the other gone.
     */
    @Test
    void withoutTheLeaseNothingIsServedAndCommandsChangeNothing() throws Exception {
        byte[] other = new byte[100_000];
        random.nextBytes(other);
        Path away = Files.createDirectories(folder.resolve("away"));
        try (MountedVolume waits =
                        MountedVolume.makeWith(folder.resolve("third/waits"), "--object-store=file://" + away);
                MountedVolume first = made("--durability=remote").inItsOwnProcess()) {
            waits.mount();
            write(waits.mountPoint().resolve("file"), 100_000);
            waits.run("snapshot", "create", "taken");
            first.mount();
            byte[] bytes = write(first.mountPoint().resolve("file"), 100_000);
            assertEquals("held", first.json("lease").get("state"));
            ProcessHandle daemon = ProcessHandle.of(first.pid()).orElseThrow();
            Path log = first.log();
            Files.move(away, folder.resolve("gone"));
            // A process that is made later would close the open file, and wait for the stopped one. RocksDB makes one
            // when
            // its library is loaded.
            RocksDB.loadLibrary();
            Process signals = new ProcessBuilder(
                            "sh", "-c", "read a; kill -STOP $0; read b; kill -CONT $0", "" + daemon.pid())
                    .start();
            RandomAccessFile open =
                    new RandomAccessFile(first.mountPoint().resolve("file").toFile(), "r");
            try (OutputStream next = signals.getOutputStream()) {
                assertEquals(bytes[0], (byte) open.read(), "the kernel has it in its cache");
                next.write('\n');
                next.flush();
                long stopped = System.nanoTime();
                try (Volume second = Volume.open(secondMachine())) {
                    System.out.println("taken over after " + (System.nanoTime() - stopped) / 1_000_000 + " ms");
                    writeIn(second, "other", other);
                    next.write('\n');
                    next.flush();
                    assertThrows(
                            IOException.class,
                            () -> Files.size(first.mountPoint().resolve("other")));
                    TestWait.until(() -> isRefused(open));
                    TestWait.until(() -> !daemon.isAlive());
                    assertTrue(Files.readString(log).contains("Nothing is served here any more"));
                    second.requireLease();
                    second.sync();
                }
            } finally {
                // The file system is gone: even that fails, and closes it.
                assertThrows(IOException.class, open::close);
            }
            commandsChangeNothing(waits, away);
        }
        try (Volume third = Volume.open(secondMachine())) {
            assertEquals(
                    other.length,
                    third.lookup(Inode.ROOT, "other".getBytes(US_ASCII)).size());
            assertEquals(
                    100_000, third.lookup(Inode.ROOT, "file".getBytes(US_ASCII)).size());
        }
    }

    /** Another machine may have the volume by then, where it would not be done. */
    private void commandsChangeNothing(MountedVolume waits, Path away) throws Exception {
        TestWait.until(() -> waits.cli("status").output().contains("expired"));
        Commands.Result refused = waits.cli("snapshot", "delete", "taken");
        assertEquals(ExitCode.FAILED, refused.exitCode(), refused::output);
        assertTrue(refused.output().contains("another machine may use the volume"), refused.output());
        Files.move(folder.resolve("gone"), away);
        TestWait.until(() -> waits.cli("status").output().contains("valid, epoch"));
        waits.run("snapshot", "delete", "taken");
        waits.unmount();
    }

    private VolumeConfig secondMachine() {
        return VolumeConfigs.in(folder.resolve("engine"), 100L << 30, Chunking.VARIABLE_SHA256)
                .withKeys(null)
                .in(new RemoteSettings(address, Promise.REMOTE, 1 << 20));
    }

    private static void writeIn(Volume volume, String name, byte[] bytes) throws IOException {
        Attributes made =
                volume.makeNode(Inode.ROOT, name.getBytes(US_ASCII), Modes.REGULAR | 0644, 0, new Owner(0, 0));
        OpenFile file = volume.open(made.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(bytes));
        volume.sync(file);
        volume.close(file);
        volume.forget(made.inode(), 1);
    }

    private static boolean isRefused(RandomAccessFile open) {
        try {
            open.seek(0);
            return open.read() < 0;
        } catch (IOException e) {
            return true;
        }
    }
}
