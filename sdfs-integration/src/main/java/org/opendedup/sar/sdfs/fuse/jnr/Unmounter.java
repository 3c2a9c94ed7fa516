package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Unmounts by running a program: {@code umount} for root; {@code fusermount} for other users, which libfuse 2 also uses
 * to mount.
 */
final class Unmounter {
    private final Path mountPoint;
    private final boolean root;

    Unmounter(Path mountPoint, boolean root) {
        this.mountPoint = mountPoint;
        this.root = root;
    }

    /** @return false if programs use the file system; it then stays mounted */
    boolean unmount() throws IOException {
        String failure = run(root ? List.of("umount", "-i") : List.of("fusermount", "-u"));
        if (failure.toLowerCase(Locale.ROOT).contains("busy")) {
            return false;
        }
        // Another process has already unmounted it.
        if (!failure.isEmpty() && !failure.contains("not mounted") && !failure.contains("not found in")) {
            throw new IOException("unmounting " + mountPoint + ": " + failure);
        }
        return true;
    }

    /** Makes the kernel write back its cache, then detaches the file system from the programs that use it. */
    void detach() throws IOException {
        String failure = run(List.of("sync", "-f"));
        if (failure.isEmpty()) {
            failure = run(root ? List.of("umount", "-i", "-f", "-l") : List.of("fusermount", "-u", "-z"));
        }
        if (!failure.isEmpty()) {
            throw new IOException("detaching " + mountPoint + ": " + failure);
        }
    }

    /** @return output of the program if it failed; empty if it succeeded */
    private String run(List<String> command) throws IOException {
        List<String> words = new ArrayList<>(command);
        words.add("--");
        words.add(mountPoint.toString());
        ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        try {
            int status = process.waitFor();
            return status == 0 ? "" : output.isEmpty() ? words.get(0) + " ended with status " + status : output;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for " + words.get(0), e);
        }
    }
}
