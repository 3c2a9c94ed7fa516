package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.sdfs.cli.MountTable.Entry;

/** What a killed daemon leaves: a mount that answers "Transport endpoint is not connected" until it is unmounted. */
final class DeadMount {
    /** The type of our mounts. */
    private static final String TYPE = "fuse.sdfs";

    private DeadMount() {}

    /** Whether it is one that this program made, dead or alive. */
    static boolean isOurs(Entry mount) {
        return mount.type().equals(TYPE);
    }

    static boolean isDead(Entry mount) {
        return isOurs(mount) && !answers(Path.of(mount.mountPoint()));
    }

    /** Attributes the kernel may still have, so the free space is asked for, which it never keeps. */
    private static boolean answers(Path mountPoint) {
        try {
            Files.getFileStore(mountPoint).getTotalSpace();
            return true;
        } catch (AccessDeniedException e) {
            // Another user's mount.
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Takes a dead mount away, also from under programs that still have files open in it: they get errors as before.
     *
     * @throws CommandFailedException if that fails, say because another user mounted it
     */
    static void clear(Entry mount) throws IOException, CommandFailedException {
        List<String> command = CallingUser.isRoot()
                ? List.of("umount", "-l", "--", mount.mountPoint())
                : List.of("fusermount3", "-u", "-z", "--", mount.mountPoint());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.onExit().join().exitValue() != 0) {
            throw new CommandFailedException("the daemon of what was mounted on " + mount.mountPoint()
                    + " is dead, and the mount cannot be cleared away: " + said);
        }
    }
}
