package org.opendedup.sar.sdfs.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.lease.LeaseLostException;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.send.SnapshotSend;

/** The commands for an unmounted volume, on one in an object store: one machine made it, another one has nothing. */
class StoreCommandsTest {
    private static final Owner OWNER = new Owner(1, 1);

    @TempDir
    Path folder;

    private final InputStream standardInput = System.in;
    private String address;
    private CommandOutput output;

    @BeforeEach
    void makeVolume() throws IOException {
        Path store = Files.createDirectory(folder.resolve("store"));
        address = store.toUri().toString().replaceAll("/$", "");
        make("pool0", "--object-store=" + address, "--durability=remote");
    }

    @AfterEach
    void restoreInput() {
        System.setIn(standardInput);
    }

    private void make(String name, String... more) {
        output = new CommandOutput(folder.resolve("first"));
        String[] arguments = Stream.concat(
                        Stream.of(
                                "--volume-name=" + name,
                                "--volume-capacity=1GB",
                                "--memory-budget=256MB",
                                "--base-path=" + folder.resolve("base-" + name)),
                        Stream.of(more))
                .toArray(String[]::new);
        MkfsCommand mkfs = new MkfsCommand(output.environment(), Volume::create);
        assertEquals(ExitCode.OK, CommandRunner.run(mkfs, output.environment(), arguments), output.err());
    }

    private int check(String machine, String... arguments) {
        output = new CommandOutput(folder.resolve(machine));
        return CommandRunner.run(new CheckCommand(output.environment()), output.environment(), arguments);
    }

    private int sdfscli(String machine, String... arguments) {
        output = new CommandOutput(folder.resolve(machine));
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), arguments);
    }

    private VolumeConfig config(String machine, String name) throws IOException {
        return new CommandOutput(folder.resolve(machine))
                .environment()
                .configDirectory()
                .read(name)
                .engineConfig();
    }

    private static byte[] bytes(String name) {
        byte[] bytes = new byte[300_000];
        new Random(name.hashCode()).nextBytes(bytes);
        return bytes;
    }

    private static void write(Volume volume, String name) throws IOException {
        Attributes made = volume.makeNode(Inode.ROOT, name.getBytes(US_ASCII), 0100644, 0, OWNER);
        OpenFile file = volume.open(made.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(bytes(name)));
        volume.close(file);
        volume.forget(made.inode(), 1);
    }

    private static byte[] read(Volume volume, String name) throws IOException {
        Attributes found = volume.lookup(Inode.ROOT, name.getBytes(US_ASCII));
        OpenFile file = volume.open(found.inode(), false);
        ByteBuffer bytes = ByteBuffer.allocate((int) found.size());
        volume.read(file, 0, bytes);
        volume.close(file);
        volume.forget(found.inode(), 1);
        return bytes.array();
    }

    @Test
    void anotherMachineChecksRepairsAndRollsBack() throws IOException {
        try (Volume volume = Volume.open(config("first", "pool0"))) {
            write(volume, "old");
            volume.snapshots().create("monday", 0, false);
            write(volume, "new");
        }
        assertEquals(ExitCode.OK, check("second", address, "--read-objects"), output.err());
        assertTrue(output.out().contains("no defect was found"), output.out());
        assertEquals(ExitCode.OK, check("second", "pool0", "--rebuild-containers"), output.err());
        assertEquals(ExitCode.OK, check("second", "pool0", "--repair", "--json"), output.err());
        assertEquals(List.of(), Json.read(output.out()).get("repaired"));
        assertEquals(
                ExitCode.OK, sdfscli("second", "pool0", "snapshot", "rollback", "monday", "--dry-run"), output.err());
        assertEquals(ExitCode.OK, sdfscli("second", "pool0", "snapshot", "rollback", "monday"), output.err());
        try (Volume volume = Volume.open(config("first", "pool0"))) {
            assertArrayEquals(bytes("old"), read(volume, "old"));
            assertThrows(PosixException.class, () -> read(volume, "new"));
        }
    }

    @Test
    void metadataThatAreDamagedInTheStoreAreSalvaged() throws IOException {
        try (Volume volume = Volume.open(config("first", "pool0"))) {
            write(volume, "old");
            volume.sync();
            write(volume, "new");
            volume.sync();
            write(volume, "newest");
        }
        Path segment = segmentOf("new");
        Files.delete(segment);
        assertEquals(ExitCode.FAILED, check("second", address));
        assertTrue(output.err().contains("sdfs-check pool0 --salvage-metadata"), output.err());
        assertEquals(ExitCode.OK, check("second", "pool0", "--salvage-metadata"), output.out() + output.err());
        assertTrue(output.out().contains("is lost, because"), output.out());
        assertEquals(ExitCode.OK, check("third", address), output.err());
        try (Volume volume = Volume.open(config("third", "pool0"))) {
            assertArrayEquals(bytes("old"), read(volume, "old"));
            assertThrows(PosixException.class, () -> read(volume, "newest"));
            write(volume, "after");
            assertArrayEquals(bytes("after"), read(volume, "after"));
        }
    }

    /** Returns the log segment that has a file's name. */
    private Path segmentOf(String name) throws IOException {
        try (Stream<Path> all = Files.walk(folder.resolve("store/metadata/log"))) {
            for (Path each : all.filter(Files::isRegularFile).sorted().toList()) {
                if (Files.readString(each, ISO_8859_1).contains(name)) {
                    return each;
                }
            }
        }
        throw new AssertionError("no segment has " + name);
    }

    @Test
    void whatTheStoreMakesNeedlessIsRefusedWithTheWayOut() {
        assertEquals(ExitCode.FAILED, check("first", "pool0", "--restore-metadata"));
        assertTrue(output.err().contains("no other backup"), output.err());
        for (List<String> of : List.of(List.of("--list"), List.of("--accept-restored"), List.of("/tmp"))) {
            assertEquals(ExitCode.FAILED, sdfscli("first", "pool0", "metadata-backup", of.get(0)));
            assertTrue(output.err().contains("earlier versions of objects"), output.err());
        }
        make("local0");
        assertEquals(ExitCode.USAGE, check("first", "local0", "--read-objects"));
        assertTrue(output.err().contains("scrub start"), output.err());
    }

    @Test
    void whoReadsWritesNoVolumeFile() throws IOException {
        Volume.open(config("first", "pool0")).close();
        try (ObjectStore store = ObjectStores.open(address)) {
            store.delete(List.of("volume.xml"));
            assertEquals(ExitCode.OK, check("first", "pool0"), output.err());
            assertTrue(output.err().contains("is missing; that of this machine is used"), output.err());
            assertThrows(NoSuchFileException.class, () -> store.status("volume.xml"));
            assertEquals(ExitCode.NO_SUCH_VOLUME, check("bare", address), output.err());
            assertEquals(ExitCode.OK, check("first", "pool0", "--rebuild-containers"), output.err());
            assertEquals(ExitCode.OK, check("bare", address), output.err());
        }
    }

    /** One damaged object that every command needs must not leave a user without advice. */
    @Test
    void aDamagedVolumeFileOrLeaseSaysWhatMendsIt() throws IOException {
        Volume.open(config("first", "pool0")).close();
        spoil("volume.xml");
        assertEquals(ExitCode.FAILED, check("first", "pool0"));
        assertTrue(output.err().contains("delete it, and mount the volume by its name"), output.err());
        try (ObjectStore store = ObjectStores.open(address)) {
            store.delete(List.of("volume.xml"));
        }
        spoil("lease");
        IOException damaged = assertThrows(IOException.class, () -> Volume.open(config("first", "pool0")));
        assertTrue(damaged.getMessage().contains("then delete the object 'lease'"), damaged::getMessage);
        assertEquals(ExitCode.FAILED, sdfscli("bare", address, "lease"));
        assertTrue(output.err().contains("then delete the object 'lease'"), output.err());
        assertEquals(ExitCode.FAILED, sdfscli("bare", address, "lease", "break", "--yes"));
        assertTrue(output.err().contains("then delete the object 'lease'"), output.err());
        try (ObjectStore store = ObjectStores.open(address)) {
            store.delete(List.of("lease"));
        }
        Volume.open(config("first", "pool0")).close();
    }

    private void spoil(String object) throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("store"))) {
            for (Path file : files.filter(one -> one.getFileName().toString().startsWith(object + "@"))
                    .toList()) {
                Files.write(file, new byte[(int) Files.size(file)]);
            }
        }
    }

    @Test
    void aVolumeInAStoreReceivesWhatAnotherSends() throws IOException {
        make("local0");
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        try (Volume volume = Volume.open(config("first", "local0"))) {
            write(volume, "sent");
            volume.snapshots().create("monday", 0, false);
            SnapshotSend send = volume.maintenance().snapshotSend(null, Progress.NONE);
            var unused = send.run(send.point("monday", null), stream);
        }
        System.setIn(new ByteArrayInputStream(stream.toByteArray()));
        assertEquals(ExitCode.OK, sdfscli("first", "pool0", "receive"), output.err());
        assertEquals(ExitCode.OK, check("second", address), output.err());
        assertEquals(ExitCode.OK, sdfscli("second", "pool0", "receive", "--end"), output.err());
        try (Volume volume = Volume.open(config("first", "pool0"))) {
            assertArrayEquals(bytes("sent"), read(volume, "sent"));
        }
    }

    @Test
    void leaseNamesWhoUsesTheVolumeAndIsBrokenWhenThatIsConfirmed() throws IOException {
        assertEquals(ExitCode.OK, sdfscli("bare", address, "lease"));
        assertEquals("No machine has used the volume yet.\n", output.out());
        String empty = address + "2";
        Files.createDirectory(folder.resolve("store2"));
        for (int code : List.of(sdfscli("bare", empty, "lease"), check("bare", empty))) {
            assertEquals(ExitCode.NO_SUCH_VOLUME, code, output.err());
        }
        assertEquals(ExitCode.FAILED, sdfscli("bare", "s3://key:secret@bucket/pool0", "lease"));
        assertTrue(output.err().startsWith("sdfscli: the address of an object store has no user"), output.err());
        try (Volume volume = Volume.open(config("first", "pool0"))) {
            assertEquals(ExitCode.OK, sdfscli("bare", address, "lease", "--json"));
            assertEquals("held", Json.read(output.out()).get("state"));
            assertEquals(ExitCode.OK, sdfscli("first", "pool0", "lease"));
            String owner = "process " + ProcessHandle.current().pid();
            assertTrue(output.out().contains("In use by " + owner), output.out());
            // Nobody types anything.
            assertEquals(ExitCode.FAILED, sdfscli("bare", address, "lease", "break"));
            assertTrue(output.err().contains("not confirmed"), output.err());
            volume.requireLease();
            assertEquals(ExitCode.OK, sdfscli("bare", address, "lease", "break", "--yes"), output.err());
            TestWait.until(() -> volume.lease().isLost());
            assertThrows(LeaseLostException.class, volume::requireLease);
        }
        assertEquals(ExitCode.OK, sdfscli("bare", address, "lease", "break", "--yes"));
        assertEquals("No machine has the lease.\n", output.out());
    }

    /** While it waits for the answer, the owner that it names ends, and another one mounts the volume. */
    @Test
    void anotherOwnerThanTheOneThatWasNamedKeepsTheLease() throws IOException {
        Volume first = Volume.open(config("first", "pool0"));
        List<Volume> next = new ArrayList<>();
        Reader typed = new StringReader("yes\n") {
            @Override
            public int read(char[] target, int offset, int count) throws IOException {
                if (next.isEmpty()) {
                    first.close();
                    next.add(Volume.open(config("first", "pool0")));
                }
                return super.read(target, offset, count);
            }
        };
        StringWriter errors = new StringWriter();
        Environment environment =
                new Environment(Map.of(), new PrintWriter(new StringWriter()), new PrintWriter(errors), false, typed);
        int exit = CommandRunner.run(new SdfsCli(environment), environment, address, "lease", "break");
        try (Volume volume = next.get(0)) {
            assertEquals(ExitCode.FAILED, exit);
            assertTrue(errors.toString().contains("another process has the lease meanwhile"), errors.toString());
            assertEquals(ExitCode.OK, sdfscli("bare", address, "lease", "--json"));
            assertEquals("held", Json.read(output.out()).get("state"));
            volume.requireLease();
        }
    }
}
