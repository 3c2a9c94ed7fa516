package org.opendedup.sar.disks;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** An empty file system of any type, mounted for one check. */
public final class ScratchMount {
    public interface Check {
        void in(Path place) throws IOException;
    }

    private ScratchMount() {}

    /** @param folder an existing folder, in which the file system is mounted */
    public static void tmpfs(Path folder, long bytes, Check check) throws IOException {
        check(folder, List.of("-t", "tmpfs", "-o", "size=" + bytes, "tmpfs"), check);
    }

    /**
     * Makes a file system in a file and mounts it.
     *
     * @param mkfs command that makes it; if it is missing, the test is skipped
     * @param options options of mount(8); {@code loop} is one of them
     */
    public static void image(Path folder, String mkfs, long bytes, String options, Check check) throws IOException {
        assumeTrue(Commands.run("sh", "-c", "command -v " + mkfs).exitCode() == 0, () -> "needs " + mkfs);
        Path image = folder.resolve("image");
        Commands.succeed("truncate", "-s", bytes, image);
        Commands.succeed(mkfs, "-q", image);
        check(folder, List.of("-o", options, image.toString()), check);
    }

    /** Returns the free bytes of a file system, after all that was written to it is on its disk. */
    static long usable(Path place) throws IOException {
        Commands.succeed("sync", "-f", place);
        return Files.getFileStore(place).getUsableSpace();
    }

    private static void check(Path folder, List<String> arguments, Check check) throws IOException {
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount");
        Path place = Files.createDirectory(folder.resolve("place"));
        Object[] command = Stream.of(List.of("mount"), arguments, List.of(place.toString()))
                .flatMap(List::stream)
                .toArray();
        Commands.Result mounted = Commands.run(command);
        assumeTrue(mounted.exitCode() == 0, () -> "cannot be mounted here: " + mounted.output());
        try {
            check.in(place);
        } finally {
            Commands.run("umount", "-l", place);
        }
    }
}
