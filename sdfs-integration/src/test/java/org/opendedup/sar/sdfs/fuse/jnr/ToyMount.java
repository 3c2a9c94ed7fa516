package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.MountOptions;

/** A toy mounted by libfuse 2 under a folder of its own. Closing it leaves no mount behind, whatever happened. */
final class ToyMount implements AutoCloseable {
    private static final int LIMIT_SECONDS = 60;

    final Path root;
    final FuseMount mount;

    ToyMount(FuseOperations operations, String options) throws IOException {
        Assumptions.assumeTrue(Files.isWritable(Path.of("/dev/fuse")), "skipped: /dev/fuse cannot be opened here");
        root = Files.createTempDirectory("sdfs-jnr-").toRealPath();
        mount = new JnrBinding()
                .mount(operations, MountOptions.of(root, "toy").withThreads(4).with(options));
    }

    /** Runs a bash command in a folder. @return what it printed, after its status if that is not 0 */
    static String shell(Path folder, String command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("timeout", "" + LIMIT_SECONDS, "bash", "-c", command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        return status == 0 ? output.strip() : "status " + status + ": " + output.strip();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        try {
            mount.close();
        } finally {
            remove(root);
        }
    }

    static void remove(Path mountPoint) throws IOException, InterruptedException {
        new ProcessBuilder("umount", "-l", mountPoint.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        Files.delete(mountPoint);
    }
}
