package org.opendedup.sar.sdfs.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.Inode;
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

/** The command with streams of another volume, on volumes on the disk, without a mount. */
class ReceiveCommandTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final int BYTES = 1 << 20;
    /** Exit code of a JVM that gets SIGTERM. */
    private static final int TERMINATED = 143;

    @TempDir
    Path folder;

    private final SplittableRandom random = new SplittableRandom(1);
    private final InputStream standardInput = System.in;
    private CommandOutput output;

    @BeforeEach
    void makeVolumes() {
        for (String name : List.of("pool0", "copy0")) {
            output = new CommandOutput(folder.resolve("etc"));
            MkfsCommand mkfs = new MkfsCommand(output.environment(), Volume::create);
            int code = CommandRunner.run(
                    mkfs,
                    output.environment(),
                    "--volume-name=" + name,
                    "--volume-capacity=1GB",
                    "--memory-budget=256MB",
                    "--base-path=" + folder.resolve(name));
            assertEquals(ExitCode.OK, code, output.err());
        }
    }

    @AfterEach
    void restoreInput() {
        System.setIn(standardInput);
    }

    private int receive(byte[] input, String... arguments) {
        output = new CommandOutput(folder.resolve("etc"));
        System.setIn(new ByteArrayInputStream(input));
        String[] all = new String[arguments.length + 2];
        all[0] = "copy0";
        all[1] = "receive";
        System.arraycopy(arguments, 0, all, 2, arguments.length);
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), all);
    }

    private Volume open(String name) throws IOException {
        return Volume.open(config(name));
    }

    private VolumeConfig config(String name) throws IOException {
        return new CommandOutput(folder.resolve("etc"))
                .environment()
                .configDirectory()
                .read(name)
                .engineConfig();
    }

    private byte[] store(Volume volume, String name) throws IOException {
        byte[] content = new byte[BYTES];
        random.nextBytes(content);
        Attributes made = volume.makeNode(Inode.ROOT, name.getBytes(ISO_8859_1), 0100644, 0, OWNER);
        OpenFile file = volume.open(made.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(content));
        volume.close(file);
        volume.forget(made.inode(), 1);
        return content;
    }

    private static byte[] read(Volume volume, String name) throws IOException {
        Attributes found = volume.lookup(Inode.ROOT, name.getBytes(ISO_8859_1));
        OpenFile file = volume.open(found.inode(), false);
        ByteBuffer bytes = ByteBuffer.allocate((int) found.size());
        volume.read(file, 0, bytes);
        volume.close(file);
        volume.forget(found.inode(), 1);
        return bytes.array();
    }

    private static byte[] stream(Volume volume, String snapshot, @Nullable String base) throws IOException {
        volume.snapshots().create(snapshot, 0, false);
        SnapshotSend send = volume.maintenance().snapshotSend(null, Progress.NONE);
        var out = new ByteArrayOutputStream();
        var unused = send.run(send.point(snapshot, base), out);
        return out.toByteArray();
    }

    @Test
    void aCopyIsReceivedGivenUpAndUsed() throws IOException {
        byte[] one;
        byte[] two;
        byte[] first;
        byte[] second;
        try (Volume source = open("pool0")) {
            one = store(source, "one");
            first = stream(source, "monday", null);
            two = store(source, "two");
            second = stream(source, "tuesday", "monday");
        }
        assertEquals(ExitCode.OK, receive(first, "--json"), output.err());
        List<Map<String, Object>> received = Json.objects(Json.read(output.out()), "received");
        assertEquals("monday", received.get(0).get("snapshot"));
        assertTrue(Json.number(received.get(0), "chunkBytes") >= BYTES, output.out());

        // A stream that ends early: the volume cannot be opened, a check says so, and the way out is named.
        assertEquals(ExitCode.FAILED, receive(Arrays.copyOf(second, second.length - 9)));
        assertTrue(output.err().contains("send --resume="), output.err());
        String message = String.valueOf(
                assertThrows(PosixException.class, () -> open("copy0")).getMessage());
        assertTrue(message.contains("sdfscli copy0 receive --abort"), message);
        assertEquals(ExitCode.DAMAGED, check());
        assertTrue(output.out().contains("is not received to its end"), output.out());
        assertEquals(ExitCode.FAILED, check("--repair"));
        assertTrue(output.err().contains("nothing is repaired until then"), output.err());
        assertEquals(ExitCode.FAILED, receive(new byte[0]));
        assertTrue(output.err().contains("send --resume="), output.err());

        assertEquals(ExitCode.OK, receive(new byte[0], "--abort"), output.err());
        assertEquals(ExitCode.OK, check(), output.out());
        try (Volume copy = open("copy0")) {
            assertArrayEquals(one, read(copy, "one"));
            assertThrows(PosixException.class, () -> read(copy, "two"));
            assertTrue(copy.isReplica());
        }
        byte[] andMore = Arrays.copyOf(second, second.length + 5);
        assertEquals(ExitCode.FAILED, receive(andMore));
        assertTrue(output.err().contains("received tuesday, and then failed: "), output.err());
        assertEquals(ExitCode.OK, check(), output.out());

        assertEquals(ExitCode.OK, receive(new byte[0], "--end"), output.err());
        try (Volume copy = open("copy0")) {
            assertArrayEquals(two, read(copy, "two"));
            store(copy, "own");
        }
    }

    private int check(String... options) {
        output = new CommandOutput(folder.resolve("etc"));
        String[] all = Arrays.copyOf(options, options.length + 1);
        all[options.length] = "copy0";
        return CommandRunner.run(new CheckCommand(output.environment()), output.environment(), all);
    }

    /** Who says where the passphrase of the sender is expects an encrypted stream: another one may be forged. */
    @Test
    void aStreamThatIsNotEncryptedIsNotTakenForOneThatIs() throws IOException {
        byte[] stream;
        try (Volume source = open("pool0")) {
            store(source, "one");
            stream = stream(source, "monday", null);
        }
        Path secret = Files.writeString(folder.resolve("secret"), "sesame");
        for (String option : List.of("passphrase-file=" + secret, "key-file=" + secret, "passphrase-command=true")) {
            assertEquals(ExitCode.FAILED, receive(stream, "--stream-" + option), option);
            assertTrue(output.err().contains("the stream is not encrypted"), output.err());
        }
        try (Volume copy = open("copy0")) {
            assertThrows(PosixException.class, () -> read(copy, "one"));
            assertFalse(copy.isReplica());
        }
        // The control: without the option it is received.
        assertEquals(ExitCode.OK, receive(stream), output.err());
    }

    @Test
    void whoInterruptsItIsToldHowItGoesOn() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Interrupted.class.getName(),
                        folder.resolve("etc").toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(child.getInputStream().readAllBytes(), ISO_8859_1);
        assertEquals(TERMINATED, child.waitFor(), said);
        assertTrue(said.contains("receiving is interrupted, and what was received stays"), said);
    }

    /** Gets a signal when it waits for its input. */
    static final class Interrupted {
        private Interrupted() {}

        public static void main(String[] folders) {
            System.setIn(new InputStream() {
                @Override
                public int read() throws IOException {
                    new ProcessBuilder(
                                    "kill",
                                    String.valueOf(ProcessHandle.current().pid()))
                            .start();
                    try {
                        Thread.sleep(Long.MAX_VALUE);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return -1;
                }
            });
            var err = new PrintWriter(System.err, true, ISO_8859_1);
            var environment = new Environment(Map.of("SDFS_CONFIG_DIR", folders[0]), err, err);
            CommandRunner.run(new SdfsCli(environment), environment, "copy0", "receive");
        }
    }

    @Test
    void whatMakesNoSenseIsRefused() throws IOException {
        assertEquals(ExitCode.USAGE, receive(new byte[0], "--abort", "--answer"));
        assertEquals(ExitCode.FAILED, receive("no stream at all".getBytes(ISO_8859_1)));
        assertTrue(output.err().contains("the beginning of a stream"), output.err());
        assertEquals(ExitCode.FAILED, receive(new byte[0], "--abort"));
        assertTrue(output.err().contains("nothing is to be given up"), output.err());
    }
}
