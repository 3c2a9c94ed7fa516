package org.opendedup.sar.sdfs.wear;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Asks devices by smartctl (package smartmontools). A process that waits for a device that hangs cannot be ended; as
 * long as one is left, no other is started. For use by one thread.
 */
final class Smartctl {
    /** A device that hangs must not hold up anything else. */
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final Starter starter;
    private final Duration limit;
    private @Nullable Process left;

    /** Starts smartctl. */
    @FunctionalInterface
    interface Starter {
        /** @param output file for what it prints */
        Process start(String device, Path output) throws IOException;
    }

    Smartctl() {
        this(Smartctl::start, LIMIT);
    }

    Smartctl(Starter starter, Duration limit) {
        this.starter = starter;
        this.limit = limit;
    }

    private static Process start(String device, Path output) throws IOException {
        try {
            return new ProcessBuilder("smartctl", "--json=c", "--attributes", "/dev/" + device)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
        } catch (IOException e) {
            throw new IOException("smartctl is not installed (package smartmontools)", e);
        }
    }

    /** See {@link DeviceWear.Asker#ask}. */
    String ask(String device) throws IOException {
        Process before = left;
        if (before != null && before.isAlive()) {
            throw new IOException(
                    "process " + before.pid() + ", an earlier smartctl, has not ended; does its device hang?");
        }
        Path output = Files.createTempFile("sdfs-smartctl", ".json");
        try {
            Process process = starter.start(device, output);
            left = process;
            try {
                if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new IOException(
                            "smartctl did not end within " + limit.toSeconds() + " s; does " + device + " hang?");
                }
            } finally {
                process.destroyForcibly();
            }
            return Files.readString(output);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while smartctl asks " + device, e);
        } finally {
            Files.deleteIfExists(output);
        }
    }
}
