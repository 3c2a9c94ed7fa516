package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.disks.Commands;

/**
 * The commands as installed by {@code scripts/install}, in a separate prefix and with the links in {@code /sbin} by
 * which mount(8) finds them. Closing it uninstalls. It never replaces another installation.
 */
final class Installation implements AutoCloseable {
    static final List<Path> HELPER_LINKS =
            List.of(Path.of("/sbin/mount.sdfs"), Path.of("/sbin/mount.fuse.sdfs"), Path.of("/sbin/umount.fuse.sdfs"));

    private final Path prefix;
    private final Path configFolder;

    /** Skips the test if it cannot run here. */
    Installation(Path folder) throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "needs /dev/fuse");
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount");
        for (Path link : HELPER_LINKS) {
            assumeFalse(
                    Files.exists(link, LinkOption.NOFOLLOW_LINKS),
                    link
                            + " is there already: the commands are installed on this machine, "
                            + "which this test leaves alone");
        }
        this.prefix = folder.resolve("prefix");
        this.configFolder = Files.createDirectories(folder.resolve("config"));
        Commands.Result result = install();
        assertEquals(0, result.exitCode(), result::output);
    }

    static Path projectFolder() {
        for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
            if (Files.exists(at.resolve("scripts/install"))) {
                return at;
            }
        }
        throw new AssertionError("no scripts/install above " + Path.of("").toAbsolutePath());
    }

    Path folder() {
        return prefix.resolve("lib/sdfs");
    }

    /** {@code scripts/install} with this prefix. */
    Commands.Result install(Object... options) throws IOException {
        List<Object> command =
                new ArrayList<>(List.of(projectFolder().resolve("scripts/install"), "--prefix=" + prefix));
        command.addAll(List.of(options));
        return Commands.run(command.toArray());
    }

    /** Runs an installed command, or any other, with the volumes of this installation. */
    Commands.Result run(Object... command) throws IOException {
        List<String> words = Commands.words(command);
        Path installed = prefix.resolve("bin").resolve(words.get(0));
        List<String> resolved = new ArrayList<>(words);
        if (Files.exists(installed)) {
            resolved.set(0, installed.toString());
        }
        return Commands.run(Map.of("SDFS_CONFIG_DIR", configFolder.toString()), resolved);
    }

    String succeed(Object... command) throws IOException {
        Commands.Result result = run(command);
        assertEquals(
                0, result.exitCode(), () -> String.join(" ", Commands.words(command)) + " said " + result.output());
        return result.output();
    }

    void makeVolume(String name, Path base) throws IOException {
        succeed(
                "mkfs.sdfs",
                "--volume-name=" + name,
                "--volume-capacity=10GB",
                "--base-path=" + base,
                "--memory-budget=256MB");
    }

    ProcessHandle daemon(String volume) throws IOException {
        String info = succeed("sdfscli", volume, "info", "--json");
        Matcher pid = Pattern.compile("\"pid\" : (\\d+)").matcher(info);
        return pid.results()
                .findFirst()
                .flatMap(match -> ProcessHandle.of(Long.parseLong(match.group(1))))
                .orElseThrow(() -> new AssertionError(volume + " is not mounted: " + info));
    }

    @Override
    public void close() throws IOException {
        Commands.Result result = install("--uninstall");
        assertEquals(0, result.exitCode(), result::output);
    }
}
