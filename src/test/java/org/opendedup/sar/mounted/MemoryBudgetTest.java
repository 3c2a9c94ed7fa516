package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/**
 * Small budgets with many threads: every accepted configuration works, and others are refused with the budget that
 * suffices.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class MemoryBudgetTest {
    private static final int MIB = 1 << 20;
    private static final int FILES = 16;
    private static final int FILE_BYTES = 3 * MIB;

    @TempDir
    Path folder;

    private final ExecutorService users = Executors.newCachedThreadPool();

    @ParameterizedTest
    @CsvSource({"256MB, 32, 8", "1GB, 2, 36"})
    void whatAMountAcceptsItsMemoryIsEnoughFor(String budget, int writeThreads, int requestThreads) throws Exception {
        try (MountedVolume volume = make("v", budget, writeThreads)) {
            mount(volume, requestThreads, "");
            writeAll(volume, "f");
            volume.dropKernelCaches();
            Path out = folder.resolve("out");
            List<Future<?>> load = new ArrayList<>();
            load.add(start(() -> {
                String from = volume.mountPoint().resolve("f").toString();
                Commands.Result restored = volume.cli("restore", from, out.toString());
                assertEquals(0, restored.exitCode(), restored::output);
                return null;
            }));
            for (int i = 0; i < FILES; i++) {
                int number = i;
                load.add(start(() -> {
                    assertArrayEquals(content("f", number), Files.readAllBytes(file(volume, "f", number)));
                    return null;
                }));
            }
            writeAll(volume, "g");
            assertTrue(volume.figure("stats", "writtenBytes") > 0);
            for (Future<?> user : load) {
                user.get();
            }
            for (int i = 0; i < FILES; i++) {
                assertArrayEquals(content("f", i), Files.readAllBytes(out.resolve("f" + i)));
            }
            Commands.Result unmounted = volume.cli("unmount");
            assertEquals(0, unmounted.exitCode(), unmounted::output);
            awaitEnd(volume);
            assertEquals(List.of(), complaints(volume));
        } finally {
            users.shutdownNow();
        }
    }

    /** The control: the limit is close to the need. */
    @Test
    void halfOfTheMemoryOutsideTheHeapIsNotEnough() throws IOException {
        try (MountedVolume volume = make("half", "256MB", 2)) {
            mount(volume, 8, "");
            long limit = directLimit(volume);
            volume.unmount();
            Commands.Result half = tryMount(volume, 8, "-XX:MaxDirectMemorySize=" + limit / 2);
            assertNotEquals(0, half.exitCode(), half::output);
            String console = Files.readString(volume.log().resolveSibling(volume.name() + ".console"));
            assertTrue(console.contains("direct buffer memory"), console);
        }
    }

    @Test
    void aMountThatDoesNotFitIsRefusedWithTheLeastBudgetThatDoes() throws IOException {
        try (MountedVolume volume = make("small", "256MB", 2)) {
            Commands.Result refused = tryMount(volume, 64, "");
            assertEquals(64, refused.exitCode(), refused::output);
            String least = leastIn(refused.output());
            Commands.Result accepted = volume.script(
                    "mount.sdfs",
                    List.of(
                            "-o",
                            "threads=64,memory_budget=" + least,
                            volume.name(),
                            volume.mountPoint().toString()));
            assertEquals(0, accepted.exitCode(), accepted::output);
            volume.adopt();
            volume.unmount();
        }
    }

    @Test
    void aVolumeThatDoesNotFitIsNotMade() throws IOException {
        AssertionError refused = null;
        try (MountedVolume volume = make("refused", "256MB", 256)) {
            assertFalse(volume.isMounted());
        } catch (AssertionError e) {
            refused = e;
        }
        assertTrue(refused != null, "it was made");
        make("made", leastIn(String.valueOf(refused.getMessage())), 256).close();
    }

    private static String leastIn(String message) {
        Matcher matcher = Pattern.compile("too small for .*; at least (\\d+MB) are needed")
                .matcher(message);
        assertTrue(matcher.find(), message);
        return matcher.group(1);
    }

    private MountedVolume make(String name, String budget, int writeThreads) throws IOException {
        return MountedVolume.makeWith(
                        folder.resolve(name), "--memory-budget=" + budget, "--io-write-threads=" + writeThreads)
                .inItsOwnProcess();
    }

    private static void mount(MountedVolume volume, int requestThreads, String javaOptions) throws IOException {
        Commands.Result result = tryMount(volume, requestThreads, javaOptions);
        assertEquals(0, result.exitCode(), result::output);
        volume.adopt();
    }

    private static Commands.Result tryMount(MountedVolume volume, int requestThreads, String javaOptions)
            throws IOException {
        return Commands.run(
                Map.of("SDFS_CONFIG_DIR", volume.configFolder().toString(), "SDFS_JAVA_OPTS", javaOptions),
                Commands.words(
                        Commands.projectFolder().resolve("scripts/mount.sdfs"),
                        "-o",
                        "threads=" + requestThreads,
                        volume.name(),
                        volume.mountPoint()));
    }

    private static long directLimit(MountedVolume volume) throws IOException {
        String command = Files.readString(Path.of("/proc/" + volume.pid() + "/cmdline"));
        Matcher matcher = Pattern.compile("MaxDirectMemorySize=(\\d+)").matcher(command);
        assertTrue(matcher.find(), command);
        return Long.parseLong(matcher.group(1));
    }

    private Future<?> start(Callable<?> user) {
        return users.submit(user);
    }

    /** Writes all files of a kind at the same time, and makes them durable. */
    private void writeAll(MountedVolume volume, String kind) throws Exception {
        Files.createDirectory(volume.mountPoint().resolve(kind));
        List<Future<?>> writers = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            int number = i;
            writers.add(start(() -> {
                Bytes.writeAndSync(file(volume, kind, number), content(kind, number));
                return null;
            }));
        }
        for (Future<?> writer : writers) {
            writer.get();
        }
    }

    private static Path file(MountedVolume volume, String kind, int number) {
        return volume.mountPoint().resolve(kind).resolve("f" + number);
    }

    private static byte[] content(String kind, int number) {
        return Bytes.random(kind.hashCode() * 1000L + number, FILE_BYTES);
    }

    private static void awaitEnd(MountedVolume volume) throws Exception {
        ProcessHandle.of(volume.pid()).ifPresent(daemon -> daemon.onExit().join());
    }

    /** Warnings and errors in the log, and all other output of the daemon; not who mounted the volume. */
    private static List<String> complaints(MountedVolume volume) throws IOException {
        List<String> complaints = new ArrayList<>();
        for (Path file : Damage.files(volume.log().getParent(), "")) {
            if (file.toString().endsWith(".audit")) {
                continue;
            }
            Files.readAllLines(file).stream()
                    .filter(line -> !file.equals(volume.log()) || line.contains(" ERROR ") || line.contains(" WARN "))
                    // From the umask of the tests, in whose JVM the volume is made.
                    .filter(line -> !line.contains("other users had permissions"))
                    .forEach(complaints::add);
        }
        return complaints;
    }
}
