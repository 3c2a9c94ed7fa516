package org.opendedup.sar.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A process that has a file mapped, and not open: the mapping outlived the descriptor. */
public final class OutlivingMapping implements AutoCloseable {
    private static final String MAPS = """
            import mmap, os, sys
            mode, access = ("r+b", mmap.ACCESS_WRITE) if sys.argv[2] == "true" else ("rb", mmap.ACCESS_READ)
            with open(sys.argv[1], mode) as file:
                mapped = mmap.mmap(file.fileno(), 0, access=access)
            os.closerange(3, 64) # the module keeps a descriptor of its own
            print("mapped", flush=True)
            sys.stdin.read()
            """;

    private final Process process;

    private OutlivingMapping(Process process) {
        this.process = process;
    }

    public static OutlivingMapping of(Path file, boolean isWritable) throws IOException {
        OutlivingMapping made =
                new OutlivingMapping(new ProcessBuilder("python3", "-c", MAPS, file.toString(), "" + isWritable)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start());
        assertEquals("mapped", made.process.inputReader().readLine());
        return made;
    }

    @Override
    public void close() throws Exception {
        process.getOutputStream().close();
        assertEquals(true, process.waitFor(1, TimeUnit.MINUTES));
    }
}
