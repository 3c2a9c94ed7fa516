package org.opendedup.sar.sdfs.cli.mounts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.io.handle.MountTable.Entry;
import org.opendedup.sar.sdfs.cli.command.CallingUser;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.keys.SecretSource;

/** What a killed daemon leaves: a mount that answers "Transport endpoint is not connected" until it is unmounted. */
public final class DeadMount {
    /** File system type of our mounts, as in the mount table. */
    static final String TYPE = "fuse.sdfs";

    private DeadMount() {}

    /** Returns whether this program made the mount, dead or alive. */
    public static boolean isOurs(Entry mount) {
        return mount.type().equals(TYPE);
    }

    public static boolean isDead(Entry mount) {
        return isOurs(mount) && !answers(Path.of(mount.mountPoint()));
    }

    /** Asks for the free space, which the kernel never caches, unlike attributes. */
    private static boolean answers(Path mountPoint) {
        try {
            Files.getFileStore(mountPoint).getTotalSpace();
            return true;
        } catch (AccessDeniedException e) {
            // It is another user's mount.
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Removes a dead mount, also while programs still have files open in it: they get errors as before.
     *
     * @throws CommandFailedException if that fails, for example because another user mounted it
     */
    static void clear(Entry mount) throws IOException, CommandFailedException {
        List<String> command = CallingUser.isRoot()
                ? List.of("umount", "-l", "--", mount.mountPoint())
                : List.of("fusermount3", "-u", "-z", "--", mount.mountPoint());
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        SecretSource.withoutSecrets(builder);
        Process process = builder.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.onExit().join().exitValue() != 0) {
            throw new CommandFailedException("the daemon of what was mounted on " + mount.mountPoint()
                    + " is dead, and the mount cannot be removed: " + said);
        }
    }
}
