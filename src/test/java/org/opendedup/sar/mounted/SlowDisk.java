package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.disks.Commands;

/**
 * A disk that fails or stalls on command ({@code scripts/slow-disk}), otherwise as fast as an SSD, without read-ahead.
 */
final class SlowDisk implements AutoCloseable {
    private static final Path SCRIPT = Commands.projectFolder().resolve("scripts/slow-disk");

    private final Path mountPoint;

    SlowDisk(Path folder) throws IOException {
        this(folder, "yes");
    }

    /** A disk whose file system accepts writes after a failed one: it has no journal. */
    static SlowDisk withoutJournal(Path folder) throws IOException {
        return new SlowDisk(folder, "no");
    }

    private SlowDisk(Path folder, String journal) throws IOException {
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount a loop device");
        mountPoint = folder.resolve("disk");
        Commands.Result up = Commands.run(
                SCRIPT, "up", mountPoint, "--size", "256M", "--rate", "0", "--read-ahead", "0", "--journal", journal);
        assertEquals(0, up.exitCode(), up::output);
    }

    Path folder() {
        return mountPoint;
    }

    /** Returns the command that gives an order, for a shell; see {@link #order}. */
    String command(String order) {
        return SCRIPT + " control " + mountPoint + " '" + order + "'";
    }

    /** {@code error on|reads|writes|off} or {@code delay_ms N}. */
    void order(String order) throws IOException {
        Commands.succeed(SCRIPT, "control", mountPoint, order);
    }

    /** Ends the program that simulates the disk: the block device then has no disk. */
    void pull() throws IOException {
        Path program = program();
        List<ProcessHandle> found = ProcessHandle.allProcesses()
                .filter(process -> process.info()
                        .command()
                        .map(Path::of)
                        .filter(program::equals)
                        .isPresent())
                .toList();
        assertEquals(1, found.size(), () -> program + " runs as " + found);
        found.get(0).destroyForcibly();
    }

    private Path program() {
        return mountPoint.resolveSibling(mountPoint.getFileName() + ".disk").resolve("program");
    }

    /** Removes it from the programs that use it; their open files stay open. */
    void unmountLazily() throws IOException {
        Commands.succeed("umount", "-l", mountPoint);
    }

    @Override
    public void close() throws IOException {
        Commands.Result down = Commands.run(SCRIPT, "down", mountPoint);
        assertEquals(0, down.exitCode(), down::output);
        Files.deleteIfExists(mountPoint);
    }
}
