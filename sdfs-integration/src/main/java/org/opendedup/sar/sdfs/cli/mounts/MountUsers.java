package org.opendedup.sar.sdfs.cli.mounts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.io.handle.MountTable.Entry;

/**
 * Finds the processes that keep a mount busy, by {@code /proc} (see proc(5)): those that have its files open or mapped,
 * and those whose working or root folder is in it. Of a mount that was detached, also one process of each mount
 * namespace that still has the file system: a namespace that is made while it is mounted, as by a container, gets a
 * mount of its own. Only root sees the processes of other users.
 */
public final class MountUsers {
    /** Processes that are listed, at most; more would fill the screen. */
    private static final int LISTED_MAX = 10;

    private static final Path PROC = Path.of("/proc");

    private final Entry mount;
    private final BooleanSupplier enough;
    /** Mount namespaces that need no further look. */
    private final Set<Path> seen = new HashSet<>();
    /** Whether it is no mount of this process any more: only then other namespaces matter. */
    private final boolean detached;

    private MountUsers(Entry mount, BooleanSupplier enough) throws IOException {
        this.mount = mount;
        this.enough = enough;
        detached = !MountTable.read().contains(mount);
    }

    /**
     * Returns some of the processes, each as {@code 4711 (bash)}. On a busy machine with many processes this takes
     * seconds.
     *
     * @param enough whether nobody wants to know it any more; then returns what it has found
     */
    public static List<String> of(Entry mount, BooleanSupplier enough) throws IOException {
        var users = new ArrayList<String>();
        var search = new MountUsers(mount, enough);
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : processes) {
                if (users.size() == LISTED_MAX || enough.getAsBoolean()) {
                    break;
                }
                if (search.isUsedBy(process)) {
                    users.add(process.getFileName() + name(process));
                }
            }
        }
        return users;
    }

    /** Returns the process's name, which may not be text; empty if the process has just ended. */
    private static String name(Path process) {
        try {
            byte[] name = Files.readAllBytes(process.resolve("comm"));
            return " (" + Printable.line(new String(name, StandardCharsets.UTF_8).stripTrailing()) + ")";
        } catch (IOException e) {
            return "";
        }
    }

    /** Reads a file of /proc, whose names may not be text. */
    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    }

    /** Returns whether a process uses the mount; false also if it has ended or this user may not examine it. */
    private boolean isUsedBy(Path process) {
        try {
            return worksIn(process.resolve("cwd"))
                    || worksIn(process.resolve("root"))
                    || hasOpen(process.resolve("fdinfo")) && !isOfAnother(process)
                    || hasMapped(process.resolve("maps"))
                    || keepsInNamespace(process);
        } catch (IOException e) {
            return false;
        }
    }

    private boolean worksIn(Path link) throws IOException {
        return Files.readSymbolicLink(link).startsWith(mount.mountPoint());
    }

    private boolean hasOpen(Path descriptors) throws IOException {
        String wanted = "mnt_id:\t" + mount.id();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(descriptors)) {
            for (Path file : files) {
                if (enough.getAsBoolean()) {
                    return false;
                }
                if (read(file).lines().anyMatch(wanted::equals)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Returns whether another mount has the number by now: the kernel gives that of a mount that is gone to the next.
     */
    private boolean isOfAnother(Path process) throws IOException {
        return tableOf(process)
                .withId(mount.id())
                .filter(present -> !present.device().equals(mount.device()))
                .isPresent();
    }

    private static MountTable tableOf(Path process) throws IOException {
        return MountTable.of(Files.readAllBytes(process.resolve("mountinfo")));
    }

    private boolean keepsInNamespace(Path process) throws IOException {
        Path namespace = Files.readSymbolicLink(process.resolve("ns/mnt"));
        if (!detached || seen.contains(namespace)) {
            return false;
        }
        boolean keeps = tableOf(process).hasDevice(mount.device());
        if (keeps) {
            seen.add(namespace);
        }
        return keeps;
    }

    private boolean hasMapped(Path maps) throws IOException {
        String[] numbers = mount.device().split(":");
        String device = String.format(" %02x:%02x ", Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
        return read(maps).contains(device);
    }
}
