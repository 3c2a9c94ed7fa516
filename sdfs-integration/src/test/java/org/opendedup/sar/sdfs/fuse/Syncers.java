package org.opendedup.sar.sdfs.fuse;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Programs that sync a file each, all at once. Closing ends them. */
public record Syncers(Process process) implements AutoCloseable {
    /** What the programs say themselves, in pieces, would get between the lines that are counted. */
    private static final String SHELL = "pids=(); for i in $(seq $0); do : > f$i; done; for i in $(seq $0); do "
            + "sync f$i 2>/dev/null & pids+=($!); done;"
            + " for p in ${pids[@]}; do wait $p || echo failed; done";

    public static Syncers start(Path folder, int count) throws IOException {
        return new Syncers(new ProcessBuilder("timeout", "100", "bash", "-c", SHELL, "" + count)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start());
    }

    /** Waits for their end; how many failed. */
    public int failures() throws IOException, InterruptedException {
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(100, TimeUnit.SECONDS));
        return (int) said.lines().filter("failed"::equals).count();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
