package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.TestSeed;

/** What tests of a mount do from outside of it. */
public final class Shell {
    private static final int LIMIT_SECONDS = 60;

    private Shell() {}

    /** Runs a bash command in a folder. @return what it printed, after its status if that is not 0 */
    public static String run(Path folder, String command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("timeout", "" + LIMIT_SECONDS, "bash", "-c", command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        return status == 0 ? output.strip() : "status " + status + ": " + output.strip();
    }

    /** Takes away a mount point and what is left mounted there, if anything is. */
    public static void removeMountPoint(Path mountPoint) throws IOException, InterruptedException {
        new ProcessBuilder("umount", "-l", mountPoint.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        Files.delete(mountPoint);
    }

    /** Bytes from a seed that is printed, and taken back from the system property {@code sar.seed}. */
    public static byte[] randomBytes(int count) {
        long seed = TestSeed.next();
        byte[] bytes = new byte[count];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
