package org.opendedup.sar.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A folder for parsers that read files; removed when the JVM ends. For one thread: fuzzers run one input at a time. */
public final class FuzzFolder {
    private static final Path FOLDER = make();

    private FuzzFolder() {}

    /** Returns the folder after removing everything from it. */
    public static Path emptied() throws IOException {
        for (Path path : contents()) {
            Files.delete(path);
        }
        return FOLDER;
    }

    private static List<Path> contents() throws IOException {
        try (Stream<Path> paths = Files.walk(FOLDER)) {
            return paths.filter(path -> !path.equals(FOLDER))
                    .sorted(Comparator.reverseOrder())
                    .toList();
        }
    }

    private static Path make() {
        try {
            // In memory where possible: a fuzzer writes thousands of files a second. scripts/test has a folder there,
            // and removes it: it kills the JVMs of its tests.
            Path memory = Path.of(System.getProperty("sar.memory", "/dev/shm"));
            Path folder = Files.isWritable(memory)
                    ? Files.createTempDirectory(memory, "sar-fuzz")
                    : Files.createTempDirectory("sar-fuzz");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(folder)));
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void remove(Path folder) {
        try {
            emptied();
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
