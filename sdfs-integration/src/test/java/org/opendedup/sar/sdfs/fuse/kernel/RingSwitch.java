package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Makes the kernel offer FUSE over io_uring, which is a setting of the whole machine. Closing it puts the setting back,
 * and so does the end of this JVM.
 */
final class RingSwitch implements AutoCloseable {
    private static final Path SWITCH = Path.of("/sys/module/fuse/parameters/enable_uring");

    private final String before;
    private final Thread atExit = new Thread(this::restore);

    private RingSwitch(String before) {
        this.before = before;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** Turns it on. Skips the test where the kernel or this user cannot. */
    static RingSwitch on() throws IOException {
        assumeTrue(Files.isWritable(SWITCH), "skipped: " + SWITCH + " cannot be written (Linux 6.14, root)");
        RingSwitch made = new RingSwitch(Files.readString(SWITCH).strip());
        try {
            Files.writeString(SWITCH, "Y");
        } catch (IOException e) {
            made.close();
            assumeTrue(false, "skipped: " + SWITCH + ": " + e);
        }
        return made;
    }

    private void restore() {
        try {
            Files.writeString(SWITCH, before);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        restore();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }
}
